import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { MailModule } from '@aps/platform/mail';
import { DefinitionsModule } from '@aps/processes';
import { ToolsModule } from '@aps/tools';
import { EvaluationsModule } from '../pipeline/pipeline.module';
import { RepliesRepository } from './replies.repository';
import { RepliesService } from './replies.service';
import { ReplyListener } from './reply-listener';
import { ReplyToSenderTool } from './reply-to-sender.tool';

/** The mails that answer messages. */
@Module({
  imports: [EvaluationsModule, MailModule],
  providers: [RepliesRepository, RepliesService],
  exports: [RepliesRepository, RepliesService],
})
export class RepliesModule {}

/** What agents and steps of processes mail by; for applications that run turns or processes, or tell what tools there are. */
@Module({ imports: [ChatsModule, DefinitionsModule, RepliesModule, ToolsModule], providers: [ReplyListener, ReplyToSenderTool] })
export class AnsweringModule {}
