/**
 * What is told to every replica over the Redis transport. A lost broadcast does no harm: a column holds the truth, and the
 * broadcast only makes it fast.
 */
export interface Broadcasts {
  /** The running turn of a chat is over: whoever runs it aborts. Truth: `turns.status`. A turn that came after it is none of its business. */
  'chat.stop': { org_id: string; chat_id: string; turn_id: string; at: string };
  /** A process run is over by somebody's wish: whoever runs it aborts. Truth: `process_runs.status`. */
  'run.stop': { org_id: string; run_id: string };
  /** Settings of an organization (or, with null, of the platform) changed: drop what is cached of them. */
  'settings.changed': { org_id: string | null };
  /** Routes, keys or the model catalog changed: drop what is cached of them. */
  'route.changed': { org_id: string | null };
  /** What a user may do, or who may do something in an organization, has become less: ask anew. Truth: the rows, within a second. */
  'access.changed': { user_id: string | null; org_id: string | null };
  /** An operator has told a worker to begin nothing new, or to go on. Truth: `workers.draining`, which it reads with each heartbeat. */
  'worker.changed': { worker_id: string };
}

export type BroadcastName = keyof Broadcasts;
