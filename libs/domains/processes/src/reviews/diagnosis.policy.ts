import type { ProcessRun, ProcessRunState, StepError, StepStatus } from '@aps/entities';
import { isRouteError } from '@aps/inference';
import type { RunStanding } from '@aps/platform/runs';
import { isUnbegun, type JournalRow } from '../engine/journal';

/** What keeps runs, what people have to do first. */
export const RUN_BLOCKED_BY = [
  'human',
  'outcome_unknown',
  'timer',
  'event',
  'child_run',
  'child',
  'concurrency',
  'cap',
  'credits',
  'budget',
  'route',
  'lease',
  'org_suspended',
] as const;

/** Why a run does what it does. */
export interface RunDiagnosis extends RunStanding {
  state: ProcessRunState;
  blocked_by: { kind: (typeof RUN_BLOCKED_BY)[number]; since: Date | null; ref: string | null } | null;
  last_step: { path: string; status: StepStatus; error: StepError | null } | null;
  next_action: string | null;
  allowed_actions: string[];
}

/** A step that is not over, as far as it says why its run waits. */
export type OpenStep = Pick<
  JournalRow,
  'path' | 'kind' | 'status' | 'started_at' | 'waiting_until' | 'event' | 'chat_id' | 'child_run_id' | 'hitl_request_id' | 'resolution'
>;

/** A run as its rows tell, without any queue being asked. */
export interface RunFactsNow extends Pick<
  ProcessRun,
  | 'org_id'
  | 'status'
  | 'state'
  | 'parked'
  | 'admitted'
  | 'concurrency_key'
  | 'dispatched_at'
  | 'lease_owner'
  | 'lease_expires_at'
  | 'finished_at'
  | 'error'
> {
  lease_expired: boolean;
  org_suspended_at: Date | null;
  /** Steps that are not over. */
  open: OpenStep[];
}

type BlockedBy = NonNullable<RunDiagnosis['blocked_by']>;

/** Why a run does not go on by itself at this moment; null when nothing is in its way, or nothing is to be done. */
export function runBlockedBy(run: RunFactsNow): BlockedBy | null {
  if (run.finished_at) return endedBy(run);
  if (run.org_suspended_at) return { kind: 'org_suspended', since: run.org_suspended_at, ref: run.org_id };
  if (!run.admitted) return { kind: 'concurrency', since: run.dispatched_at, ref: run.concurrency_key };
  if (run.status === 'running' && run.lease_expired) return { kind: 'lease', since: run.lease_expires_at, ref: run.lease_owner };
  if (run.parked) return { kind: 'cap', since: run.dispatched_at, ref: null };
  if (run.status !== 'waiting') return null;
  const waits = run.open.map(waitOf).filter((by) => by !== null);
  // What a human has to do comes first: nobody else will.
  return waits.sort((a, b) => rankOf(a) - rankOf(b) || since(a) - since(b))[0] ?? null;
}

function waitOf(row: OpenStep): BlockedBy | null {
  const since = row.started_at;
  if (row.status === 'outcome_unknown') return { kind: 'outcome_unknown', since, ref: row.hitl_request_id ?? row.path };
  if (row.status !== 'waiting' || row.resolution !== null) return null;
  switch (row.kind) {
    case 'human':
      return { kind: 'human', since, ref: row.hitl_request_id };
    case 'agent':
      return { kind: isUnbegun(row) ? 'cap' : 'child', since, ref: row.chat_id };
    case 'process':
      return { kind: 'child_run', since, ref: row.child_run_id };
    default:
      return row.event === null
        ? { kind: 'timer', since, ref: row.waiting_until?.toISOString() ?? null }
        : { kind: 'event', since, ref: row.event };
  }
}

function endedBy({ error, finished_at: since }: RunFactsNow): BlockedBy | null {
  if (error?.code === 'credits_exhausted') return { kind: 'credits', since, ref: error.code };
  if (error?.code === 'budget_exceeded') return { kind: 'budget', since, ref: error.code };
  return error && isRouteError(error.code) ? { kind: 'route', since, ref: error.code } : null;
}

const rankOf = ({ kind }: BlockedBy): number => RUN_BLOCKED_BY.indexOf(kind);
const since = (by: BlockedBy): number => by.since?.getTime() ?? 0;

/** What a person would do next to have it go on, or be done after all; null where there is nothing. */
export function runNextAction(run: RunFactsNow, by: BlockedBy | null): string | null {
  switch (by?.kind) {
    case 'human':
    case 'outcome_unknown':
      return 'answer';
    case 'event':
      return 'signal';
    case 'org_suspended':
      return 'unsuspend';
    case 'credits':
      return 'add_credits';
    case 'budget':
      return 'raise_budget';
    case 'route':
      return 'fix_route';
  }
  if (!run.finished_at) return 'wait';
  return run.state === 'completed' ? null : 'restart';
}

/** @param mayAnswer what it asks */
export const runAllowedActions = ({ finished_at }: RunFactsNow, mayAnswer: boolean): string[] =>
  finished_at ? ['restart'] : ['cancel', 'signal', ...(mayAnswer ? ['answer'] : [])];
