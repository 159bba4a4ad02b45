import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { counter, gauge } from '@aps/platform/observability';
import { runtimeConfig } from '@aps/platform/runtime';
import { TurnRepository } from './turn.repository';
import { LEASE_S } from './turn.sql';

const HEARTBEAT_MS = 5_000;
/** What is left of the shutdown grace for writing down where a turn stands. */
const HAND_BACK_MS = 3_000;

/** Why a held turn must end here. */
export type AbortReason = 'stopped' | 'lost' | 'shutdown' | 'org_suspended';

/** Thrown inside a turn whose lease ends. */
export class LeaseEnded extends Error {
  constructor(readonly reason: AbortReason) {
    super(`The turn ends here: ${reason}`);
    this.name = 'LeaseEnded';
  }
}

/** A turn while this process owns it. */
export interface Lease {
  readonly turnId: string;
  readonly chatId: string;
  readonly fence: string;
  /** Aborts with a {@link LeaseEnded} when the turn must end here. */
  readonly signal: AbortSignal;
  release(): void;
}

interface Held extends Lease {
  controller: AbortController;
  /** When its claim was committed. */
  since: number;
}

const lost = counter('lease_lost_total', 'Turns that this process lost to a stop, another owner or its own silence', ['reason']);

/**
 * Keeps the leases of the turns that this process runs, all with one statement every five seconds, and ends a turn at once when its
 * lease is no longer ours. What the database says is the truth; the stop broadcast only makes it fast.
 */
@Injectable()
export class Leases implements OnApplicationShutdown {
  private readonly logger = new Logger('Leases');
  private readonly held = new Map<string, Held>();
  private readonly timer: NodeJS.Timeout;
  private lastBeat = performance.now();
  private draining = false;

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
  ) {
    this.timer = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
    gauge('turns_running', 'Turns that this process runs', [], (g) => g.set(this.held.size));
  }

  /**
   * @param turn ends here when its claim does not commit
   * @param shutdown aborts when the process must end; held turns then get the rest of the grace
   */
  hold(turn: { id: string; chat_id: string; fence: string; committed: Promise<void> }, shutdown: AbortSignal): Lease {
    this.watch(shutdown);
    const controller = new AbortController();
    const lease: Held = {
      turnId: turn.id,
      chatId: turn.chat_id,
      fence: turn.fence,
      signal: controller.signal,
      controller,
      // Nobody sees it before the commit, a heartbeat included.
      since: Infinity,
      release: () => {
        if (this.held.get(turn.id) === lease) this.held.delete(turn.id);
      },
    };
    this.held.set(turn.id, lease);
    turn.committed.then(
      () => (lease.since = performance.now()),
      () => this.held.get(turn.id) === lease && this.end(lease, 'lost'),
    );
    return lease;
  }

  /** Ends a turn that is over by somebody's wish. @returns whether it runs here */
  stopTurn(turnId: string): boolean {
    const lease = this.held.get(turnId);
    if (lease) this.end(lease, 'stopped');
    return lease !== undefined;
  }

  private end(lease: Held, reason: AbortReason): void {
    lost.inc({ reason });
    lease.controller.abort(new LeaseEnded(reason));
  }

  private async beat(): Promise<void> {
    // A turn younger than one beat has a fresh lease from its claim.
    const due = [...this.held.values()].filter((l) => performance.now() - l.since > HEARTBEAT_MS - 500);
    if (due.length === 0) {
      this.lastBeat = performance.now();
      return;
    }
    try {
      const alive = await this.turns.heartbeat(
        this.db,
        due.map((l) => ({ id: l.turnId, fence: l.fence })),
      );
      this.lastBeat = performance.now();
      for (const lease of due) {
        // It may have ended by itself while the statement ran.
        if (this.held.get(lease.turnId) !== lease) continue;
        const state = alive.get(lease.turnId);
        if (!state) this.end(lease, 'lost');
        else if (state.suspended) this.end(lease, 'org_suspended');
      }
    } catch (error) {
      const silentMs = performance.now() - this.lastBeat;
      this.logger.warn(`Heartbeat failed: ${(error as Error).message}`);
      // Another worker may own them by now; whatever they still do would be refused by the fence anyway.
      if (silentMs > LEASE_S * 1000) for (const lease of due) this.end(lease, 'lost');
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
