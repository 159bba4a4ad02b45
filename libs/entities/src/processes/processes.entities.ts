import { Check, Column, DeleteDateColumn, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Organization } from '../orgs/orgs.entities';
import { Project } from '../projects/projects.entities';
import { DurableRun, type RunWait } from '../platform/durable-run.entity';
import { DatedOrgRow, OrgRow, StampedRow } from '../rows';

/** A workflow: what its revisions say, run after run. */
@Entity('processes')
@Unique('processes_org_id', ['org_id', 'id'])
@Index('processes_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('processes_org', ['org_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('processes_checked', ['stale_checked_at'], { where: 'deleted_at IS NULL AND current_revision_id IS NOT NULL' })
@Index('processes_project', ['org_id', 'project_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
export class Process {
  /** `prc_` and a ULID. */
  @PrimaryColumn('text') id: string;
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  /** Made of the first name, and stays: what grants name. */
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text') title: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('uuid', { nullable: true }) project_id: string | null;
  /** What has changed around it since its revision was deployed, such as `agent_deleted:…`. */
  @Column('text', { nullable: true }) stale_reason: string | null;
  /** When it was last looked at whether all is as it was. */
  @Column('timestamptz', { default: () => 'now()' }) stale_checked_at: Date;
  /** The revision that is deployed. */
  @Column('uuid', { nullable: true }) current_revision_id: string | null;
  @Column('int', { default: 0 }) last_version: number;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** A tool as it was when a revision that calls it was deployed. */
export interface PinnedTool {
  tool_slug: string;
  connection_id: string | null;
  input_schema: Record<string, unknown>;
  access_level: 'read' | 'write' | 'destructive';
  schema_sha256: string;
  listed_at: string;
}

/** A definition of a process. It never changes. */
@Entity('process_revisions')
@Unique('process_revisions_org_id', ['org_id', 'id'])
@Unique('process_revisions_version', ['process_id', 'version'])
@Index('process_revisions_deployed', ['process_id'], { unique: true, where: `status = 'deployed'` })
@ForeignKey(() => Process, ['org_id', 'process_id'], ['org_id', 'id'])
@Check('process_revisions_status', `status IN ('draft', 'deployed', 'archived')`)
export class ProcessRevision extends DatedOrgRow {
  @Column('text') process_id: string;
  @Column('int') version: number;
  @Column('text', { default: 'draft' }) status: 'draft' | 'deployed' | 'archived';
  /** SHA-256, in hex, of the canonical JSON of definition and SOP. */
  @Column('text') hash: string;
  @Column('jsonb') definition: Record<string, unknown>;
  @Column('text', { nullable: true }) sop_text: string | null;
  /** Null until it is deployed. */
  @Column('jsonb', { nullable: true }) tool_snapshot: PinnedTool[] | null;
  /** What it names, since it was deployed: `agent:`, `template:` or `process:` and an id, `model:` and a key. */
  @Column('text', { array: true, default: () => "'{}'" }) refs: string[];
  /** Ids of the agents, templates and processes among them, by what the definition calls each (`agent:payroll`): their slugs may be others' since. */
  @Column('jsonb', { default: () => "'{}'" }) meant: Record<string, string>;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @Column('uuid', { nullable: true }) deployed_by: string | null;
  @Column('timestamptz', { nullable: true }) deployed_at: Date | null;
}

export type ProcessRunEnd = 'completed' | 'flagged' | 'failed' | 'cancelled';
/** A run as it is shown: one that waits for time, an event or another run is `running`. */
export type ProcessRunState = 'queued' | 'running' | 'waiting_human' | ProcessRunEnd;
export type RunSourceKind = 'api' | 'inbox' | 'agent' | 'process' | 'schedule' | 'restart';

/** A process at work. Its journal stands in {@link ProcessStepRow}. */
@Entity('process_runs')
@Unique('process_runs_org_id', ['org_id', 'id'])
@Index('process_runs_owned', ['org_id'], { where: 'lease_owner IS NOT NULL' })
@Index('process_runs_waiting', ['org_id'], { where: `status = 'waiting' AND finished_at IS NULL` })
@Index('process_runs_parked', ['org_id', 'dispatched_at'], { where: 'parked' })
@Index('process_runs_process', ['process_id', 'created_at', 'id'])
@Index('process_runs_by_state', ['process_id', 'state', 'created_at', 'id'])
@Index('process_runs_parent', ['parent_run_id'], { where: 'parent_run_id IS NOT NULL' })
@Index('process_runs_restarted', ['restarted_from'], { where: 'restarted_from IS NOT NULL' })
// Each a small one: however many wait, those at work are few.
@Index('process_runs_key', ['process_id', 'concurrency_key', 'id'], {
  where: 'concurrency_key IS NOT NULL AND finished_at IS NULL AND admitted',
})
@Index('process_runs_behind', ['process_id', 'concurrency_key', 'id'], {
  where: 'concurrency_key IS NOT NULL AND finished_at IS NULL AND NOT admitted',
})
@Index('process_runs_idempotent', ['process_id', 'idempotency_key', 'created_at'], { where: 'idempotency_key IS NOT NULL' })
@Index('process_runs_held', ['org_id', 'process_id'], { where: 'NOT admitted AND finished_at IS NULL' })
@ForeignKey(() => Process, ['org_id', 'process_id'], ['org_id', 'id'])
@ForeignKey(() => ProcessRevision, ['org_id', 'revision_id'], ['org_id', 'id'])
@Check('process_runs_status', `status IN ('queued', 'running', 'waiting', 'completed', 'flagged', 'failed', 'cancelled')`)
@Check('process_runs_over', `(status IN ('completed', 'flagged', 'failed', 'cancelled')) = (finished_at IS NOT NULL)`)
export class ProcessRun extends DurableRun<'queued' | 'running' | 'waiting' | ProcessRunEnd, RunWait> {
  @Column('text') process_id: string;
  @Column('uuid') revision_id: string;
  /** Of what it runs, should the row of the revision ever say something else. */
  @Column('text') revision_hash: string;
  @Column('int') revision_version: number;
  @Column('text', { nullable: true }) label: string | null;
  /** As JSON text, so that its keys and numbers stay as they came. */
  @Column('text') envelope: string;
  @Column('text') source_kind: RunSourceKind;
  @Column('text', { nullable: true }) source_ref_id: string | null;
  @Column('uuid', { nullable: true }) user_id: string | null;
  @Column('uuid', { nullable: true }) restarted_from: string | null;
  /** Of its process: whoever begins one with the same key within a day gets this one. */
  @Column('text', { nullable: true }) idempotency_key: string | null;
  /** SHA-256, in hex, of what it was begun with under that key. */
  @Column('text', { nullable: true }) request_sha256: string | null;
  /** Whose step it is. */
  @Column('uuid', { nullable: true }) parent_run_id: string | null;
  @Column('uuid', { nullable: true }) parent_step_id: string | null;
  @Column('uuid') root_run_id: string;
  /** How many runs are above it. */
  @Column('int', { default: 0 }) depth: number;
  /** Runs of a process with the same one do not all run at once. */
  @Column('text', { nullable: true }) concurrency_key: string | null;
  @Column('int', { nullable: true }) concurrency_limit: number | null;
  /** False while others of its key have to end before it begins. */
  @Column('boolean', { default: true }) admitted: boolean;
  /** The lower of what its definition and its caller allow. */
  @Column('numeric', { nullable: true }) budget_credits: string | null;
  /** What its caller does, for who does it again on another definition. */
  @Column('numeric', { nullable: true }) asked_credits: string | null;
  @Column('numeric', { nullable: true }) cost_usd: string | null;
  @Column('numeric', { default: 0 }) cost_credits: string;
  @Column('jsonb', { nullable: true }) output: unknown;
  @Column('text', { nullable: true }) flag_reason: string | null;
  /** Whether a step of it waits for a human. */
  @Column('boolean', { default: false }) asks_human: boolean;
  /** What is shown of its status; a trigger keeps it. */
  @Column('text', { default: 'queued' }) state: ProcessRunState;
  /** How often something from outside has come for it: its owner commits nothing without having seen that. */
  @Column('int', { default: 0 }) wakes: number;
  /** Of the newest event of its topic. */
  @Column('int', { default: 0 }) event_seq: number;
  /** So many bytes does its journal take in the memory of who goes on with it, about. */
  @Column('int', { default: 0 }) held_bytes: number;
  /** Of the engine that it was begun by. */
  @Column('text', { default: '1' }) engine_version: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

export type StepStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'skipped' | 'cancelled' | 'outcome_unknown';

/** What went wrong with a step, or a run. */
export interface StepError {
  code: string;
  message: string;
  retryable: boolean;
}

/** What a step that waited has got from outside; written once, by who brings it. */
export type Resolution =
  | { kind: 'signal'; payload: unknown }
  | { kind: 'answer'; answer: Record<string, unknown>; answered_by: string | null }
  | { kind: 'unanswered' }
  | { kind: 'chat'; text: string | null; error: StepError | null }
  | { kind: 'run'; output: unknown; error: StepError | null };

/** A try of a step of a run: a line of its journal. */
@Entity('process_steps')
@Unique('process_steps_attempt', ['run_id', 'path', 'attempt'])
@Index('process_steps_chat', ['chat_id'], { where: 'chat_id IS NOT NULL' })
@Index('process_steps_waiting_chat', ['run_id'], { where: `status = 'waiting' AND chat_id IS NOT NULL` })
@ForeignKey(() => ProcessRun, ['org_id', 'run_id'], ['org_id', 'id'])
@Check('process_steps_status', `status IN ('running', 'waiting', 'completed', 'failed', 'skipped', 'cancelled', 'outcome_unknown')`)
export class ProcessStepRow extends OrgRow {
  @Column('uuid') run_id: string;
  /** 1, 2, 3 … in the order in which they were begun. */
  @Column('int') seq: number;
  @Column('text') path: string;
  @Column('text', { nullable: true }) parent_path: string | null;
  @Column('text') step_id: string;
  @Column('text') kind: string;
  @Column('int') attempt: number;
  @Column('text') status: StepStatus;
  /** Of a call of another side: whether it may have gone out. */
  @Column('text', { nullable: true }) noted: 'intent' | 'sent' | null;
  @Column('jsonb', { nullable: true }) input: unknown;
  @Column('jsonb', { nullable: true }) output: unknown;
  @Column('jsonb', { nullable: true }) error: StepError | null;
  @Column('jsonb', { nullable: true }) resolution: Resolution | null;
  @Column('text', { nullable: true }) note: string | null;
  /** The name of the signal that it waits for. */
  @Column('text', { nullable: true }) event: string | null;
  @Column('timestamptz', { nullable: true }) waiting_until: Date | null;
  @Column('uuid', { nullable: true }) child_run_id: string | null;
  @Column('uuid', { nullable: true }) chat_id: string | null;
  @Column('uuid', { nullable: true }) hitl_request_id: string | null;
  @Column('timestamptz') started_at: Date;
  @Column('timestamptz', { nullable: true }) finished_at: Date | null;
}

/** Something that a run was told from outside, under a name. One wait of that name takes it. */
@Entity('process_signals')
@Index('process_signals_open', ['run_id', 'name', 'id'], { where: 'consumed_by IS NULL' })
@ForeignKey(() => ProcessRun, ['org_id', 'run_id'], ['org_id', 'id'])
export class ProcessSignal extends DatedOrgRow {
  @Column('uuid') run_id: string;
  @Column('text') name: string;
  @Column('jsonb', { nullable: true }) payload: unknown;
  @Column('uuid', { nullable: true }) sent_by: string | null;
  /** The step that has taken it. */
  @Column('uuid', { nullable: true }) consumed_by: string | null;
}

/** Tokens of a call, as its model counts them. */
export type CallTokens = Record<'input' | 'cached_input' | 'cache_write' | 'output' | 'reasoning', number>;

/** A call of a model that a step of a run has made. */
@Entity('process_llm_calls')
@Index('process_llm_calls_run', ['run_id', 'id'])
@ForeignKey(() => ProcessRun, ['org_id', 'run_id'], ['org_id', 'id'])
export class ProcessLlmCall extends DatedOrgRow {
  @Column('uuid') run_id: string;
  @Column('text') step_id: string;
  @Column('text') path: string;
  @Column('text', { nullable: true }) model_requested: string | null;
  @Column('text', { nullable: true }) model_resolved: string | null;
  @Column('text', { nullable: true }) route: string | null;
  @Column('jsonb', { nullable: true }) tokens: CallTokens | null;
  @Column('numeric', { nullable: true }) cost_usd: string | null;
  @Column('numeric', { default: 0 }) cost_credits: string;
  @Column('int', { nullable: true }) duration_ms: number | null;
  @Column('text') status: 'succeeded' | 'failed';
  @Column('jsonb') request_messages: unknown;
  @Column('jsonb') response_messages: unknown;
  @Column('jsonb', { default: () => "'[]'" }) tools: unknown;
  @Column('jsonb', { nullable: true }) error: StepError | null;
}

/** A turn of an agent that a step of a run waits for, or the drawing of its output out of what the agent has said. */
@Entity('process_agent_calls')
@Index('process_agent_calls_run', ['run_id', 'id'])
@ForeignKey(() => ProcessRun, ['org_id', 'run_id'], ['org_id', 'id'])
export class ProcessAgentCall extends DatedOrgRow {
  @Column('uuid') run_id: string;
  @Column('text') step_id: string;
  @Column('text') path: string;
  @Column('text') kind: 'turn' | 'distill';
  @Column('uuid', { nullable: true }) chat_id: string | null;
  @Column('uuid', { nullable: true }) turn_id: string | null;
  @Column('int', { nullable: true }) turn_no: number | null;
  @Column('jsonb', { nullable: true }) tokens: CallTokens | null;
  @Column('numeric', { nullable: true }) cost_usd: string | null;
  @Column('numeric', { default: 0 }) cost_credits: string;
  @Column('text') status: 'succeeded' | 'failed';
  @Column('jsonb', { default: () => "'[]'" }) messages: unknown;
  @Column('jsonb', { nullable: true }) result: unknown;
}

/** A try of a model to mend the arguments of a call that was refused. */
@Entity('process_repairs')
@Index('process_repairs_run', ['run_id', 'id'])
@ForeignKey(() => ProcessRun, ['org_id', 'run_id'], ['org_id', 'id'])
export class ProcessRepair extends DatedOrgRow {
  @Column('uuid') run_id: string;
  @Column('text') step_id: string;
  @Column('text') path: string;
  @Column('text') tool_slug: string;
  @Column('int') attempt: number;
  /** What the tool has said. */
  @Column('text') error: string;
  @Column('boolean') fixable: boolean;
  @Column('text', { nullable: true }) reason: string | null;
  /** RFC 6902, limited to the arguments. */
  @Column('jsonb', { default: () => "'[]'" }) payload_diff: unknown;
  @Column('jsonb', { nullable: true }) tokens: CallTokens | null;
  @Column('numeric', { nullable: true }) cost_usd: string | null;
  @Column('numeric', { default: 0 }) cost_credits: string;
  @Column('jsonb') request: unknown;
  @Column('jsonb', { nullable: true }) response: unknown;
}

/** Begins a chat of an agent, or a run of a process, at given times. */
@Entity('schedules')
@Unique('schedules_org_id', ['org_id', 'id'])
@Index('schedules_org', ['org_id', 'created_at', 'id'])
@Index('schedules_due', ['next_run_at'], { where: 'enabled AND next_run_at IS NOT NULL' })
@Index('schedules_target', ['target_id'])
@Index('schedules_waiting', ['waits_since'], { where: 'waits_since IS NOT NULL' })
@Check('schedules_target_kind', `target_kind IN ('agent', 'process')`)
@Check('schedules_overlap', `overlap IN ('skip', 'queue', 'allow')`)
@Check('schedules_catch_up', `catch_up IN ('none', 'one')`)
export class Schedule extends StampedRow {
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('text') name: string;
  @Column('text') target_kind: 'agent' | 'process';
  @Column('text') target_id: string;
  /** Five fields. */
  @Column('text') cron: string;
  /** IANA. */
  @Column('text') timezone: string;
  @Column('jsonb', { default: () => "'{}'" }) payload: Record<string, unknown>;
  @Column('boolean', { default: true }) enabled: boolean;
  @Column('text', { default: 'skip' }) overlap: 'skip' | 'queue' | 'allow';
  @Column('text', { default: 'none' }) catch_up: 'none' | 'one';
  @Column('timestamptz', { nullable: true }) next_run_at: Date | null;
  /** A firing waits since then for the last one to be over. */
  @Column('timestamptz', { nullable: true }) waits_since: Date | null;
  /** The last firing that has begun something, or was refused to; what became of what it has begun is asked there. */
  @Column('jsonb', { nullable: true }) last_run: { id: string | null; at: string; status: string } | null;
  @Column('uuid', { nullable: true }) created_by: string | null;
}
