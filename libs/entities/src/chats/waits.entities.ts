import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Chat } from './chats.entities';
import { DatedOrgRow, StampedOrgRow } from '../rows';

export const HITL_STATUSES = ['pending', 'answered', 'cancelled', 'expired'] as const;
export type HitlStatus = (typeof HITL_STATUSES)[number];

/** A question to a human that a chat (or a process run) waits for. */
@Entity('hitl_requests')
@Unique('hitl_requests_org_id', ['org_id', 'id'])
// What a reader sees of an organization's lies together, of all and of each status.
@Index('hitl_requests_seen', ['org_id', 'private_to', 'id'])
@Index('hitl_requests_status_seen', ['org_id', 'status', 'private_to', 'id'])
@Index('hitl_requests_assigned', ['org_id', 'assignee_user_id', 'id'], { where: 'assignee_user_id IS NOT NULL' })
@Index('hitl_requests_agent', ['agent_id', 'private_to', 'id', 'org_id'], { where: 'agent_id IS NOT NULL' })
@Index('hitl_requests_run', ['run_id', 'private_to', 'id', 'org_id'], { where: 'run_id IS NOT NULL' })
@Index('hitl_requests_chat', ['chat_id', 'private_to', 'id'], { where: 'chat_id IS NOT NULL' })
@Index('hitl_requests_due', ['expires_at'], { where: `status = 'pending'` })
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@Check('hitl_requests_kind', `kind IN ('question', 'approval', 'form')`)
@Check('hitl_requests_status', `status IN ('pending', 'answered', 'cancelled', 'expired')`)
export class HitlRequest extends StampedOrgRow {
  @Column('uuid', { nullable: true }) chat_id: string | null;
  @Column('uuid', { nullable: true }) agent_id: string | null;
  @Column('uuid', { nullable: true }) turn_id: string | null;
  @Column('uuid', { nullable: true }) run_id: string | null;
  /** Step of the turn, or of the process run. */
  @Column('text', { nullable: true }) step_id: string | null;
  /** The call that the answer is the result of. */
  @Column('text', { nullable: true }) tool_call_id: string | null;
  @Column('text') kind: 'question' | 'approval' | 'form';
  @Column('text') prompt: string;
  @Column('jsonb', { nullable: true }) options: { id: string; label: string }[] | null;
  /** JSON Schema of a form's values. */
  @Column('jsonb', { nullable: true }) schema: Record<string, unknown> | null;
  /** What is run when it is approved, exactly as stored here. */
  @Column('jsonb', { nullable: true }) tool_call: {
    id: string;
    tool_slug: string;
    arguments: Record<string, unknown>;
    access_level: string;
  } | null;
  @Column('text', { default: 'pending' }) status: HitlStatus;
  @Column('uuid', { nullable: true }) assignee_user_id: string | null;
  /** Of a process run: who may answer, `role:…` or `user:…`; none for any member. */
  @Column('text', { array: true, default: () => "'{}'" }) assignees: string[];
  @Column('timestamptz') expires_at: Date;
  @Column('uuid', { nullable: true }) answered_by: string | null;
  @Column('timestamptz', { nullable: true }) answered_at: Date | null;
  @Column('jsonb', { nullable: true }) answer: Record<string, unknown> | null;
  /** Whether its chat, or its run, has gone on with the answer; of one that may be repeated. */
  @Column('boolean', { nullable: true }) resumed: boolean | null;
  /** What was not done as it was asked for; told with the answer. */
  @Column('text', { nullable: true }) notice: string | null;
  /** Who sees it besides its assignee: as of its chat, kept by triggers. */
  @Column('uuid', { nullable: true }) private_to: string | null;
}

/** How many requests an organization has, by who may see them and what is looked for; see {@link HITL_TALLY}. */
@Entity('hitl_tallies')
@Index('hitl_tallies_org', ['org_id', 'private_to'])
@Index('hitl_tallies_assignee', ['org_id', 'assignee_user_id'])
@Index('hitl_tallies_appended', ['folded'], { where: 'NOT folded' })
export class HitlTally {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid') org_id: string;
  @Column('uuid') agent_id: string;
  @Column('uuid') private_to: string;
  @Column('uuid') assignee_user_id: string;
  @Column('text') status: string;
  @Column('int') n: number;
  @Column('boolean', { default: false }) folded: boolean;
}

/** A call by which one chat waits for another. */
@Entity('child_waits')
@Unique('child_waits_child', ['child_chat_id'])
@Index('child_waits_parent', ['parent_chat_id'])
@Index('child_waits_orphans', ['orphaned_at'], { where: 'orphaned_at IS NOT NULL' })
@Index('child_waits_due', ['deadline_at'], { where: `status = 'open'` })
@ForeignKey(() => Chat, ['org_id', 'parent_chat_id'], ['org_id', 'id'])
@ForeignKey(() => Chat, ['org_id', 'child_chat_id'], ['org_id', 'id'])
@Check('child_waits_status', `status IN ('open', 'finished', 'abandoned')`)
export class ChildWait extends DatedOrgRow {
  @Column('uuid') parent_chat_id: string;
  @Column('uuid') parent_turn_id: string;
  @Column('text') tool_call_id: string;
  @Column('uuid') child_chat_id: string;
  /** Whether the parent's turn waits and reads the result itself. Where it does not, or no longer, a note tells its next turn. */
  @Column('boolean', { default: true }) waits: boolean;
  @Column('text', { default: 'open' }) status: 'open' | 'finished' | 'abandoned';
  @Column('timestamptz', { nullable: true }) deadline_at: Date | null;
  /** What the child came to. */
  @Column('jsonb', { nullable: true }) result: Record<string, unknown> | null;
  @Column('timestamptz', { nullable: true }) finished_at: Date | null;
  /** The parent failed or was closed then: the child is to be abandoned once it does not run. Null when that is settled. */
  @Column('timestamptz', { nullable: true }) orphaned_at: Date | null;
}

/** A summary that stands for the oldest messages of a chat in what its model reads; the messages themselves stay. */
@Entity('chat_compactions')
@Unique('chat_compactions_place', ['chat_id', 'through_seq'])
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
export class ChatCompaction extends DatedOrgRow {
  @Column('uuid') chat_id: string;
  @Column('uuid') turn_id: string;
  /** The last message, by turn and then by `seq`, that the summary covers. */
  @Column('int') through_turn_no: number;
  @Column('int') through_seq: number;
  @Column('text') summary: string;
  @Column('int') tokens_before: number;
  @Column('int') tokens_after: number;
}
