import { Injectable } from '@nestjs/common';
import { runTopic, type EventType } from '@aps/contracts';
import type { ProcessRun } from '@aps/entities';
import { Database, storable, type Db, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { RealtimePublisher } from '@aps/platform/realtime';
import { LeaseEnded, RunRows, type ClaimedRun } from '@aps/platform/runs';
import type { JournalRow, RunEvent, RunOutcome } from './journal';
import {
  CANCEL_STEPS,
  CHARGE,
  COMMIT,
  COMMIT_LAST,
  END,
  JOURNAL,
  LOAD,
  OWNED,
  RETAKE,
  RUNS,
  TELL,
  type CancelledStep,
  type CommitItem,
  type EndColumns,
  type HeldRun,
  type LoadedRun,
} from './process-run.sql';

const MAX_INT = 2 ** 31 - 1;

/** What the claim of a run answers; one that was not claimed has no envelope. */
export interface ClaimedProcessRun extends ClaimedRun, LoadedRun {
  /** Else its journal is empty. */
  has_steps: boolean;
}

/** Something has come for the run since its owner looked: to be read, and decided anew. */
export class Overtaken extends Error {}

/** What is written of a run at once. */
export interface Commit {
  rows: JournalRow[];
  events: RunEvent[];
  asksHuman: boolean;
  /** Bytes of memory that all of its rows take, about. */
  held: number;
  /** What the run comes to with it; null for one that goes on. */
  end: RunOutcome | null;
  at: Date;
}

/** The runs of processes with their journals, as their owners read and write them. */
@Injectable()
export class JournalRepository {
  readonly runs: RunRows<'process.run'>;

  constructor(
    private readonly db: Database,
    outbox: Outbox,
    private readonly realtime: RealtimePublisher,
  ) {
    this.runs = new RunRows(RUNS, outbox);
  }

  async load(db: Db, id: string): Promise<LoadedRun> {
    const [run] = await db.query(LOAD, [id]);
    if (!run) throw new Error(`Run ${id} is gone`);
    return run;
  }

  journal(db: Db, id: string): Promise<JournalRow[]> {
    return db.query(JOURNAL, [id]);
  }

  /**
   * Writes a step of a run: outside of a transaction together with those of other runs. Readers are told after the commit. With the last one
   * the run is over, and its job gone.
   *
   * @param seen how often something had come for the run when this was decided
   * @throws LeaseEnded when it is not this owner's any more; Overtaken when something has come meanwhile
   */
  async commit(db: Db, run: ClaimedProcessRun, seen: number, { rows, events, asksHuman, held, end, at }: Commit): Promise<() => void> {
    const told = events.map(toTopicEvent);
    const item: CommitItem = {
      ...{
        run_id: run.id,
        fence: run.fence,
        seen,
        asks_human: asksHuman,
        held_bytes: Math.min(held, MAX_INT),
        end: end && columnsOf(end),
        at,
      },
      ...{ rows: storable(rows), events: storable(told) },
    };
    const written = await db.batched<CommitItem, { before: number }>(end ? COMMIT_LAST : COMMIT, item);
    if (written) return () => this.publish(run.id, written.before, told, at);
    await this.wakesOf(db, run);
    throw new Overtaken();
  }

  /** How often something has come for a run. @throws LeaseEnded when it is not this owner's any more */
  async wakesOf(db: Db, { id, fence }: ClaimedProcessRun): Promise<number> {
    const [row] = await db.query(OWNED, [id, fence]);
    if (!row) throw new LeaseEnded('lost');
    return row.wakes;
  }

  /**
   * For an owner who has not heard what became of a write, which may be under way still: it is done by then, or never.
   *
   * @returns how far the run is
   * @throws LeaseEnded when another has it
   */
  async retake(db: Db, { id, fence }: ClaimedProcessRun): Promise<{ status: ProcessRun['status']; steps_done: number }> {
    const [row] = await db.query(RETAKE, [id, fence]);
    if (!row) throw new LeaseEnded('lost');
    return row;
  }

  /** Appends events to the logs of runs that this transaction has locked, by run. */
  async tell(tx: Tx, events: Map<string, RunEvent[]>): Promise<void> {
    const at = this.db.now();
    const told = new Map([...events].map(([id, ofRun]) => [id, ofRun.map(toTopicEvent)]));
    const rows = await tx.query(TELL, [JSON.stringify(storable([...told].map(([id, ofRun]) => ({ id, events: ofRun })))), at]);
    tx.afterCommit(() => rows.forEach(({ id, before }) => this.publish(id, before, told.get(id)!, at)));
  }

  /** Locks a run, and appends events to its log, where it is still this owner's. */
  async tellAsOwner(tx: Tx, { id, fence }: Pick<HeldRun, 'id' | 'fence'>, events: RunEvent[]): Promise<void> {
    if ((await tx.query(RUNS.LOCK_OWNED, [id, fence])).length) await this.tell(tx, new Map([[id, events]]));
  }

  /** Ends runs that this transaction has locked, whoever owns them, and takes their jobs away. */
  async end(tx: Tx, runIds: string[], outcome: RunOutcome | { status: 'cancelled' }, at: Date): Promise<void> {
    const { status, output, flag_reason, error } = columnsOf(outcome);
    const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
    await tx.execute(END, [runIds, status, at, json(output), flag_reason ?? null, json(error)]);
  }

  /** Whatever locked runs do is over. @returns the steps that were not */
  giveUpSteps(tx: Tx, runIds: string[], at: Date): Promise<CancelledStep[]> {
    return tx.query(CANCEL_STEPS, [runIds, at]);
  }

  async charge(tx: Tx, runId: string, cost: { credits: string; usd_cost: string | null }): Promise<void> {
    await tx.execute(CHARGE, [runId, cost.credits, cost.usd_cost]);
  }

  /** Tells the readers of a run what is committed. @param before number of the event before these */
  publish(runId: string, before: number, told: { type: EventType; data: Record<string, unknown> }[], at: Date): void {
    if (told.length === 0) return;
    this.realtime.publish(
      runTopic(runId),
      told.map((event, i) => ({ id: before + i + 1, at: at.toISOString(), ...event })),
    );
  }
}

function columnsOf(outcome: RunOutcome | { status: 'cancelled' }): EndColumns {
  const { status } = outcome;
  switch (outcome.status) {
    case 'completed':
      return { status, output: storable(outcome.output ?? null) };
    case 'flagged':
      return { status, flag_reason: storable(outcome.reason) };
    case 'failed':
      return { status, error: storable(outcome.error) };
    case 'cancelled':
      return { status };
  }
}

const OF_HUMANS: Partial<Record<RunEvent['type'], EventType>> = { human_requested: 'hitl_requested', human_answered: 'hitl_resolved' };

/** In the event log, and so on the topic of the run, an event has the type that streams know, and its own beside its data. */
export const toTopicEvent = ({ type, step_id, path, metadata }: RunEvent): { type: EventType; data: Record<string, unknown> } => ({
  type: OF_HUMANS[type] ?? (step_id === null ? 'run_updated' : 'step_updated'),
  data: { event: type, step_id, path, ...metadata },
});
