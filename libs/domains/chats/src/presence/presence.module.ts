import { Module } from '@nestjs/common';
import { ChatsModule } from '../chats.module';
import { PresenceQueries } from './presence.queries';
import { PresenceService } from './presence.service';
import { PresenceRoster } from './roster';

/** Who has which chat open, for processes that serve streams. */
@Module({ imports: [ChatsModule], providers: [PresenceService, PresenceRoster, PresenceQueries], exports: [PresenceService] })
export class PresenceModule {}
