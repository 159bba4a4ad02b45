import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, DeleteDateColumn, Unique } from 'typeorm';
import { Agent, AgentRevision } from '../agents/agents.entities';
import { Environment } from '../environments/environments.entities';
import { DurableRun, type RunWait } from '../platform/durable-run.entity';
import { DatedOrgRow, StampedOrgRow } from '../rows';

export const CHAT_STATUSES = ['ACTIVE', 'RUNNING', 'PAUSED', 'ERRORED', 'ARCHIVED', 'ABANDONED'] as const;
export type ChatStatus = (typeof CHAT_STATUSES)[number];

/** What a chat waits for. */
export interface ChatPause {
  kind: 'human' | 'children' | 'timer' | 'queued';
  since: string;
  request_id?: string;
  resume_at?: string;
  child_chat_ids?: string[];
}

/** A conversation with an agent. */
@Entity('chats')
@Index('chats_source', ['source_chat_id'], { where: 'source_chat_id IS NOT NULL' })
@Unique('chats_org_id', ['org_id', 'id'])
@Index('chats_agent', ['agent_id', 'id'], { where: 'deleted_at IS NULL' })
// What each reader sees of an agent's chats lies together; with the organization, so that whoever skips rows need not read them.
@Index('chats_seen', ['agent_id', 'private_to', 'id', 'org_id'])
@Index('chats_root', ['root_chat_id'])
@Index('chats_rollout', ['rollout_id', 'id'], { where: 'rollout_id IS NOT NULL' })
@Index('chats_environment', ['environment_id', 'id'], { where: 'environment_id IS NOT NULL' })
@Index('chats_parent', ['parent_chat_id'], { where: 'parent_chat_id IS NOT NULL' })
// Not led by the organization: the foreign keys look for an organization and an id, and a connection that plans that while there are few
// chats may take any index that begins so, and then look through all of the organization's.
@Index('chats_created', ['created_at', 'org_id'])
@ForeignKey(() => Agent, ['org_id', 'agent_id'], ['org_id', 'id'])
@ForeignKey(() => AgentRevision, ['org_id', 'agent_revision_id'], ['org_id', 'id'])
@ForeignKey(() => Environment, ['org_id', 'environment_id'], ['org_id', 'id'])
@Check('chats_status', `status IN ('ACTIVE', 'RUNNING', 'PAUSED', 'ERRORED', 'ARCHIVED', 'ABANDONED')`)
export class Chat extends StampedOrgRow {
  @Column('uuid') agent_id: string;
  /** The configuration that this chat was frozen with. */
  @Column('uuid') agent_revision_id: string;
  @Column('uuid', { nullable: true }) rollout_id: string | null;
  @Column('text', { nullable: true }) arm_label: string | null;
  @Column('text', { nullable: true }) title: string | null;
  @Column('text', { default: 'ACTIVE' }) status: ChatStatus;
  @Column('jsonb', { nullable: true }) pause: ChatPause | null;
  @Column('text', { nullable: true }) stop_reason: string | null;
  @Column('jsonb', { nullable: true }) error: { code: string; message: string; retryable: boolean } | null;
  @Column('timestamptz', { nullable: true }) stop_requested_at: Date | null;
  @Column('timestamptz', { nullable: true }) completed_at: Date | null;
  @Column('timestamptz', { nullable: true }) archived_at: Date | null;
  @Column('boolean', { default: false }) shared: boolean;
  /** Null when no human began it. */
  @Column('uuid', { nullable: true }) created_by: string | null;
  /** Who sees it, which a trigger keeps: the nil UUID is everyone in the organization, null nobody any more. */
  @Column('uuid', { nullable: true }) private_to: string | null;
  @Column('uuid', { nullable: true }) environment_id: string | null;
  @Column('boolean', { nullable: true }) sandbox_enabled: boolean | null;
  @Column('text', { nullable: true }) model_mode_override: string | null;
  /** Tool scopes that are switched on in this chat; null = all. */
  @Column('text', { array: true, nullable: true }) enabled_scopes: string[] | null;
  /** Model calls that a turn of it may take, where that is less than its agent may; null = as the agent. */
  @Column('int', { nullable: true }) max_steps: number | null;
  @Column('uuid', { nullable: true }) parent_chat_id: string | null;
  @Column('uuid', { nullable: true }) root_chat_id: string | null;
  /** Delegations between this chat and its root. */
  @Column('int', { default: 0 }) depth: number;
  @Column('uuid', { nullable: true }) source_chat_id: string | null;
  @Column('text') origin_kind: 'user' | 'inbox' | 'process' | 'agent' | 'api' | 'schedule';
  @Column('text', { nullable: true }) origin_ref_id: string | null;
  /** Who is behind its root: a user's id, or `{origin_kind}:{sender or ref}`. Experiments assign by it. */
  @Column('text', { nullable: true }) originator: string | null;
  @Column('numeric', { precision: 20, scale: 6, default: 0 }) cost_usd: string;
  @Column('numeric', { precision: 20, scale: 6, default: 0 }) cost_credits: string;
  /** Newest number on the chat's event log. Raised under the row's lock, which is what orders the events. */
  @Column('int', { default: 0 }) event_seq: number;
  @Column('int', { default: 0 }) message_seq: number;
  @Column('int', { default: 0 }) turn_seq: number;
  @Column('int', { default: 0 }) message_count: number;
  /** The turn that is dispatched and not over; later ones wait behind it. */
  @Column('uuid', { nullable: true }) current_turn_id: string | null;
  /** The summary that stands for its oldest messages in what the model reads. */
  @Column('uuid', { nullable: true }) compaction_id: string | null;
  /** Turns that wait behind the current one. */
  @Column('int', { default: 0 }) pending_turns: number;
  @Column('timestamptz', { nullable: true }) last_message_at: Date | null;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
}

