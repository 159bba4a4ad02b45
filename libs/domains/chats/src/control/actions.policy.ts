import { effectOf, type FoundChat } from '../state/chat-state.policy';

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
export function allowedActions(chat: FoundChat, facts: ActionFacts): ChatAction[] {
  const allowed: Record<ChatAction, boolean> = {
    message: effectOf('message', chat) !== 'keep' && !facts.agent_deleted,
    stop: effectOf('stop', chat) !== 'none',
    terminate: effectOf('terminate', chat) === 'close',
    continue: effectOf('continue', chat) === 'resume' && !facts.blocked && !facts.agent_deleted,
    retry: facts.has_opening && !facts.agent_deleted,
    archive: effectOf('archive', chat) === 'close',
    rename: true,
    share: mayShare(facts, facts.userId),
    delete: true,
  };
  return CHAT_ACTIONS.filter((action) => allowed[action]);
}
