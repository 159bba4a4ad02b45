import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { RealtimeStreamModule } from '@aps/platform/realtime';
import { ChatReaders } from './chat-readers';
import { ChatsController } from './chats.controller';

@Module({ imports: [ChatsModule, IdempotencyModule, RealtimeStreamModule], providers: [ChatReaders], controllers: [ChatsController] })
export class ChatsHttpModule {}
