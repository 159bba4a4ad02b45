import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { SharedBlock } from '../agents/shared-block.entity';

/** Resources of an organization that belong together, and what they share. */
@Entity('projects')
@Unique('projects_org_id', ['org_id', 'id'])
@Index('projects_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('projects_org', ['org_id', 'display_order', 'id'], { where: 'deleted_at IS NULL' })
export class Project extends SharedBlock {
  @Column('text', { nullable: true }) color: string | null;
  @Column('text', { nullable: true }) icon: string | null;
}

/** Where the rows are that may be in a project, by what they are there; in the order in which they are locked. */
export const IN_PROJECTS = {
  agent_team: 'agent_teams',
  agent: 'agents',
  connection: 'connections',
  inbox: 'inboxes',
  knowledge_base: 'knowledge_bases',
  process: 'processes',
  prompt_template: 'prompt_templates',
  skill: 'skills',
} as const;

/** What the ids of such a table are. */
export const idTypeOf = (table: string): 'text' | 'uuid' => (table === 'inboxes' || table === 'processes' ? 'text' : 'uuid');

/** Columns by which a resource of such a table belongs to somebody alone. */
export const PRIVATE_IN_PROJECTS: Partial<Record<string, readonly string[]>> = { connections: ['scope', 'owner_user_id'] };

/** Since when a live resource is in its project. Follows, by triggers, from the `project_id` of the resource's own row. */
@Entity('project_resources')
@Index('project_resources_project', ['org_id', 'project_id', 'private_to', 'added_at', 'ref'])
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
export class ProjectResource {
  /** Type and id, e.g. `process:prc_…`. */
  @PrimaryColumn('text') ref: string;
  @Column('uuid') org_id: string;
  @Column('uuid') project_id: string;
  @Column('text') entity_type: keyof typeof IN_PROJECTS;
  @Column('text') entity_id: string;
  /** Who alone sees it. The nil UUID: every member; the last one: who did has left. */
  @Column('uuid') private_to: string;
  @Column('timestamptz') added_at: Date;
}
