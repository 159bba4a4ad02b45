import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { JobName, JobPayload } from '@aps/contracts';
import { advisoryLock, alreadyCommitted, Database, NO_CALLER, OneByOne, type Ahead } from '@aps/platform/database';
import { durationHistogram } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { NotBegun, type JobContext } from '@aps/platform/queues';
import { ProcessIdentity } from '@aps/platform/runtime';
import { inSpan, type Span } from '@aps/platform/tracing';
import { givenUp, redelivered } from './run-counters';
import type { ClaimAnswer, ClaimedRun, OwnedRun, RunKind } from './run-kind';
import { LeaseEnded, RunLeases } from './run-leases';
import type { RunRows } from './run-rows';
import { RunOwner } from './run-owner';
import { LEASE_S, type Claiming } from './run.sql';

/** Claims that wait for the lock of one organization, and are made under it together. */
const MAX_TOGETHER = 128;

interface WaitingClaim {
  claiming: Claiming;
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

/** How long a run of a suspended organization, or one whose worker may still live, is left alone at least. */
const RETRY_MS = 10_000;

const duration = durationHistogram('run_duration_seconds', 'Time from the claim of a run to its end', ['kind', 'outcome']);
const delay = durationHistogram('run_queue_delay_seconds', 'Time from when a run could be taken up to its claim', ['kind']);

/**
 * Runs durable runs of every kind: decides who runs one, and whether it runs at all, keeps it while it is at work, and sees to what
 * becomes of it. A run goes on from what its journal says, so it makes no difference whether this is its first delivery, or its owner
 * died after any of its steps.
 */
@Injectable()
export class Runs {
  private readonly logger = new Logger('Runs');
  private readonly nearCap = new OneByOne();
  /** By kind and organization. */
  private readonly waiting = new Map<string, WaitingClaim[]>();

  constructor(
    private readonly db: Database,
    private readonly outbox: Outbox,
    private readonly leases: RunLeases,
    private readonly owner: RunOwner,
    private readonly self: ProcessIdentity,
  ) {}

  /** @throws NotBegun when the worker begins nothing new any more, and whatever is a fault of ours: the run is delivered again */
  async run<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    payload: JobPayload<N>,
    context: JobContext,
  ): Promise<void> {
    const run = await this.claim(kind, payload);
    if (!run) return;
    const attributes = { 'aps.org.id': run.org_id, 'aps.run.steps_done': run.steps_done, ...kind.attributesOf(run) };
    await inSpan(kind.rows.kind, { attributes }, (span) => this.own(kind, run, context, span));
  }

