import { Injectable, Module } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { Runs } from '@aps/platform/runs';
import { MessageKind } from '../pipeline/message.kind';
import { PipelineModule } from '../pipeline/pipeline.module';
import { RepliesModule } from '../replies/replies.module';
import { RepliesService } from '../replies/replies.service';

@Injectable()
export class MessageProcessor {
  constructor(
    private readonly runs: Runs,
    private readonly messages: MessageKind,
  ) {}

  @JobHandler('inbox.evaluate', { ownsRow: true })
  evaluate(payload: JobPayload<'inbox.evaluate'>, context: JobContext): Promise<void> {
    return this.runs.run(this.messages, payload, context);
  }
}

@Injectable()
export class ReplyProcessor {
  constructor(private readonly replies: RepliesService) {}

  // Never given up: a reply that is armed would stay that.
  @JobHandler('inbox.reply', { ownsRow: true })
  send({ reply_id }: JobPayload<'inbox.reply'>): Promise<void> {
    return this.replies.send(reply_id);
  }
}

@Module({ imports: [PipelineModule, RepliesModule], providers: [MessageProcessor, ReplyProcessor] })
export class InboxesJobsModule {}
