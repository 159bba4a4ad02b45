/**
 * What is told to every replica over the Redis transport. A lost broadcast does no harm: a column holds the truth, and the
 * broadcast only makes it fast.
 */
export interface Broadcasts {
  /** A chat was stopped: whoever runs its turn aborts. Truth: `chats.stop_requested_at`. */
  'chat.stop': { org_id: string; chat_id: string; at: string };
  /** Settings of an organization (or, with null, of the platform) changed: drop what is cached of them. */
  'settings.changed': { org_id: string | null };
  /** Routes, keys or the model catalog changed: drop what is cached of them. */
  'route.changed': { org_id: string | null };
}

export type BroadcastName = keyof Broadcasts;
