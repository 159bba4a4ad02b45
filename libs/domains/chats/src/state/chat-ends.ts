import { Injectable } from '@nestjs/common';
import type { Tx } from '@aps/platform/database';

/** How a chat came to its end, or to its rest. */
export type ChatEnd = 'done' | 'failed' | 'stopped' | 'cancelled' | 'archived' | 'abandoned' | 'deleted';

/** Who wants to know when chats come to rest, and does what follows in the same transaction. */
export interface EndListener {
  onChatEnded(tx: Tx, chat: { id: string }, how: ChatEnd): Promise<void>;
  /** Takes the locks that {@link onChatEnded} will need, for who writes a receipt before it: the lock of an organization's credits is a transaction's last. */
  hold(tx: Tx, chat: { id: string }): Promise<void>;
}

/** Where chats come to rest. */
@Injectable()
export class ChatEnds {
  private readonly listeners: EndListener[] = [];

  register(listener: EndListener): void {
    this.listeners.push(listener);
  }

  /**
   * To be called, in the same transaction and after writing that down, by whoever ends a chat's turn without another to follow, or closes
   * a chat; harmless for chats that go on, or were told of before. A chat that only pauses does not end.
   *
   * @param chat locked by this transaction
   */
  async tell(tx: Tx, chat: { id: string }, how: ChatEnd): Promise<void> {
    for (const listener of this.listeners) await listener.onChatEnded(tx, chat, how);
  }

  /** See {@link EndListener.hold}. @param chat locked by this transaction */
  async hold(tx: Tx, chat: { id: string }): Promise<void> {
    for (const listener of this.listeners) await listener.hold(tx, chat);
  }
}
