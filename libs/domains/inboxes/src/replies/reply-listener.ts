import { Injectable } from '@nestjs/common';
import { ChatEnds, ChatsQueries, type ChatEnd, type EndListener } from '@aps/chats';
import { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { RepliesRepository, type AnsweredMessage } from './replies.repository';
import { RepliesService } from './replies.service';

/** Arms a reply with the last words of a turn that answers a mail, where its inbox wants that. */
@Injectable()
export class ReplyListener implements EndListener {
  readonly origins = ['inbox'] as const;

  constructor(
    ends: ChatEnds,
    private readonly chats: ChatsQueries,
    private readonly repository: RepliesRepository,
    private readonly replies: RepliesService,
  ) {
    ends.register(this);
  }

  async onChatEnded(tx: Tx, chat: { id: string }, how: ChatEnd, turnId: string | null): Promise<void> {
    if (how !== 'done' || turnId === null) return;
    const message = await this.answeredBy(tx, turnId);
    if (!message) return;
    const text = await this.chats.answerOf(tx, OrgScope.system(message.org_id, 'inbox'), turnId);
    if (text) await this.replies.arm(tx, message, { chat_id: chat.id, source_id: turnId, call_key: '', text });
  }

  async hold(tx: Tx, _chat: { id: string }, turnId: string): Promise<void> {
    const message = await this.answeredBy(tx, turnId);
    if (message) await this.repository.hold(tx, message);
  }

  private async answeredBy(tx: Tx, turnId: string): Promise<AnsweredMessage | null> {
    const message = await this.repository.answeredBy(tx, turnId);
    return message?.settings.reply === 'auto' && !message.terminated ? message : null;
  }
}
