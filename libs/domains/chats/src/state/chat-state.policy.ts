import type { ChatStatus } from '@aps/entities';
import type { Pause } from './chat.types';

/** What of a chat decides what may be done to it. */
export interface FoundChat {
  status: ChatStatus;
  pause: Pick<Pause, 'kind'> | null;
  stop_reason: string | null;
  /** The turn that is dispatched and not over; null when there is none. */
  turn: unknown;
}

/** What a chat is. */
export const CHAT_STATES = [
  'idle',
  /** Its turn has not come to a worker yet. */
  'dispatched',
  'running',
  /** Behind the cap of its organization. */
  'queued',
  'timer',
  'children',
  'human',
  'failed',
  /** Archived for a reason that passes. */
  'liftable',
  'archived',
  'abandoned',
] as const;
export type ChatState = (typeof CHAT_STATES)[number];

/** Whether `continue` can lift the reason that a chat was archived for. */
export const isLiftable = (reason: string | null): boolean => reason === 'credits_exhausted' || reason === 'model_unpriced';

export function stateOf(chat: FoundChat): ChatState {
  switch (chat.status) {
    case 'ACTIVE':
      return chat.pause?.kind ?? (chat.turn ? 'dispatched' : 'idle');
    case 'RUNNING':
      return 'running';
    case 'PAUSED':
      return 'human';
    case 'ERRORED':
      return 'failed';
    case 'ARCHIVED':
      return isLiftable(chat.stop_reason) ? 'liftable' : 'archived';
    case 'ABANDONED':
      return 'abandoned';
  }
}

/** What can be done to a chat, and comes to different things in different states. */
interface Effects {
  message:
    /** Its turn is dispatched. */
    | 'dispatch'
    /** Its turn waits behind the one that is there. */
    | 'queue'
    /** What the chat waits for is over, and the message's turn is dispatched. */
    | 'interrupt'
    /** The failure is behind it, and the message's turn is dispatched. */
    | 'revive'
    /** It is kept, and nothing runs: the chat is closed. */
    | 'keep';
  stop:
    /** The running turn is cut off. */
    | 'abort'
    /** A turn that no worker has begun is over. */
    | 'skip'
    /** Child chats, a timer or a slot are no longer waited for. */
    | 'end_wait'
    /** It does nothing, or waits for a human, which is the human's to end. */
    | 'none';
  terminate: 'close' | 'none';
  continue: 'resume' | 'refuse';
  archive: 'close' | 'none';
}
export type ChatTrigger = keyof Effects;

/** What comes of what is done to a chat, by what it is. A retry and a deletion are the same in every state. */
export const STATE_TABLE: Record<ChatState, Effects> = {
  idle: { message: 'dispatch', stop: 'none', terminate: 'close', continue: 'refuse', archive: 'close' },
  dispatched: { message: 'queue', stop: 'skip', terminate: 'close', continue: 'refuse', archive: 'close' },
  running: { message: 'queue', stop: 'abort', terminate: 'close', continue: 'refuse', archive: 'close' },
  queued: { message: 'queue', stop: 'end_wait', terminate: 'close', continue: 'refuse', archive: 'close' },
  timer: { message: 'interrupt', stop: 'end_wait', terminate: 'close', continue: 'refuse', archive: 'close' },
  children: { message: 'interrupt', stop: 'end_wait', terminate: 'close', continue: 'refuse', archive: 'close' },
  human: { message: 'interrupt', stop: 'none', terminate: 'close', continue: 'refuse', archive: 'close' },
  failed: { message: 'revive', stop: 'none', terminate: 'none', continue: 'resume', archive: 'close' },
  liftable: { message: 'keep', stop: 'none', terminate: 'none', continue: 'resume', archive: 'none' },
  archived: { message: 'keep', stop: 'none', terminate: 'none', continue: 'refuse', archive: 'none' },
  abandoned: { message: 'keep', stop: 'none', terminate: 'none', continue: 'refuse', archive: 'close' },
};

/** What comes of doing this to a chat, as it is found under its lock. */
export const effectOf = <T extends ChatTrigger>(trigger: T, chat: FoundChat): Effects[T] => STATE_TABLE[stateOf(chat)][trigger];

/**
 * Every move of a chat, from where to where. Nothing else changes a status; whoever moves a chat holds its row, and has decided on what
 * was found there.
 */
export const MOVES = {
  /** A worker has its turn; from `RUNNING`, because the worker before was lost. */
  begin: { from: ['ACTIVE', 'RUNNING'], to: 'RUNNING' },
  /** Its turn is over the cap. */
  park: { from: ['ACTIVE', 'RUNNING'], to: 'ACTIVE' },
  /** Its turn waits for a timer or child chats. */
  wait: { from: ['RUNNING'], to: 'ACTIVE' },
  /** Its turn waits for a human. */
  ask: { from: ['RUNNING'], to: 'PAUSED' },
  /** What its turn waited for is over. */
  wake: { from: ['ACTIVE', 'PAUSED'], to: 'ACTIVE' },
  /** Its turn is over. */
  rest: { from: ['ACTIVE', 'RUNNING', 'PAUSED'], to: 'ACTIVE' },
  /** Its turn has failed, or came to no worker. */
  fail: { from: ['ACTIVE', 'RUNNING', 'PAUSED'], to: 'ERRORED' },
  /** It goes on after a failure, or after the reason that it was closed for. */
  revive: { from: ['ACTIVE', 'ERRORED', 'ARCHIVED'], to: 'ACTIVE' },
  /** It is closed: by a user, or because its next call must not be made. */
  archive: { from: ['ACTIVE', 'RUNNING', 'PAUSED', 'ERRORED', 'ABANDONED'], to: 'ARCHIVED' },
  /** Nobody answers it, or nobody wants to know any more what it comes to. */
  abandon: { from: ['ACTIVE', 'PAUSED'], to: 'ABANDONED' },
} as const satisfies Record<string, { from: readonly ChatStatus[]; to: ChatStatus }>;
export type Move = keyof typeof MOVES;

export const mayMove = (move: Move, chat: { status: ChatStatus }): boolean =>
  (MOVES[move].from as readonly ChatStatus[]).includes(chat.status);
