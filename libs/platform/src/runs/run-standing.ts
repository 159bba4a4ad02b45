import type { RunSurroundings } from './run-standing.sql';

/** Where a run stands: who has it, and what comes before it. */
export interface RunStanding {
  lease: { worker: string | null; expires_at: Date; fence: string } | null;
  /** Null once it has begun. */
  queue: { position: number; oldest_ahead_s: number } | null;
}

interface Run {
  status: string;
  lease_owner: string | null;
  lease_expires_at: Date | null;
  fence: string;
}

export const standingOf = (run: Run & Pick<RunSurroundings, 'ahead' | 'oldest_ahead_s'>): RunStanding => ({
  lease:
    run.status === 'running' && run.lease_expires_at
      ? { worker: run.lease_owner, expires_at: run.lease_expires_at, fence: run.fence }
      : null,
  queue: run.status === 'queued' ? { position: run.ahead, oldest_ahead_s: Math.max(0, Math.round(run.oldest_ahead_s ?? 0)) } : null,
});