  /**
   * Becomes the owner of a run.
   *
   * @returns null when there is nothing to run
   * @throws NotBegun when the worker begins nothing new any more
   */
  async claim<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    payload: JobPayload<N>,
  ): Promise<OwnedRun<R> | null> {
    const at = this.db.now();
    const asked = kind.claiming(payload);
    let ahead = await this.tryToClaim(kind, payload, at);
    if (!ahead) {
      // A job is on its way before the transaction that writes its run has committed.
      await kind.awaitWriter(payload);
      ahead = await this.tryToClaim(kind, payload, at);
    }
    if (!ahead) {
      await this.outbox.cancel(this.db, asked.run_id);
      return null;
    }
    const { answer: run, committed } = ahead;
    switch (run.verdict) {
      case 'claimed':
        return { ...run, claimed_at: at, committed };
      case 'busy':
      case 'early':
      case 'suspended':
        await this.outbox.postpone(this.db, run.id, run.retry_at ?? new Date(at.getTime() + RETRY_MS));
        return null;
      case 'over_cap': // parked by claimNearCap
      case 'parked':
      case 'gone':
        return null;
      default:
        await kind.refuse(run, run.verdict as F | 'lost');
        if (run.verdict === 'lost') givenUp.inc({ kind: kind.rows.kind });
        return null;
    }
  }

  private async tryToClaim<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    payload: JobPayload<N>,
    at: Date,
  ): Promise<Ahead<ClaimAnswer<R, F>> | null> {
    const { org_id: orgId } = payload as { org_id: string };
    const cap = await kind.capOf(orgId);
    const worker = this.owner.name ?? (await this.owner.named());
    const claiming = (cap: number): Claiming => ({ ...kind.claiming(payload), worker, cap, at });
    if (cap < 0) return kind.claimAhead(claiming(-1));
    // Far from the cap no lock is needed: claims of the same moment, which cannot see each other, do not reach it.
    const farFrom = cap - kind.capMargin;
    const far = farFrom > 0 ? await kind.claimAhead(claiming(farFrom)) : null;
    return farFrom <= 0 || far?.answer.verdict === 'over_cap' ? this.claimNearCap(kind, orgId, claiming(cap)) : far;
  }

  /** Near the cap, claims of one organization wait for one another, so that the count is exact; those that wait go together. Runs over it are parked. */
  private async claimNearCap<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    orgId: string,
    claiming: Claiming,
  ): Promise<Ahead<ClaimAnswer<R, F>> | null> {
    const cap = `cap:${kind.rows.kind}:${orgId}`;
    const answer = await new Promise<ClaimAnswer<R, F> | null>((resolve, reject) => {
      const waiting = this.waiting.get(cap);
      const call: WaitingClaim = { claiming, resolve: resolve as WaitingClaim['resolve'], reject };
      if (waiting) waiting.push(call);
      else this.waiting.set(cap, [call]);
      void this.nearCap.run(cap, () => this.claimWaiting(kind, cap));
    });
    return answer && alreadyCommitted(answer);
  }

  /** Whoever comes first takes others along; whoever was taken along finds nobody. */
  private async claimWaiting<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    cap: string,
  ): Promise<void> {
    const calls = this.takeWaiting(cap);
    const claim = async (some: WaitingClaim[]) => {
      // They may have waited for their turn since they were handed to this worker.
      if (this.self.draining) throw new NotBegun();
      const answers = await this.claimTogether(
        kind,
        cap,
        some.map(({ claiming }) => claiming),
      );
      some.forEach(({ resolve }, i) => resolve(answers[i]));
      const parked = answers.find((answer) => answer?.verdict === 'over_cap');
      // What fails is left to the sweeper.
      if (parked) await kind.rows.fillFree(this.db, parked.org_id, some[0].claiming.cap).catch(() => undefined);
    };
    if (calls.length === 0) return;
    try {
      await claim(calls);
    } catch {
      // Nobody waits for another's trouble.
      for (const call of calls) await claim([call]).catch(call.reject);
    }
  }

  /** The oldest, one of each key. */
  private takeWaiting(cap: string): WaitingClaim[] {
    const taken = new Map<string, WaitingClaim>();
    const left: WaitingClaim[] = [];
    for (const call of this.waiting.get(cap) ?? []) {
      if (taken.size < MAX_TOGETHER && !taken.has(call.claiming.key)) taken.set(call.claiming.key, call);
      else left.push(call);
    }
    if (left.length) this.waiting.set(cap, left);
    else this.waiting.delete(cap);
    return [...taken.values()];
  }

  private claimTogether<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    cap: string,
    claimings: Claiming[],
  ): Promise<(ClaimAnswer<R, F> | null)[]> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      await advisoryLock(tx, cap);
      const answers = await kind.claimAll(tx, claimings);
      const over = answers.filter((answer) => answer?.verdict === 'over_cap') as ClaimAnswer<R, F>[];
      if (over.length) await kind.park(tx, over, claimings[0].at);
      return answers;
    });
  }

  private async own<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    run: OwnedRun<R>,
    context: JobContext,
    span: Span,
  ): Promise<void> {
    const started = performance.now();
    const { kind: name } = kind.rows;
    if (run.lease_expired) redelivered.inc({ kind: name });
    else if (!run.taken_over && run.steps_done === 0 && run.deliveries === 0)
      delay.observe({ kind: name }, Math.max(0, this.db.now().getTime() - run.ready_at.getTime()) / 1000);
    const lease = this.leases.hold(kind.rows, run, context.signal);
    let outcome = 'error';
    try {
      // Whatever has become of it is written down by an owner.
      outcome = await kind.drive(run, lease, context).finally(() => run.committed);
    } catch (error) {
      outcome = await this.onError(kind, run, error, context);
    } finally {
      lease.release();
      span.setAttribute('aps.outcome', outcome);
      duration.observe({ kind: name, outcome }, (performance.now() - started) / 1000);
    }
  }

  private async onError<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    run: OwnedRun<R>,
    error: unknown,
    context: JobContext,
  ): Promise<string> {
    if (error instanceof LeaseEnded) return this.onLeaseEnded(kind, run, error);
    try {
      const failed = await kind.fail(run, error, context);
      if (failed) return failed;
    } catch (failure) {
      if (failure instanceof LeaseEnded) return this.onLeaseEnded(kind, run, failure);
      throw failure;
    }
    // The lease ends, and the next delivery goes on from the journal.
    this.logger.error({
      msg: 'Run interrupted',
      kind: kind.rows.kind,
      run_id: run.id,
      request_id: context.requestId,
      error: (error as Error)?.stack ?? String(error),
    });
    await this.release(kind.rows, run, context.signal);
    throw error;
  }

  private async onLeaseEnded<N extends JobName, R extends ClaimedRun, F extends string>(
    kind: RunKind<N, R, F>,
    run: OwnedRun<R>,
    { reason }: LeaseEnded,
  ): Promise<string> {
    switch (reason) {
      case 'stopped':
      case 'lost':
        // Whoever stopped or took the run has written down how it goes on.
        return reason;
      case 'shutdown':
        await kind.rows.handBack(this.db, run);
        return 'handed_back';
      case 'org_suspended':
        await kind.suspend(run);
        return 'org_suspended';
    }
  }

  /** While the database is away nothing can be given up; once the lease is over nothing need be. */
  private async release(rows: RunRows, run: ClaimedRun, shutdown: AbortSignal): Promise<void> {
    const until = performance.now() + LEASE_S * 1_000;
    for (let waitMs = 100; performance.now() < until && !shutdown.aborted; waitMs = Math.min(2 * waitMs, 1_000)) {
      const released = await rows.release(this.db, run).then(
        () => true,
        () => false,
      );
      if (released) return;
      await sleep(waitMs);
    }
  }
}
