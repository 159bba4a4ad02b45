import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { counter, gauge } from '@aps/platform/observability';
import { runtimeConfig } from '@aps/platform/runtime';
import { RunOwner } from './run-owner';
import type { RunRows } from './run-rows';
import { LEASE_S } from './run.sql';

const HEARTBEAT_MS = 5_000;
/** So long after it was kept, a lease is surely held, though one heartbeat may have passed it over. */
const SURE_MS = LEASE_S * 1_000 - HEARTBEAT_MS;
/** What is left of the shutdown grace for writing down where a run stands. */
const HAND_BACK_MS = 3_000;

/** Why a held run must end here. */
export type AbortReason = 'stopped' | 'lost' | 'shutdown' | 'org_suspended';

/** Thrown inside a run whose lease ends. */
export class LeaseEnded extends Error {
  constructor(readonly reason: AbortReason) {
    super(`The run ends here: ${reason}`);
    this.name = 'LeaseEnded';
  }
}

/** A run while this process owns it. */
export interface Lease {
  /** Aborts with a {@link LeaseEnded} when the run must end here. */
  readonly signal: AbortSignal;
  /**
   * To be called before each step: none is begun by a process that is about to end.
   *
   * @throws LeaseEnded
   */
  requireNext(): void;
  /**
   * To be called right before what must not be done by two. A process that stood still, and does not know so yet, may have got the word that it
   * may go on long ago.
   *
   * @throws LeaseEnded
   */
  requireHeld(): void;
  release(): void;
}

interface Held extends Lease {
  readonly rows: RunRows;
  readonly id: string;
  readonly fence: string;
  readonly controller: AbortController;
  /** When its claim was committed. */
  since: number;
  /** When its claim, or the newest heartbeat, was begun. */
  kept: number;
}

const lost = counter('lease_lost_total', 'Runs that this process lost to a stop, another owner or its own silence', ['kind', 'reason']);

/**
 * Keeps the leases of the runs that are at work in this process, all of a kind with one statement every five seconds, and ends a run at
 * once when its lease is no longer ours. What the database says is the truth; the broadcast of a stop only makes it fast.
 */
@Injectable()
export class RunLeases implements OnApplicationShutdown {
  private readonly logger = new Logger('RunLeases');
  private readonly held = new Map<string, Held>();
  private readonly kinds = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private lastBeat = performance.now();
  private draining = false;

  constructor(
    private readonly db: Database,
    private readonly owner: RunOwner,
  ) {
    this.timer = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
    gauge('runs_running', 'Runs that are at work in this process', ['kind'], (g) => {
      const held = [...this.held.values()];
      for (const kind of this.kinds) g.set({ kind }, held.filter((l) => l.rows.kind === kind).length);
    });
  }

  /**
   * @param run ends here when its claim does not commit
   * @param shutdown aborts when the process must end; held runs then get the rest of the grace
   */
  hold(rows: RunRows, run: { id: string; fence: string; claimed_at: Date; committed: Promise<void> }, shutdown: AbortSignal): Lease {
    this.watch(shutdown);
    this.kinds.add(rows.kind);
    const controller = new AbortController();
    const lease: Held = {
      rows,
      id: run.id,
      fence: run.fence,
      signal: controller.signal,
      controller,
      // Nobody sees it before the commit, a heartbeat included.
      since: Infinity,
      kept: performance.now() - (this.db.now().getTime() - run.claimed_at.getTime()),
      requireNext: () => {
        controller.signal.throwIfAborted();
        if (shutdown.aborted) throw new LeaseEnded('shutdown');
      },
      requireHeld: () => {
        if (performance.now() - lease.kept > SURE_MS) this.end(lease, 'lost');
        controller.signal.throwIfAborted();
      },
      release: () => {
        if (this.held.get(run.id) === lease) this.held.delete(run.id);
      },
    };
    this.held.set(run.id, lease);
    run.committed.then(
      () => (lease.since = performance.now()),
      () => this.held.get(run.id) === lease && this.end(lease, 'lost'),
    );
    return lease;
  }

  /** Ends a run that is over by somebody's wish. @returns whether it is at work here */
  stop(runId: string): boolean {
    const lease = this.held.get(runId);
    if (lease) this.end(lease, 'stopped');
    return lease !== undefined;
  }

  private end(lease: Held, reason: AbortReason): void {
    if (lease.signal.aborted) return;
    lost.inc({ kind: lease.rows.kind, reason });
    lease.controller.abort(new LeaseEnded(reason));
  }

  private async beat(): Promise<void> {
    // A run younger than one beat has a fresh lease from its claim.
    const due = [...this.held.values()].filter((l) => performance.now() - l.since > HEARTBEAT_MS - 500);
    if (due.length === 0) {
      this.lastBeat = performance.now();
      return;
    }
    try {
      for (const rows of new Set(due.map((l) => l.rows)))
        await this.keep(
          rows,
          due.filter((l) => l.rows === rows),
        );
      this.lastBeat = performance.now();
    } catch (error) {
      const silentMs = performance.now() - this.lastBeat;
      this.logger.warn(`Heartbeat failed: ${(error as Error).message}`);
      // Another worker may own them by now; whatever they still do would be refused by the fence anyway.
      if (silentMs > LEASE_S * 1000) for (const lease of due) this.end(lease, 'lost');
    }
  }

  private async keep(rows: RunRows, leases: Held[]): Promise<void> {
    const at = performance.now();
    const alive = await rows.heartbeat(this.db, await this.owner.named(), leases);
    for (const lease of leases) {
      // It may have ended by itself while the statement ran.
      if (this.held.get(lease.id) !== lease) continue;
      const state = alive.get(lease.id);
      if (!state) this.end(lease, 'lost');
      else if (state.suspended) this.end(lease, 'org_suspended');
      else lease.kept = at;
    }
  }

  private watch(shutdown: AbortSignal): void {
    if (this.draining) return;
    this.draining = true;
    const drain = () => {
      const ms = Math.max(0, runtimeConfig.value.shutdownGraceMs - HAND_BACK_MS);
      setTimeout(() => {
        for (const lease of this.held.values()) this.end(lease, 'shutdown');
      }, ms).unref();
    };
    if (shutdown.aborted) drain();
    else shutdown.addEventListener('abort', drain, { once: true });
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
