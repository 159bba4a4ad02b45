import { Module } from '@nestjs/common';
import { ChatsModule } from '../chats.module';
import { PresenceModule } from '../presence/presence.module';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { RealtimeStreamModule } from '@aps/platform/realtime';
import { ChatControlController } from './chat-control.controller';
import { ChatPresenceController } from './chat-presence.controller';
import { ChatsController } from './chats.controller';
import { CostController } from './cost.controller';
import { EventStreams } from './event-streams';
import { EventsController, TicketsController } from './events.controller';
import { HitlController } from './hitl.controller';
import { TimelineController } from './timeline.controller';
import { TogglesController } from './toggles.controller';
import { OrgTopics } from './org-topics';
import { ChatTopics } from './topic-sources';

@Module({
  imports: [ChatsModule, PresenceModule, IdempotencyModule, RealtimeStreamModule],
  providers: [EventStreams, ChatTopics, OrgTopics],
  controllers: [
    ChatsController,
    ChatControlController,
    TimelineController,
    CostController,
    TogglesController,
    HitlController,
    ChatPresenceController,
    EventsController,
    TicketsController,
  ],
})
export class ChatsHttpModule {}
