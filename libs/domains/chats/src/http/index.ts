import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { RealtimeStreamModule } from '@aps/platform/realtime';
import { ChatsController } from './chats.controller';

@Module({ imports: [ChatsModule, IdempotencyModule, RealtimeStreamModule], controllers: [ChatsController] })
export class ChatsHttpModule {}
