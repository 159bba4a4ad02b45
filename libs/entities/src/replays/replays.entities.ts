import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Agent, AgentRevision } from '../agents/agents.entities';
import { Chat } from '../chats/chats.entities';
import { DurableRun, type RunWait } from '../platform/durable-run.entity';

export const REPLAY_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];
export type ReplayKind = 'draft_check' | 'simulation';

/** What a replay is expected to take, from what was played again took. */
export interface ReplayEstimate {
  model_calls: number;
  credits: string | null;
  usd: string | null;
}

/** Past chats of an agent, or turns of them, that are played again on another configuration; and the run that does so. */
@Entity('replays')
@Unique('replays_org_id', ['org_id', 'id'])
@Index('replays_agent', ['agent_id', 'kind', 'id'])
@Index('replays_age', ['created_at'])
@Index('replays_owned', ['org_id'], { where: 'lease_owner IS NOT NULL' })
@Index('replays_waiting', ['org_id'], { where: `status = 'waiting' AND finished_at IS NULL` })
@Index('replays_parked', ['org_id', 'dispatched_at'], { where: 'parked' })
@ForeignKey(() => Agent, ['org_id', 'agent_id'], ['org_id', 'id'])
@ForeignKey(() => AgentRevision, ['org_id', 'revision_id'], ['org_id', 'id'])
@Check('replays_kind', `kind IN ('draft_check', 'simulation')`)
@Check('replays_status', `status IN ('queued', 'running', 'completed', 'failed', 'cancelled')`)
export class Replay extends DurableRun<ReplayStatus, RunWait> {
  @Column('uuid') agent_id: string;
  @Column('text') kind: ReplayKind;
  /** What the agent is meanwhile, as a revision would have it. */
  @Column('jsonb') config: Record<string, unknown>;
  /** Null for a draft. */
  @Column('uuid', { nullable: true }) revision_id: string | null;
  @Column('text', { nullable: true }) judge_model: string | null;
  /** What its amounts are counted in. */
  @Column('text') billing_unit: 'credits' | 'usd';
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) budget: string | null;
  @Column('numeric', { precision: 20, scale: 6, default: 0 }) spent: string;
  @Column('jsonb') estimate: ReplayEstimate;
  /** Whose rights it has: what they may not open is not played again. */
  @Column('uuid') created_by: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** One chat, or one decision of it, that is played again. */
@Entity('replay_items')
@Index('replay_items_chat', ['chat_id'])
@ForeignKey(() => Replay, ['org_id', 'replay_id'], ['org_id', 'id'])
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
export class ReplayItem {
  @PrimaryColumn('uuid') replay_id: string;
  @PrimaryColumn('int') place: number;
  @Column('uuid') org_id: string;
  @Column('uuid') chat_id: string;
  /** The decision that is checked, as it was when the check began; null in simulations. */
  @Column('jsonb', { nullable: true }) decision: Record<string, unknown> | null;
  /** What models have said so far; null before, and when it is done. */
  @Column('jsonb', { nullable: true }) progress: Record<string, unknown>[] | null;
  /** What it came to, in words; null until it is done. What is counted of it stands in columns of its own. */
  @Column('jsonb', { nullable: true }) result: Record<string, unknown> | null;
  /** Of a decision. */
  @Column('text', { nullable: true }) verdict: string | null;
  /** Of a chat that could be played: in what it is not as it was; the calls that were not made then; what the turns took that were played again. */
  @Column('text', { array: true, nullable: true }) differences: string[] | null;
  @Column('int', { nullable: true }) misses: number | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) cost_before: string | null;
  @Column('bigint', { nullable: true }) tokens_before: string | null;
  /** All that it took so far, in the unit of its replay; null where a price is not known. */
  @Column('numeric', { precision: 20, scale: 6, nullable: true, default: 0 }) cost: string | null;
  @Column('bigint', { default: 0 }) tokens: string;
}
