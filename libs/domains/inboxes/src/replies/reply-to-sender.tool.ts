import { Injectable } from '@nestjs/common';
import { storable, type Tx } from '@aps/platform/database';
import { defineTool, ToolCatalog, type ToolContext, type ToolOutcome } from '@aps/tools';
import { z } from 'zod';
import { RepliesRepository } from './replies.repository';
import { RepliesService } from './replies.service';

const parameters = z.object({ text: z.string().min(1).max(100_000).describe('What the mail says, as plain text') });

/** The tool by which an agent mails an answer, in chats that an inbox has begun. */
@Injectable()
export class ReplyToSenderTool {
  constructor(
    catalog: ToolCatalog,
    private readonly repository: RepliesRepository,
    private readonly replies: RepliesService,
  ) {
    catalog.register(
      defineTool({
        slug: 'reply_to_sender',
        name: 'reply_to_sender',
        description: 'Mails an answer to who wrote the mail that this turn is about. Each call is a mail of its own.',
        scope: 'core',
        accessLevel: 'write',
        parameters,
        availableTo: ({ origin }) => origin.kind === 'inbox',
        run: (tx, args, context) => this.run(tx, args, context),
      }),
    );
  }

  private async run(tx: Tx, args: z.infer<typeof parameters>, { chatId, turnId, toolCallId }: ToolContext): Promise<ToolOutcome> {
    const refuse = (content: string): ToolOutcome => ({ kind: 'result', content, isError: true });
    const message = await this.repository.answeredBy(tx, turnId);
    if (!message) return refuse('This turn is not about a mail; there is nobody to answer.');
    if (message.settings.reply !== 'tool') return refuse('Its inbox does not let agents mail answers by this tool.');
    const text = storable(args.text).trim();
    if (text === '') return refuse('text: say something.');
    const armed = await this.replies.arm(tx, message, { chat_id: chatId, turn_id: turnId, call_key: toolCallId, text });
    if ('suppressed' in armed) return refuse(`The mail is not sent: ${armed.suppressed}.`);
    return { kind: 'result', content: JSON.stringify({ status: 'armed', due_at: armed.due_at.toISOString() }) };
  }
}
