import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Agent, AgentRevision } from '../agents/agents.entities';
import { Chat } from '../chats/chats.entities';

export const DECISION_KINDS = ['act', 'no_act', 'escalate'] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];
export const REVIEW_STATUSES = ['unreviewed', 'agreed', 'disputed', 'reverted'] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** What an agent decided in a chat, on which basis, and what a human thought of it. */
@Entity('decisions')
@Unique('decisions_call', ['turn_id', 'tool_call_id'])
@Index('decisions_agent', ['org_id', 'agent_id', 'id'])
// The live queue: what is archived piles up beside it.
@Index('decisions_queue', ['org_id', 'agent_id', 'id'], { where: 'archived_at IS NULL' })
@Index('decisions_chat', ['chat_id', 'id'])
@Index('decisions_age', ['org_id', 'created_at'])
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@ForeignKey(() => Agent, ['org_id', 'agent_id'], ['org_id', 'id'])
@ForeignKey(() => AgentRevision, ['org_id', 'agent_revision_id'], ['org_id', 'id'])
@Check('decisions_kind', `kind IN ('act', 'no_act', 'escalate')`)
@Check('decisions_review_status', `review_status IN ('unreviewed', 'agreed', 'disputed', 'reverted')`)
export class Decision {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') org_id: string;
  @Column('uuid') chat_id: string;
  @Column('uuid') agent_id: string;
  @Column('uuid') agent_revision_id: string;
  @Column('uuid') turn_id: string;
  /** The call that recorded it. */
  @Column('text') tool_call_id: string;
  /** The tool that it decides on. */
  @Column('text', { nullable: true }) tool_slug: string | null;
  @Column('text', { nullable: true }) connection_id: string | null;
  @Column('text', { nullable: true }) arguments_digest: string | null;
  @Column('text') kind: DecisionKind;
  @Column('text') summary: string;
  /** The rule that it cites, trimmed: decisions are grouped by it. */
  @Column('text') basis: string;
  @Column('text', { nullable: true }) rationale: string | null;
  @Column('boolean', { default: false }) deviation: boolean;
  @Column('boolean', { default: false }) determination: boolean;
  @Column('numeric', { precision: 4, scale: 3, nullable: true }) confidence: string | null;
  @Column('text', { default: 'unreviewed' }) review_status: ReviewStatus;
  @Column('text', { nullable: true }) review_note: string | null;
  @Column('text', { nullable: true }) should_have: string | null;
  @Column('uuid', { nullable: true }) reviewed_by: string | null;
  @Column('timestamptz', { nullable: true }) reviewed_at: Date | null;
  @Column('timestamptz', { nullable: true }) archived_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}
