import type { Rollout } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

export const OUTCOMES = ['completed', 'errored', 'escalated', 'abandoned', 'terminated'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A chat of an arm that is over, with what it took. */
export interface CountedChat {
  arm_label: string | null;
  /** Who is behind it, or its id. */
  unit: string;
  outcome: Outcome;
  /** Of the chat and all that it delegated; null where a price is not known. */
  cost_usd: string | null;
  cost_credits: string | null;
  /** The same, of all five kinds. */
  tokens: number;
  turns: number;
  tool_calls: number;
  /** It asked a human. */
  asked: boolean;
  /** Of its turns that were taken up, from dispatch to end, less what they waited for humans and timers. */
  seconds: number;
}

/** What an arm was ever assigned: chats, or those who are behind them, each once. */
export interface AssignedUnits {
  arm_label: string | null;
  units: number;
}

/** What was recorded in a chat of an arm. */
export interface ChatDecisions {
  chat_id: string;
  arm_label: string | null;
  unit: string;
  recorded: number;
  reviewed: number;
  disputed: number;
}

/** The chats of rollouts. They stand above rollouts, so the chats domain binds this port. */
export abstract class ArmChats {
  /** The newest of them, where there are very many. */
  abstract counted(db: Db, scope: OrgScope, rollout: Rollout, idleMinutes: number): Promise<CountedChat[]>;
  abstract assigned(db: Db, scope: OrgScope, rollout: Rollout): Promise<AssignedUnits[]>;
  /** Of the newest of them, where there are very many. */
  abstract decisions(db: Db, scope: OrgScope, rollout: Rollout): Promise<ChatDecisions[]>;
}
