import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Chat } from '../chats/chats.entities';
import { Project } from '../projects/projects.entities';
import { NamedRow } from '../orgs/owned-row.entity';
import { DatedOrgRow, StampedOrgRow } from '../rows';

/** A value that a structured prompt extracts, as templates keep it: what its type does not use is absent. */
export interface PromptField {
  name: string;
  type: 'string' | 'number' | 'integer' | 'boolean' | 'date' | 'datetime' | 'enum' | 'array' | 'object';
  description: string | null;
  required: boolean;
  enum_values?: string[];
  items?: PromptField;
  fields?: PromptField[];
}

/** A prompt that is kept to be run again. What it says is its revision of the same `version`. */
@Entity('prompt_templates')
@Unique('prompt_templates_org_id', ['org_id', 'id'])
@Index('prompt_templates_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('prompt_templates_org', ['org_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('prompt_templates_project', ['org_id', 'project_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
@Index('prompt_templates_model', ['model'], { where: 'deleted_at IS NULL AND model IS NOT NULL' })
@Check('prompt_templates_file_input_mode', `file_input_mode IN ('auto', 'image', 'text', 'both')`)
export class PromptTemplate extends NamedRow {
  @Column('text', { nullable: true }) model: string | null;
  @Column('text', { nullable: true }) reasoning_effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | null;
  @Column('text', { default: 'auto' }) file_input_mode: 'auto' | 'image' | 'text' | 'both';
  @Column('text', { array: true, default: () => "'{}'" }) tags: string[];
  @Column('uuid', { nullable: true }) project_id: string | null;
  /** Of the current revision. */
  @Column('int') version: number;
}

/** What a template said from one change to the next. Never changed. */
@Entity('prompt_revisions')
@Unique('prompt_revisions_org_id', ['org_id', 'id'])
@Unique('prompt_revisions_version', ['template_id', 'version'])
@ForeignKey(() => PromptTemplate, ['org_id', 'template_id'], ['org_id', 'id'])
export class PromptRevision extends DatedOrgRow {
  @Column('uuid') template_id: string;
  @Column('int') version: number;
  @Column('text', { nullable: true }) text: string | null;
  /** What is extracted; empty: the answer is plain text. */
  @Column('jsonb', { default: () => "'[]'" }) fields: PromptField[];
  @Column('text', { nullable: true }) post_processing_instructions: string | null;
  /** Which of the three differ from the revision before. */
  @Column('text', { array: true }) changed: ('text' | 'fields' | 'post_processing_instructions')[];
  @Column('uuid', { nullable: true }) created_by: string | null;
}

/** One time that a template was run. */
@Entity('prompt_runs')
@Index('prompt_runs_template', ['template_id', 'id'])
@Index('prompt_runs_call', ['org_id', 'call_key'], { where: 'call_key IS NOT NULL' })
// What is still to be forgotten of them.
@Index('prompt_runs_kept', ['created_at'], { where: 'input_preview IS NOT NULL OR output IS NOT NULL OR data IS NOT NULL' })
@Index('prompt_runs_held', ['held_until'], { where: `status = 'running'` })
@ForeignKey(() => PromptTemplate, ['org_id', 'template_id'], ['org_id', 'id'])
@ForeignKey(() => PromptRevision, ['org_id', 'revision_id'], ['org_id', 'id'])
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@Check('prompt_runs_source', `source IN ('test', 'agent', 'process')`)
@Check('prompt_runs_status', `status IN ('running', 'succeeded', 'failed', 'cancelled')`)
export class PromptRun extends StampedOrgRow {
  @Column('uuid') template_id: string;
  @Column('uuid') revision_id: string;
  @Column('text') source: 'test' | 'agent' | 'process';
  @Column('text') status: 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** Of an agent's run: who sees the chat sees what was read and answered. */
  @Column('uuid', { nullable: true }) chat_id: string | null;
  /** The call that it answers, where that may be made again. */
  @Column('text', { nullable: true }) call_key: string | null;
  /** Key of the model that answers. */
  @Column('text') model: string;
  @Column('text', { nullable: true }) input_preview: string | null;
  @Column('text', { nullable: true }) output: string | null;
  @Column('jsonb', { nullable: true }) data: Record<string, unknown> | null;
  @Column('jsonb', { nullable: true }) usage: Record<'input' | 'cached_input' | 'cache_write' | 'output' | 'reasoning', number> | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) cost_usd: string | null;
  @Column('numeric', { precision: 20, scale: 6, default: 0 }) cost_credits: string;
  @Column('int', { nullable: true }) duration_ms: number | null;
  /** `retryable`: the same may come to an answer later. */
  @Column('jsonb', { nullable: true }) error: { code: string; message: string; retryable?: boolean } | null;
  @Column('uuid', { nullable: true }) created_by: string | null;
  /** Until then its process is believed to be at work on it. */
  @Column('timestamptz') held_until: Date;
}
