import { Injectable } from '@nestjs/common';
import type { Tx } from '@aps/platform/database';
import type { ChatOrigin } from '@aps/tools';

/** How a chat came to its end, or to its rest. `suspended` is its organization. */
export type ChatEnd = 'done' | 'failed' | 'stopped' | 'suspended' | 'cancelled' | 'archived' | 'abandoned' | 'deleted';

/** Who wants to know when chats come to rest, and does what follows in the same transaction. */
export interface EndListener {
  /**
   * Of chats that one of these has begun it hears every turn that is done, also one that others wait behind. Such turns end by a
   * transaction; those that nobody hears of end by one statement. What else it hears of may be any chat's.
   */
  readonly origins: readonly ChatOrigin['kind'][];
  /** @param turnId the turn that has ended with it; what it said is there already. Null where none was under way */
  onChatEnded(tx: Tx, chat: { id: string }, how: ChatEnd, turnId: string | null): Promise<void>;
  /**
   * Takes the locks that {@link onChatEnded} will need, for who writes a receipt before it: the lock of an organization's credits is a transaction's last.
   *
   * @param turnId the turn that is about to end
   */
  hold(tx: Tx, chat: { id: string }, turnId: string): Promise<void>;
}

/** Where chats come to rest. */
@Injectable()
export class ChatEnds {
  private readonly listeners: EndListener[] = [];

  register(listener: EndListener): void {
    this.listeners.push(listener);
  }

  /** Whether somebody wants to know of each turn that is done in chats which this has begun. */
  isHeard(origin: ChatOrigin['kind']): boolean {
    return this.listeners.some((listener) => listener.origins.includes(origin));
  }

  /**
   * To be called, in the same transaction and after writing that down, by whoever ends a chat's turn without another to follow, or closes
   * a chat; harmless for chats that go on, or were told of before. A chat that only pauses does not end.
   *
   * @param chat locked by this transaction
   * @param turnId the turn that has ended with it
   */
  async tell(tx: Tx, chat: { id: string }, how: ChatEnd, turnId: string | null): Promise<void> {
    for (const listener of this.listeners) await listener.onChatEnded(tx, chat, how, turnId);
  }

  /** See {@link EndListener.hold}. @param chat locked by this transaction */
  async hold(tx: Tx, chat: { id: string }, turnId: string): Promise<void> {
    for (const listener of this.listeners) await listener.hold(tx, chat, turnId);
  }
}
