import { Module } from '@nestjs/common';
import { ChatsModule } from '../chats.module';
import { PresenceQueries } from './presence.queries';
import { PresenceService } from './presence.service';
import { PresenceStore } from './presence.store';

/** Who has which chat open, for processes that serve streams. */
@Module({ imports: [ChatsModule], providers: [PresenceService, PresenceStore, PresenceQueries], exports: [PresenceService] })
export class PresenceModule {}
