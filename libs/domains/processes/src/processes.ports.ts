import type { ProcessRun, ProcessRunState, ProcessSignal, StepError, StepStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';

/** What a run is begun with. */
export interface NewRun {
  input: Record<string, unknown>;
  attachments?: { file_id: string }[];
  label?: string | null;
  /** The same one begins nothing more within a day, whoever of the process's callers says it. */
  idempotency_key?: string | null;
  budget_credits?: string | null;
}

/** Begins runs of processes. */
export abstract class RunStarts {
  /**
   * @returns the run, and whether an earlier call with the same key has begun it
   * @throws DomainError `not_found`; 409 where nothing is deployed; 422 where the input does not fit
   */
  abstract start(scope: OrgScope, processId: string, run: NewRun): Promise<{ run: ProcessRun; replayed: boolean }>;
}

export interface Cancelled {
  run_id: string;
  /** False where it was over already. */
  cancelled: boolean;
  status: ProcessRunState;
}

/** Acts on runs that are there. */
export abstract class RunControl {
  /** @throws DomainError `not_found` */
  abstract cancel(scope: OrgScope, processId: string, runId: string): Promise<Cancelled>;
  /** @param from.from_step a top-level step to begin with @returns the new run */
  abstract restart(scope: OrgScope, processId: string, runId: string, from: { from_step?: string | null }): Promise<ProcessRun>;
  abstract signal(scope: OrgScope, processId: string, runId: string, signal: { name: string; payload?: unknown }): Promise<ProcessSignal>;
  /** Cancels all live runs of a process whose row is locked, in the transaction that deletes it. */
  abstract cancelOf(tx: Tx, orgId: string, processId: string): Promise<void>;
}

export interface SimulatedStep {
  path: string;
  kind: string;
  status: StepStatus;
  source: 'computed' | 'recorded' | 'stubbed';
  input: unknown;
  output: unknown;
}

/** What a run of a revision would be. */
export interface ProcessSimulation {
  status: ProcessRunState;
  output: unknown;
  error: StepError | null;
  steps: SimulatedStep[];
  diverged_at: string | null;
}

/** Whether today's code does what a journal has. */
export interface ReplayCheck {
  deterministic: boolean;
  engine_version: string;
  compared: number;
  first_divergence: { path: string; field: string; recorded: unknown; computed: unknown } | null;
}

/** Why a run does what it does. */
export interface RunDiagnosis {
  state: ProcessRunState;
  blocked_by: { kind: string; since: Date | null; ref: string | null } | null;
  lease: { worker: string | null; expires_at: Date; fence: string } | null;
  queue: { position: number; oldest_ahead_s: number } | null;
  last_step: { path: string; status: StepStatus; error: StepError | null } | null;
  next_action: string | null;
  allowed_actions: string[];
}

/** Looks at runs without an effect. */
export abstract class RunReviews {
  abstract simulate(
    scope: OrgScope,
    processId: string,
    revisionId: string,
    of: { input?: Record<string, unknown> | null; run_id?: string | null },
  ): Promise<ProcessSimulation>;
  abstract replayCheck(scope: OrgScope, processId: string, runId: string): Promise<ReplayCheck>;
  abstract diagnose(scope: OrgScope, processId: string, runId: string): Promise<RunDiagnosis>;
}
