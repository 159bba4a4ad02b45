import type { Pause, ChatStatus } from './chat.types';

/** What a new user message does to a chat. */
export type SendEffect =
  /** Its turn is dispatched. */
  | 'dispatch'
  /** It is kept, and nothing runs: the chat is closed. */
  | 'keep'
  /** What the chat waits for is over, and the message's turn is dispatched. */
  | 'revive';

/** Decides from what is found under the chat's lock. Running chats never come here; their messages wait behind the turn. */
export function effectOfMessage(chat: { status: ChatStatus; pause: Pause | null }): SendEffect {
  if (chat.status === 'ARCHIVED' || chat.status === 'ABANDONED') return 'keep';
  return chat.pause && chat.pause.kind !== 'queued' ? 'revive' : 'dispatch';
}

/** Reasons of an archived chat that `continue` can lift. */
export const CONTINUABLE_STOP_REASONS: readonly string[] = ['credits_exhausted', 'model_unpriced'];

/** Whether `continue` may dispatch a turn. */
export function isContinuable(chat: { status: ChatStatus; stop_reason: string | null }): boolean {
  return chat.status === 'ERRORED' || (chat.status === 'ARCHIVED' && chat.stop_reason !== null && CONTINUABLE_STOP_REASONS.includes(chat.stop_reason));
}
