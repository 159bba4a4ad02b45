import { Check, Column, Entity, ForeignKey, Index, DeleteDateColumn, Unique } from 'typeorm';
import { Environment } from '../environments/environments.entities';
import { Organization } from '../orgs/orgs.entities';
import { Project } from '../projects/projects.entities';
import { SharedBlock } from './shared-block.entity';
import { NamedRow } from '../orgs/owned-row.entity';
import { DatedOrgRow, DatedRow, OrgRow, StampedOrgRow, StampedRow } from '../rows';

/** Agents that work on the same things, and what they share. */
@Entity('agent_teams')
@Unique('agent_teams_org_id', ['org_id', 'id'])
@Index('agent_teams_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('agent_teams_org', ['org_id', 'display_order', 'id'], { where: 'deleted_at IS NULL' })
@Index('agent_teams_project', ['org_id', 'project_id', 'display_order', 'id'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
export class AgentTeam extends SharedBlock {
  @Column('text', { nullable: true }) avatar_seed: string | null;
  @Column('uuid', { nullable: true }) project_id: string | null;
}

/** An agent's draft: what the next sealed revision will be made of. What runs is the live revision. */
@Entity('agents')
@Unique('agents_org_id', ['org_id', 'id'])
@Index('agents_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('agents_org', ['org_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('agents_team', ['org_id', 'team_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('agents_project', ['org_id', 'project_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('agents_environment', ['environment_id'], { where: 'deleted_at IS NULL AND environment_id IS NOT NULL' })
@Index('agents_model', ['model'], { where: 'deleted_at IS NULL AND model IS NOT NULL' })
@Index('agents_live_revision', ['live_revision_id'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => AgentTeam, ['org_id', 'team_id'], ['org_id', 'id'])
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
@ForeignKey(() => Environment, ['org_id', 'environment_id'], ['org_id', 'id'])
export class Agent extends NamedRow {
  @Column('text', { nullable: true }) avatar_seed: string | null;
  @Column('uuid', { nullable: true }) team_id: string | null;
  @Column('uuid', { nullable: true }) project_id: string | null;
  @Column('text', { nullable: true }) model: string | null;
  @Column('text', { nullable: true }) model_mode: 'trivial' | 'normal' | 'high_effort' | 'x_high' | null;
  @Column('text', { nullable: true }) reasoning_effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | null;
  @Column('text', { array: true, default: () => "'{}'" }) allowed_tools: string[];
  @Column('text', { array: true, default: () => "'{}'" }) denied_tools: string[];
  @Column('text', { array: true, default: () => "'{}'" }) mounted_skills: string[];
  @Column('uuid', { array: true, default: () => "'{}'" }) knowledge_base_ids: string[];
  @Column('uuid', { nullable: true }) environment_id: string | null;
  @Column('uuid', { array: true, default: () => "'{}'" }) child_agent_ids: string[];
  @Column('int', { default: 50 }) max_steps: number;
  @Column('int', { default: 5 }) max_child_depth: number;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) budget_credits_per_period: string | null;
  @Column('boolean', { default: false }) memory_enabled: boolean;
  @Column('jsonb', { default: () => "'{}'" }) metadata: Record<string, unknown>;
  /** The revision that new turns run on, set by the live rollout. */
  @Column('uuid', { nullable: true }) live_revision_id: string | null;
  @Column('int', { default: 0 }) last_revision_version: number;
  @Column('int', { default: 0 }) last_instruction_version: number;
  /** Raised with every change of the instruction, draft or published; the token of optimistic saves. Never set back. */
  @Column('int', { default: 0 }) instruction_edit: number;
  /** Hash that a revision sealed now would get; it differs from the live revision's while there is something to deploy. */
  @Column('text', { nullable: true }) draft_hash: string | null;
}

/** A version of an agent's instruction. At most one draft and one active per agent. */
@Entity('instruction_revisions')
@Index('instruction_revisions_agent', ['agent_id', 'version'])
@Index('instruction_revisions_draft', ['agent_id'], { unique: true, where: `state = 'draft'` })
@Index('instruction_revisions_active', ['agent_id'], { unique: true, where: `state = 'active'` })
@ForeignKey(() => Agent, ['org_id', 'agent_id'], ['org_id', 'id'])
@Check('instruction_revisions_state', `state IN ('draft', 'active', 'superseded')`)
export class InstructionRevision extends StampedOrgRow {
  @Column('uuid') agent_id: string;
  /** Given when it is published; null for a draft. */
  @Column('int', { nullable: true }) version: number | null;
  @Column('text') state: 'draft' | 'active' | 'superseded';
  @Column('text') content: string;
  @Column('uuid', { nullable: true }) base_revision_id: string | null;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @Column('timestamptz', { nullable: true }) published_at: Date | null;
}

/** Everything that an agent was at one moment. Never changed, so workers may keep it in memory for ever. */
@Entity('agent_revisions')
@Unique('agent_revisions_org_id', ['org_id', 'id'])
@Unique('agent_revisions_version', ['agent_id', 'version'])
@ForeignKey(() => Agent, ['org_id', 'agent_id'], ['org_id', 'id'])
export class AgentRevision extends DatedOrgRow {
  @Column('uuid') agent_id: string;
  @Column('int') version: number;
  /** SHA-256 over the canonical JSON of the configuration, hex. */
  @Column('text') hash: string;
  @Column('jsonb') config: Record<string, unknown>;
  @Column('uuid', { nullable: true }) created_by: string | null;
}

/** A deployment of one revision, or an experiment between several. */
@Entity('rollouts')
@Unique('rollouts_org_id', ['org_id', 'id'])
@Index('rollouts_agent', ['agent_id', 'started_at'])
@Index('rollouts_running', ['agent_id'], { unique: true, where: `status = 'running'` })
@Index('rollouts_live', ['agent_id'], { unique: true, where: `status = 'live'` })
@ForeignKey(() => Agent, ['org_id', 'agent_id'], ['org_id', 'id'])
export class Rollout extends OrgRow {
  @Column('uuid') agent_id: string;
  @Column('text') kind: 'deploy' | 'experiment';
  @Column('text') status: 'live' | 'running' | 'superseded' | 'promoted' | 'stopped';
  @Column('text', { nullable: true }) label: string | null;
  @Column('text', { nullable: true }) hypothesis: string | null;
  @Column('text', { default: 'chat' }) unit: 'chat' | 'originator';
  @Column('text', { nullable: true }) control: string | null;
  @Column('int', { nullable: true }) min_sample: number | null;
  /** Weights are basis points. Of a draft that was sealed for this: its text is published where the arm is promoted. */
  @Column('jsonb') arms: { label: string; revision_id: string; version: number; weight: number; of_draft?: true }[];
  @Column('text', { nullable: true }) promoted_arm: string | null;
  /** The deployment that its end made. */
  @Column('uuid', { nullable: true }) deployed_rollout_id: string | null;
  @Column('uuid', { nullable: true }) started_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) started_at: Date;
  @Column('timestamptz', { nullable: true }) ended_at: Date | null;
}

/** Instructions an agent can mount. System skills belong to no organization and are read-only. */
@Entity('skills')
@Index('skills_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL AND org_id IS NOT NULL' })
@Index('skills_system_slug', ['slug'], { unique: true, where: 'deleted_at IS NULL AND org_id IS NULL' })
@Index('skills_project', ['org_id', 'project_id'], { where: 'deleted_at IS NULL AND project_id IS NOT NULL' })
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
export class Skill extends StampedRow {
  @ForeignKey(() => Organization) @Column('uuid', { nullable: true }) org_id: string | null;
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text') description: string;
  /** Markdown. */
  @Column('text') content: string;
  @Column('jsonb', { default: () => "'[]'" }) files: { file_id: string; filename?: string }[];
  @Column('uuid', { nullable: true }) project_id: string | null;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
}

/** Something to remember, owned by an agent, a team or a project. */
@Entity('memories')
@Index('memories_owner', ['org_id', 'owner_kind', 'owner_id', 'created_at'])
@Check('memories_owner_kind', `owner_kind IN ('agent', 'team', 'project')`)
export class Memory extends DatedRow {
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('text') owner_kind: 'agent' | 'team' | 'project';
  @Column('uuid') owner_id: string;
  @Column('text') content: string;
  @Column('text') source: 'human' | 'agent';
  @Column('uuid', { nullable: true }) created_by: string | null;
}