/** How many chats an agent has, by who may see them; see {@link CHAT_TALLY}. */
@Entity('chat_tallies')
@Index('chat_tallies_agent', ['agent_id', 'private_to'])
@Index('chat_tallies_appended', ['folded'], { where: 'NOT folded' })
export class ChatTally {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid') org_id: string;
  @Column('uuid') agent_id: string;
  /** See `private_to` of chats. */
  @Column('uuid') private_to: string;
  @Column('int') n: number;
  @Column('boolean', { default: false }) folded: boolean;
}

export interface ToolCallRecord {
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
}

/** The transcript, in the order in which the model sees it: what users wrote, what the model answered or called, what tools returned. */
@Entity('messages')
@Unique('messages_chat_seq', ['chat_id', 'seq'])
@Index('messages_turn', ['turn_id'], { where: 'turn_id IS NOT NULL' })
@Index('messages_of_users', ['chat_id', 'turn_no'], { where: `role = 'user'` })
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@Check('messages_role', `role IN ('user', 'assistant', 'tool', 'system')`)
@Check('messages_finish_reason', `finish_reason IN ('stop', 'length', 'tool_calls', 'content_filter', 'refusal', 'step_limit', 'empty')`)
export class Message extends DatedOrgRow {
  @Column('uuid') chat_id: string;
  @Column('int') seq: number;
  @Column('text') role: 'user' | 'assistant' | 'tool' | 'system';
  @Column('text') content: string;
  @Column('jsonb', { nullable: true }) attachments: unknown[] | null;
  /** Of assistant messages: the calls that the model asked for. */
  @Column('jsonb', { nullable: true }) tool_calls: ToolCallRecord[] | null;
  /** Of tool messages: which call this answers, and by which tool. */
  @Column('text', { nullable: true }) tool_call_id: string | null;
  @Column('text', { nullable: true }) tool_name: string | null;
  /** Provider state that must travel back with the message, e.g. signed reasoning. */
  @Column('jsonb', { nullable: true }) provider_state: unknown;
  @Column('text', { nullable: true }) model: string | null;
  @Column('jsonb', { nullable: true }) usage: Record<string, unknown> | null;
  /** Of assistant messages that were not interrupted: why the model ended. */
  @Column('text', { nullable: true }) finish_reason:
    'stop' | 'length' | 'tool_calls' | 'content_filter' | 'refusal' | 'step_limit' | 'empty' | null;
  /** The turn was stopped before the model had ended: this is what it had said. */
  @Column('boolean', { default: false }) interrupted: boolean;
  /** The turn that wrote it; for a user message, the turn that answers it. */
  @Column('uuid', { nullable: true }) turn_id: string | null;
  /**
   * Number of that turn. The model reads messages by turn, then by `seq`: what a user writes while a turn runs comes after that
   * turn's answer, although it was stored before it.
   */
  @Column('int') turn_no: number;
  @Column('uuid', { nullable: true }) author_id: string | null;
}

