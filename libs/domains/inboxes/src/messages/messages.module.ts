import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { ProcessesModule } from '@aps/processes';
import { InboxesModule } from '../inboxes.module';
import { EvaluationsModule } from '../pipeline/pipeline.module';
import { RepliesModule } from '../replies/replies.module';
import { MessageDiagnoses } from './diagnosis.queries';
import { MessageActions } from './message-actions.service';
import { MessagesQueries } from './messages.queries';
import { MessagesRepository } from './messages.repository';

const exported = [MessagesQueries, MessageDiagnoses, MessageActions];

/** What came to inboxes, and what people do with it. */
@Module({
  imports: [ChatsModule, EvaluationsModule, InboxesModule, RepliesModule, ProcessesModule],
  providers: [...exported, MessagesRepository],
  exports: exported,
})
export class MessagesModule {}
