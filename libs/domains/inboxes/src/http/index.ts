import { Module } from '@nestjs/common';
import { memberTopics, TopicSources } from '@aps/guards';
import { InboxesModule } from '../inboxes.module';
import { InboxesQueries } from '../inboxes.queries';
import { MessagesModule } from '../messages/messages.module';
import { ChannelsController } from './channels.controller';
import { InboxesController } from './inboxes.controller';
import { MessagesController } from './messages.controller';
import { InboxRevisionsController } from './revisions.controller';

export { DoorsModule } from './doors.module';
export { MAX_WEBHOOK_BYTES } from './hooks.controller';

@Module({
  imports: [InboxesModule, MessagesModule],
  controllers: [InboxesController, ChannelsController, InboxRevisionsController, MessagesController],
})
export class InboxesHttpModule {
  /** Inboxes as topics: `inbox:{id}`. */
  constructor(sources: TopicSources, inboxes: InboxesQueries) {
    const states = (ids: string[]) => inboxes.states(ids);
    sources.register(memberTopics('inbox', 'inboxes', states, ({ id, status }) => ({ inbox_id: id, status })));
  }
}
