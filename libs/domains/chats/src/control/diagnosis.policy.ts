import type { CallBlocker } from '@aps/billing';
import { isRouteError } from '@aps/inference';
import type { RunSurroundings } from '@aps/platform/runs';
import type { ChatError, Pause } from '../state/chat.types';
import { effectOf, type FoundChat } from '../state/chat-state.policy';
import type { ChatAction } from './actions.policy';

export const BLOCKED_BY = [
  'human',
  'child',
  'timer',
  'cap',
  'credits',
  'budget',
  'route',
  'lease',
  'org_suspended',
  'agent_deleted',
] as const;

/** What keeps a chat from going on. */
export interface BlockedBy {
  kind: (typeof BLOCKED_BY)[number];
  since: Date | null;
  /** What of that kind: the request, the child chat, the time that the timer ends, the worker, the organization, the agent, or the code. */
  ref: string | null;
}

export const NEXT_ACTIONS = [
  'answer',
  'wait',
  'continue',
  'retry',
  'message',
  'add_credits',
  'raise_budget',
  'fix_route',
  'unsuspend',
] as const;
export type NextAction = (typeof NEXT_ACTIONS)[number];

/** A chat as its rows tell, without any queue being asked. */
export interface ChatFacts extends FoundChat {
  org_id: string;
  pause: Pause | null;
  error: ChatError | null;
  archived_at: Date | null;
  last_turn_at: Date | null;
  org_suspended_at: Date | null;
  agent_id: string;
  agent_deleted_at: Date | null;
  turn:
    | (RunSurroundings & {
        status: 'queued' | 'running' | 'waiting';
        parked: boolean;
        dispatched_at: Date;
        lease_owner: string | null;
        lease_expires_at: Date | null;
        fence: string;
      })
    | null;
}

const SPENDING = { credits_exhausted: 'credits', model_unpriced: 'credits', budget_exceeded: 'budget' } as const;

/** Why a chat does not go on by itself at this moment; null when nothing is in its way, or nothing is to be done. */
export function blockedBy(chat: ChatFacts): BlockedBy | null {
  const { turn, pause } = chat;
  if (chat.agent_deleted_at) return { kind: 'agent_deleted', since: chat.agent_deleted_at, ref: chat.agent_id };
  if (!turn) return closedBy(chat);
  if (chat.org_suspended_at) return { kind: 'org_suspended', since: chat.org_suspended_at, ref: chat.org_id };
  if (turn.status === 'running' && turn.lease_expired) return { kind: 'lease', since: turn.lease_expires_at, ref: turn.lease_owner };
  if (turn.status === 'queued' && turn.parked)
    return { kind: 'cap', since: pause ? new Date(pause.since) : turn.dispatched_at, ref: 'max_concurrent_chats' };
  if (turn.status !== 'waiting' || !pause) return null;
  const since = new Date(pause.since);
  if (pause.kind === 'human') return { kind: 'human', since, ref: pause.request_id ?? null };
  if (pause.kind === 'children') return { kind: 'child', since, ref: pause.child_chat_ids?.[0] ?? null };
  return pause.kind === 'timer' ? { kind: 'timer', since, ref: pause.resume_at ?? null } : null;
}

function closedBy(chat: ChatFacts): BlockedBy | null {
  const code = chat.status === 'ARCHIVED' ? chat.stop_reason : chat.status === 'ERRORED' ? (chat.error?.code ?? null) : null;
  if (code === null || effectOf('continue', chat) === 'refuse') return null;
  const since = chat.archived_at ?? chat.last_turn_at;
  if (code in SPENDING) return { kind: SPENDING[code as keyof typeof SPENDING], since, ref: code };
  return isRouteError(code) ? { kind: 'route', since, ref: code } : null;
}

/** What a person would do next to have the chat go on: something that is allowed now, or that lifts what is in the way; null where nothing will. */
export function nextAction(
  chat: ChatFacts,
  by: BlockedBy | null,
  blocker: CallBlocker | null,
  allowed: readonly ChatAction[],
): NextAction | null {
  if (by?.kind === 'agent_deleted') return null;
  if (by?.kind === 'org_suspended') return 'unsuspend';
  if (by?.kind === 'human') return 'answer';
  if (chat.turn) return 'wait';
  const continuable = effectOf('continue', chat) === 'resume';
  if (continuable && blocker) return blocker.code === 'budget_exceeded' ? 'raise_budget' : 'add_credits';
  if (by?.kind === 'route') return 'fix_route';
  // What lies in the request fails again.
  const inOrder =
    continuable && (chat.error?.retryable ?? true)
      ? (['continue', 'message', 'retry'] as const)
      : (['message', 'continue', 'retry'] as const);
  return inOrder.find((action) => allowed.includes(action)) ?? null;
}
