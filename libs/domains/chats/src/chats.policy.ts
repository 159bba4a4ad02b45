import type { ModelMode } from '@aps/contracts';
import type { ChatStatus } from '@aps/entities';
import type { Pause } from './chat.types';

/** What a chat is, as far as it decides what may be done to it. */
export interface ControlState {
  status: ChatStatus;
  pause: Pick<Pause, 'kind'> | null;
  stop_reason: string | null;
  /** The turn that is dispatched and not over. */
  turn: { status: 'queued' | 'running' | 'waiting' } | null;
}

/** What a new user message does to a chat. */
export type SendEffect =
  /** Its turn is dispatched. */
  | 'dispatch'
  /** It is kept, and nothing runs: the chat is closed. */
  | 'keep'
  /** What the chat waits for is over, or its failure is behind it, and the message's turn is dispatched. */
  | 'revive';

/** Decides from what is found under the chat's lock. Running chats never come here; their messages wait behind the turn. */
export function effectOfMessage(chat: { status: ChatStatus; pause: Pick<Pause, 'kind'> | null }): SendEffect {
  if (chat.status === 'ARCHIVED' || chat.status === 'ABANDONED') return 'keep';
  return chat.status === 'ERRORED' || (chat.pause && chat.pause.kind !== 'queued') ? 'revive' : 'dispatch';
}

/** What a stop does to a chat. */
export type StopEffect =
  /** The running turn is cut off. */
  | 'abort'
  /** A turn that no worker has begun is over. */
  | 'skip'
  /** Child chats, a timer or a slot are no longer waited for. */
  | 'end_wait'
  /** Nothing: the chat does nothing, or waits for a human, which is the human's to end. */
  | 'none';

export function stopEffect(chat: ControlState): StopEffect {
  if (!chat.turn || chat.pause?.kind === 'human') return 'none';
  if (chat.status === 'RUNNING' || chat.turn.status === 'running') return 'abort';
  return chat.pause ? 'end_wait' : 'skip';
}

/** Statuses that `terminate` leaves as they are. */
export const TERMINAL_STATUSES: readonly ChatStatus[] = ['ERRORED', 'ARCHIVED', 'ABANDONED'];

export const isTerminable = (chat: { status: ChatStatus }): boolean => !TERMINAL_STATUSES.includes(chat.status);

export const isArchivable = (chat: { status: ChatStatus }): boolean => chat.status !== 'ARCHIVED';

/** Reasons of an archived chat that `continue` can lift. */
export const CONTINUABLE_STOP_REASONS: readonly string[] = ['credits_exhausted', 'model_unpriced'];

/** Whether `continue` may dispatch a turn. */
export function isContinuable(chat: { status: ChatStatus; stop_reason: string | null }): boolean {
  return (
    chat.status === 'ERRORED' ||
    (chat.status === 'ARCHIVED' && chat.stop_reason !== null && CONTINUABLE_STOP_REASONS.includes(chat.stop_reason))
  );
}

/**
 * Whether a user may open a chat to others or close it again: who began it, and nobody else. A chat that another one delegated to has no
 * sharing of its own, it follows its root.
 */
export function mayShare(chat: { created_by: string | null; parent_chat_id: string | null }, userId: string | null): boolean {
  return chat.created_by !== null && chat.created_by === userId && chat.parent_chat_id === null;
}

export const CHAT_ACTIONS = ['message', 'stop', 'terminate', 'continue', 'retry', 'archive', 'rename', 'share', 'delete'] as const;
export type ChatAction = (typeof CHAT_ACTIONS)[number];

/** What else decides about the actions of a chat that a caller can open. */
export interface ActionFacts {
  created_by: string | null;
  parent_chat_id: string | null;
  userId: string | null;
  /** Credits or budget that are used up stand in the way of the next turn. */
  blocked: boolean;
  /** There is a user message that a retry could begin with. */
  has_opening: boolean;
  /** Nothing has a chat of a deleted agent run. */
  agent_deleted: boolean;
}

/** What would have an effect now. Each of these asks the same question as the operation itself. */
export function allowedActions(chat: ControlState, facts: ActionFacts): ChatAction[] {
  const allowed: Record<ChatAction, boolean> = {
    message: effectOfMessage(chat) !== 'keep' && !facts.agent_deleted,
    stop: stopEffect(chat) !== 'none',
    terminate: isTerminable(chat),
    continue: isContinuable(chat) && !facts.blocked && !facts.agent_deleted,
    retry: facts.has_opening && !facts.agent_deleted,
    archive: isArchivable(chat),
    rename: true,
    share: mayShare(facts, facts.userId),
    delete: true,
  };
  return CHAT_ACTIONS.filter((action) => allowed[action]);
}

/** How a turn asks for its model. */
export interface TurnChoices {
  model: string | null;
  model_mode_override: ModelMode | null;
  reasoning_effort: string | null;
}

/** What a retry carries over of how the first turn chose its model: what the plan still lets a message choose. */
export function carriedChoices(of: TurnChoices, directModelChoice: boolean): TurnChoices {
  return directModelChoice
    ? { ...of, model_mode_override: null }
    : { model: null, model_mode_override: of.model_mode_override, reasoning_effort: null };
}
