import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Agent, AgentRevision } from '../agents/agents.entities';
import { Chat } from '../chats/chats.entities';
import { StampedOrgRow } from '../rows';

export const DECISION_KINDS = ['act', 'no_act', 'escalate'] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];
export const REVIEW_STATUSES = ['unreviewed', 'agreed', 'disputed', 'reverted'] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** What an agent decided in a chat, on which basis, and what a human thought of it. */
@Entity('decisions')
@Unique('decisions_call', ['turn_id', 'tool_call_id'])
@Index('decisions_agent', ['org_id', 'agent_id', 'id'])
// The live queue: what is archived piles up beside it. Of each, what a reader sees lies together; with the organization, so that whoever
// skips rows need not read them.
@Index('decisions_queue', ['agent_id', 'private_to', 'id', 'org_id'], { where: 'archived_at IS NULL' })
@Index('decisions_archive', ['agent_id', 'private_to', 'id', 'org_id'], { where: 'archived_at IS NOT NULL' })
@Index('decisions_review', ['agent_id', 'private_to', 'review_status', 'id'], { where: 'archived_at IS NULL' })
// What drafts are checked against, the archived ones too.
@Index('decisions_checked', ['agent_id', 'private_to', 'review_status', 'id'], {
  where: `review_status = 'agreed' OR (review_status = 'disputed' AND should_have IS NOT NULL)`,
})
@Index('decisions_deviations', ['agent_id', 'private_to', 'id'], { where: 'deviation' })
@Index('decisions_determinations', ['agent_id', 'private_to', 'id'], { where: 'determination' })
@Index('decisions_basis', ['agent_id', 'private_to', 'basis', 'id'])
@Index('decisions_chat', ['chat_id', 'id', 'org_id'])
@Index('decisions_kept', ['org_id', 'keep_days', 'created_at'], { where: 'keep_days >= 0' })
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@ForeignKey(() => Agent, ['org_id', 'agent_id'], ['org_id', 'id'])
@ForeignKey(() => AgentRevision, ['org_id', 'agent_revision_id'], ['org_id', 'id'])
@Check('decisions_kind', `kind IN ('act', 'no_act', 'escalate')`)
@Check('decisions_should_have_kind', `should_have_kind IN ('act', 'no_act', 'escalate')`)
@Check('decisions_review_status', `review_status IN ('unreviewed', 'agreed', 'disputed', 'reverted')`)
export class Decision extends StampedOrgRow {
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
  /** What kind it should have been, as a dispute said. */
  @Column('text', { nullable: true }) should_have_kind: DecisionKind | null;
  @Column('uuid', { nullable: true }) reviewed_by: string | null;
  @Column('timestamptz', { nullable: true }) reviewed_at: Date | null;
  @Column('timestamptz', { nullable: true }) archived_at: Date | null;
  /** The longest that a plan has kept it, of the one under which it was recorded and those since: a plan that falls takes none. -1 = for ever. */
  @Column('int', { default: 0 }) keep_days: number;
  /** Who sees it: as of its chat, kept by triggers. */
  @Column('uuid', { nullable: true }) private_to: string | null;
}

/** By what decisions are counted: who may see them, and what is looked for. */
abstract class DecisionCount {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid') org_id: string;
  @Column('uuid') agent_id: string;
  @Column('uuid') private_to: string;
  @Column('text') kind: string;
  @Column('text') review_status: string;
  @Column('boolean') deviation: boolean;
  @Column('boolean') determination: boolean;
  @Column('boolean') archived: boolean;
}

/** How many decisions an agent has made, by who may see them and what is looked for; see {@link DECISION_TALLY}. */
@Entity('decision_tallies')
@Index('decision_tallies_agent', ['agent_id', 'private_to'])
@Index('decision_tallies_appended', ['folded'], { where: 'NOT folded' })
export class DecisionTally extends DecisionCount {
  @Column('int') n: number;
  @Column('boolean', { default: false }) folded: boolean;
}

/** The same by what they cite, for groups; see {@link BASIS_TALLY}. */
@Entity('basis_tallies')
@Index('basis_tallies_agent', ['agent_id', 'private_to', 'basis'])
@Index('basis_tallies_appended', ['folded'], { where: 'NOT folded' })
export class BasisTally extends DecisionCount {
  @Column('text') basis: string;
  @Column('int') n: number;
  /** When the newest of them was made; null where one has gone, and the newest is to be looked for. */
  @Column('timestamptz', { nullable: true }) latest: Date | null;
  @Column('boolean', { default: false }) folded: boolean;
}
