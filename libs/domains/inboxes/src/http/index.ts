import { Module } from '@nestjs/common';
import { InboxesModule } from '../inboxes.module';
import { MessagesModule } from '../messages/messages.module';
import { ChannelsController } from './channels.controller';
import { InboxTopics } from './inbox-topics';
import { InboxesController } from './inboxes.controller';
import { MessagesController } from './messages.controller';
import { InboxRevisionsController } from './revisions.controller';

export { DoorsModule } from './doors.module';
export { MAX_WEBHOOK } from './hooks.controller';

@Module({
  imports: [InboxesModule, MessagesModule],
  providers: [InboxTopics],
  controllers: [InboxesController, ChannelsController, InboxRevisionsController, MessagesController],
})
export class InboxesHttpModule {}
