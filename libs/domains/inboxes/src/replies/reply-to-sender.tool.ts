import { Injectable } from '@nestjs/common';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { StepTools, type StepToolContext, type StepToolResult } from '@aps/processes';
import { defineTool, ToolCatalog, toolError, toolResult, type ToolContext, type ToolOutcome } from '@aps/tools';
import { z } from 'zod';
import { RepliesRepository } from './replies.repository';
import { RepliesService } from './replies.service';

const SLUG = 'reply_to_sender';
const MAX_TEXT = 100_000;
const parameters = z.object({ text: z.string().min(1).max(MAX_TEXT).describe('What the mail says, as plain text') });

/** The tool by which an agent mails an answer, in chats that an inbox has begun, and steps of processes do in runs that one has. */
@Injectable()
export class ReplyToSenderTool {
  constructor(
    catalog: ToolCatalog,
    steps: StepTools,
    private readonly db: Database,
    private readonly repository: RepliesRepository,
    private readonly replies: RepliesService,
  ) {
    catalog.register(
      defineTool({
        slug: SLUG,
        name: SLUG,
        description:
          'Mails an answer to who wrote the mail that this turn is about, or else the newest mail of this chat. Each call is a mail of its own.',
        scope: 'core',
        accessLevel: 'write',
        parameters,
        availableTo: ({ origin }) => origin.kind === 'inbox',
        run: (tx, args, context) => this.run(tx, args, context),
      }),
    );
    steps.register({
      slug: SLUG,
      accessLevel: 'write',
      idempotent: true,
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string', minLength: 1, maxLength: MAX_TEXT } },
        required: ['text'],
        additionalProperties: false,
      },
      connectionId: null,
      call: (args, context) => this.callByStep(args as z.infer<typeof parameters>, context),
    });
  }

  private async run(tx: Tx, { text }: z.infer<typeof parameters>, { chatId, turnId, toolCallId }: ToolContext): Promise<ToolOutcome> {
    const message = (await this.repository.answeredBy(tx, turnId)) ?? (await this.repository.newestOfChat(tx, chatId));
    const said = await this.replies.armByTool(tx, message, { chat_id: chatId, source_id: turnId, call_key: toolCallId, text });
    if ('refused' in said) return toolError(said.refused);
    return toolResult(said);
  }

  private callByStep({ text }: z.infer<typeof parameters>, { runId, idempotencyKey }: StepToolContext): Promise<StepToolResult> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const message = await this.repository.answeredByRun(tx, runId);
      const said = await this.replies.armByTool(tx, message, { chat_id: null, source_id: runId, call_key: idempotencyKey, text });
      return 'refused' in said ? { rejected: said.refused, mendable: said.mendable } : { output: said };
    });
  }
}