export const TURN_STATUSES = ['queued', 'running', 'waiting', 'done', 'stopped', 'skipped', 'failed', 'cancelled'] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];

/** A call that a turn waits for. */
export interface WaitingCall {
  step_no: number;
  tool_call_id: string;
  tool_name: string;
  /** The question or the child chat that answers it; a timer has none. */
  ref?: string;
}

/** What a turn waits for: calls of one kind, which may have been made together. */
export interface TurnWait extends RunWait {
  kind: 'timer' | 'human' | 'children';
  /** Null while the calls are still being made, and the turn keeps its slot. */
  since: string | null;
  calls: WaitingCall[];
}

/** One answer of the agent: dispatched once, owned by one worker at a time, over once. */
@Entity('turns')
@Unique('turns_chat_seq', ['chat_id', 'seq'])
// More than the status: statements that ask for one turn "that runs" would else be planned to look through all that run.
@Index('turns_owned', ['org_id'], { where: 'lease_owner IS NOT NULL' })
@Index('turns_queued', ['org_id'], { where: `status = 'queued' AND finished_at IS NULL` })
@Index('turns_waiting', ['org_id'], { where: `status = 'waiting' AND finished_at IS NULL` })
@Index('turns_parked', ['org_id', 'dispatched_at'], { where: 'parked' })
// Not led by the organization, for the reason given at `chats_created`.
@Index('turns_dispatched', ['dispatched_at', 'org_id'])
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@Check('turns_status', `status IN ('queued', 'running', 'waiting', 'done', 'stopped', 'skipped', 'failed', 'cancelled')`)
export class Turn extends DurableRun<TurnStatus, TurnWait> {
  @Column('uuid') chat_id: string;
  @Column('int') seq: number;
  @Column('text') cause: 'message' | 'continue' | 'retry';
  /** The user message that it answers; null when it resumes. */
  @Column('uuid', { nullable: true }) message_id: string | null;
  /** The user on whose behalf it acts, who sent its message or, in a chat below, that of its root; null where nobody did. */
  @Column('uuid', { nullable: true }) principal_id: string | null;
  @Column('text', { nullable: true }) model: string | null;
  @Column('text', { nullable: true }) model_mode_override: string | null;
  @Column('text', { nullable: true }) reasoning_effort: string | null;
  @Column('boolean', { default: false }) unpriced_allowed: boolean;
  /** Of its steps, those in which a model was asked: what `max_steps` of agent and chat bounds. */
  @Column('int', { default: 0 }) model_steps: number;
}

/**
 * The journal of a turn: every model call with its outcome; every tool call from its intent on. One that goes out and may not be repeated
 * is `sent` before it does; it ends as `outcome_unknown` where nobody has heard of it since.
 */
@Entity('turn_steps')
export class TurnStep {
  @PrimaryColumn('uuid') turn_id: string;
  @PrimaryColumn('int') step_no: number;
  @Column('uuid') org_id: string;
  @Column('uuid') chat_id: string;
  @Column('text') kind: 'model' | 'tool';
  @Column('text') status: 'intent' | 'sent' | 'done' | 'failed' | 'outcome_unknown' | 'interrupted';
  @Column('uuid', { nullable: true }) message_id: string | null;
  @Column('text', { nullable: true }) tool_call_id: string | null;
  @Column('text', { nullable: true }) tool_name: string | null;
  @Column('jsonb', { nullable: true }) detail: Record<string, unknown> | null;
  @Column('timestamptz', { default: () => 'now()' }) started_at: Date;
  @Column('timestamptz', { nullable: true }) finished_at: Date | null;
}

/** What an agent means to do in a chat. */
@Entity('todos')
@Index('todos_chat', ['chat_id', 'position'])
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@Check('todos_status', `status IN ('pending', 'in_progress', 'completed', 'invalidated')`)
export class Todo extends StampedOrgRow {
  @Column('uuid') chat_id: string;
  @Column('int') position: number;
  @Column('text') title: string;
  @Column('text') status: 'pending' | 'in_progress' | 'completed' | 'invalidated';
}
