import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { ChannelsQueries } from './channels/channels.queries';
import { ChannelsService } from './channels/channels.service';
import { FilesModule } from '@aps/files';
import { InferenceModule, ModelUsers } from '@aps/inference';
import { Handlers } from './handlers';
import { MessageFileReader } from './intake/message-files.queries';
import { InboxesQueries } from './inboxes.queries';
import { InboxesService } from './inboxes.service';
import { Simulations } from './messages/simulations';
import { EvaluationsModule } from './pipeline/pipeline.module';
import { DefinitionsModule } from '@aps/processes';
import { RevisionsService } from './rules/revisions.service';
import { INBOX_MODELS } from './rules/rule-set-models.queries';

const exported = [ChannelsService, ChannelsQueries, Handlers, InboxesQueries, InboxesService, RevisionsService, Simulations];

/** Tells who decides about models which inboxes have them classify messages; all of inboxes that an application of operators needs. */
@Module({ imports: [InferenceModule] })
export class InboxModelsModule {
  constructor(users: ModelUsers) {
    users.register(INBOX_MODELS);
  }
}

/** Inboxes as their organization sees them. */
@Module({
  imports: [AgentsModule, DefinitionsModule, EvaluationsModule, FilesModule, InboxModelsModule],
  providers: [...exported, MessageFileReader],
  exports: exported,
})
export class InboxesModule {}
