import { standingOf, type RunStanding, type RunSurroundings } from '@aps/platform/runs';
import type { SourceView } from '../knowledge.queries';
import type { SourceState } from '../sources.sql';

export const SOURCE_BLOCKED_BY = ['cap', 'lease', 'org_suspended', 'source', 'fault'] as const;
export const SOURCE_NEXT_ACTIONS = ['wait', 'resync', 'replace', 'unsuspend'] as const;

/** Why a source does what it does. */
export interface SourceDiagnosis extends RunStanding {
  state: SourceState;
  blocked_by: { kind: (typeof SOURCE_BLOCKED_BY)[number]; since: Date | null; ref: string | null } | null;
  next_action: (typeof SOURCE_NEXT_ACTIONS)[number] | null;
  allowed_actions: string[];
}

/** A source as its rows tell, without any queue being asked. */
export interface SourceFacts extends SourceView, RunSurroundings {
  org_suspended_at: Date | null;
}

/** What may be no fault of the source, and gone the next time. */
export const PASSING: readonly string[] = ['fetch_failed', 'timeout', 'internal', 'worker_lost'];

/** @returns what keeps a source from being indexed, and what would have it go on */
export function diagnosisOf(s: SourceFacts): SourceDiagnosis {
  const by = blockedBy(s);
  return {
    state: s.state,
    blocked_by: by,
    ...standingOf(s),
    next_action: nextAction(s, by),
    allowed_actions: ['resync', 'delete'],
  };
}

function blockedBy(s: SourceFacts): SourceDiagnosis['blocked_by'] {
  if (s.status === 'failed')
    return { kind: PASSING.includes(s.error?.code ?? '') ? 'fault' : 'source', since: s.finished_at, ref: s.error?.code ?? null };
  if (s.status === 'ready') return null;
  if (s.org_suspended_at) return { kind: 'org_suspended', since: s.org_suspended_at, ref: s.org_id };
  if (s.status === 'running' && s.lease_expired) return { kind: 'lease', since: s.lease_expires_at, ref: s.lease_owner };
  return s.parked ? { kind: 'cap', since: s.dispatched_at, ref: null } : null;
}

function nextAction({ status }: SourceFacts, by: SourceDiagnosis['blocked_by']): SourceDiagnosis['next_action'] {
  if (by?.kind === 'org_suspended') return 'unsuspend';
  if (status === 'failed') return by?.kind === 'fault' ? 'resync' : 'replace';
  return status === 'ready' ? null : 'wait';
}
