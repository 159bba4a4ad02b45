import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { ChannelsQueries } from './channels/channels.queries';
import { ChannelsService } from './channels/channels.service';
import { FilesModule } from '@aps/files';
import { Handlers } from './handlers';
import { MessageFileReader } from './intake/message-files.queries';
import { InboxesQueries } from './inboxes.queries';
import { InboxesService } from './inboxes.service';
import { Simulations } from './messages/simulations';
import { EvaluationsModule } from './pipeline/pipeline.module';
import { RevisionsService } from './rules/revisions.service';

const exported = [ChannelsService, ChannelsQueries, Handlers, InboxesQueries, InboxesService, RevisionsService, Simulations];

/** Inboxes as their organization sees them. */
@Module({ imports: [AgentsModule, EvaluationsModule, FilesModule], providers: [...exported, MessageFileReader], exports: exported })
export class InboxesModule {}
