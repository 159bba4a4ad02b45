import { Injectable, Logger } from '@nestjs/common';
import { ChatStarts } from '@aps/chats';
import { DomainError } from '@aps/contracts';
import type { Schedule } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, isConnectionLoss, NO_CALLER, type Tx } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { counter, durationHistogram, gauge } from '@aps/platform/observability';
import { RunBegins } from '../engine/run-begins';
import { nextFiring } from './cron.policy';
import { firingOf, MISSED_AFTER_S, type Firing } from './firing.policy';
import { DUE, FREE, LASTS, OLDEST_DUE, SETTLE, TAKE, type FiringSchedule } from './schedules.sql';

const EVERY_S = 1;
const BATCH = 200;
/** Firings that one process makes at once. */
const AT_ONCE = 8;

type Outcome = Exclude<Firing, 'begin'> | 'fired' | 'refused';

const firings = counter('schedule_firings_total', 'Firings of schedules, by what became of them', ['target', 'outcome']);
const late = durationHistogram('schedule_late_seconds', 'Time from when a schedule was due to what it has begun', ['target']);

/** Of a process and of an agent: why nothing was begun, as errors of the API say it. */
const REFUSALS = {
  no_process: 'not_deployed',
  no_agent: 'not_deployed',
  misfit: 'validation_error',
  full: 'concurrency_limit',
  queue_full: 'queue_full',
};

/**
 * Fires what is due. Each firing is a transaction that has the row of its schedule, and writes what it begins together with the next time:
 * so it is made once, by whichever process comes first, and made again where that dies.
 */
@Injectable()
export class ScheduleFiring {
  private readonly logger = new Logger('ScheduleFiring');

  constructor(
    private readonly db: Database,
    private readonly runs: RunBegins,
    private readonly chats: ChatStarts,
    maintenance: Maintenance,
  ) {
    gauge('schedule_oldest_due_seconds', 'For how long the first schedule that has not fired is due', [], async (oldest) => {
      oldest.set((await this.db.query(OLDEST_DUE))[0].seconds);
    });
    maintenance.register({ name: 'schedules', everyS: EVERY_S, batch: BATCH, run: () => this.fireDue(BATCH) });
  }

  /** @returns how many were looked at */
  async fireDue(limit: number): Promise<number> {
    // What waits comes before what is due now.
    const waiting = await this.db.query(FREE, [limit]);
    const due = await this.db.query(DUE, [limit]);
    const ids = [...new Set([...waiting, ...due].map(({ id }) => id))];
    const next = ids.values();
    const fireSome = async () => {
      for (const id of next) await this.fire(id);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, fireSome));
    return Math.max(waiting.length, due.length);
  }

  private async fire(id: string): Promise<void> {
    try {
      await this.inTransaction(id, (tx, schedule) => this.decide(tx, schedule));
    } catch (error) {
      if (isConnectionLoss(error)) throw error;
      this.logger.error(`Schedule ${id} could not fire: ${(error as Error).message}`);
      // It is tried for as long as it is no missed one; then it must not keep others from firing.
      await this.inTransaction(id, (tx, schedule) =>
        schedule.due && (schedule.late_s ?? 0) <= MISSED_AFTER_S ? null : this.settle(tx, schedule, { refused: 'internal_error' }),
      );
    }
  }

  private async inTransaction(id: string, act: (tx: Tx, schedule: FiringSchedule) => Promise<Outcome | null> | null): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      const [schedule] = await tx.query(TAKE, [id]);
      const outcome = schedule ? await act(tx, schedule) : null;
      if (!outcome) return;
      const { target_kind: target, due, late_s } = schedule;
      tx.afterCommit(() => {
        firings.inc({ target, outcome });
        if (due && outcome === 'fired') late.observe({ target }, late_s ?? 0);
      });
    });
  }

  private async decide(tx: Tx, schedule: FiringSchedule): Promise<Outcome | null> {
    const { due, last_run, overlap } = schedule;
    const lasts = overlap !== 'allow' && last_run?.id ? (await tx.query(LASTS, [last_run.id]))[0].lasts : false;
    if (!due) return lasts ? null : this.begin(tx, schedule);
    const firing = firingOf(schedule, { late_s: schedule.late_s ?? 0, lasts });
    return firing === 'begin' ? this.begin(tx, schedule) : this.settle(tx, schedule, firing);
  }

  private async begin(tx: Tx, schedule: FiringSchedule): Promise<Outcome> {
    const undo = await tx.savepoint();
    try {
      return await this.settle(tx, schedule, await this.target(tx, schedule));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await undo();
      return this.settle(tx, schedule, { refused: error.code });
    }
  }

  /** Begins what a schedule is of. */
  private async target(
    tx: Tx,
    { id, org_id, name, target_kind, target_id, payload }: Schedule,
  ): Promise<{ begun: string } | { refused: string }> {
    const origin = { kind: 'schedule', ref_id: id } as const;
    if (target_kind === 'process') {
      const run = { source: origin, input: payload, message: null, attachments: [], label: name };
      const begun = await this.runs.begin(tx, org_id, target_id, run);
      return 'refused' in begun ? { refused: REFUSALS[begun.refused] } : { begun: begun.run_id };
    }
    const message = { content: payload.content as string };
    const begun = await this.chats.start(tx, OrgScope.system(org_id, 'schedule'), { agent_id: target_id, title: name, origin, message });
    return 'refused' in begun ? { refused: REFUSALS[begun.refused] } : { begun: begun.chat_id };
  }

  private async settle(
    tx: Tx,
    { id, now, due, next_run_at, waits_since, ...timing }: FiringSchedule,
    came: Exclude<Firing, 'begin'> | { begun: string } | { refused: string },
  ): Promise<Outcome> {
    const next = due ? nextFiring(timing, now) : next_run_at;
    if (typeof came === 'string') {
      await tx.execute(SETTLE, [id, next, came === 'wait' ? (waits_since ?? now) : waits_since, null]);
      return came;
    }
    const last = 'begun' in came ? { id: came.begun, status: 'begun' } : { id: null, status: `refused:${came.refused}` };
    await tx.execute(SETTLE, [id, next, due ? waits_since : null, JSON.stringify({ ...last, at: now.toISOString() })]);
    return 'begun' in came ? 'fired' : 'refused';
  }
}
