import { setImmediate as letOthersIn, setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Database, insist, NO_CALLER, whenCommitted, type Db } from '@aps/platform/database';
import { LeaseEnded, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Definitions } from '../revisions/definitions';
import { isRepeatable } from '../tools/step-tools';
import { Calls, type CallResult } from './calls';
import { Interpreter } from './interpreter';
import { isUnbegun, waitsForSignal, type JournalRow, type RunEvent, type RunOutcome } from './journal';
import { JournalRepository, Overtaken, type ClaimedProcessRun } from './journal.repository';
import { Openings } from './openings';
import { JournalRoom, type Place } from './journal-room';
import type { Progress } from './progress';
import type { LoadedRun } from './process-run.sql';
import { RunAtWork } from './run-at-work';
import { RunEnds } from './run-ends';
import { runFactsOf } from './run-facts';
import { countSteps } from './run-signals';
import { tryAgainAt } from './waits.policy';

/** Writes that may fail in a row. */
const MAX_FAULTS = 4;
const FAULT_PAUSE_MS = 1_000;
const CHARGE_TRIES = 4;
const CHARGE_PAUSE_MS = 1_000;
/**
 * How long a run that ends here waits for others to have written what their calls have come to: its slot and its lease stay held meanwhile. A
 * process that ends has little of its grace left; nobody is in a hurry for a suspended organization. After a fault of ours it is delivered again.
 */
const LAST_MS = { shutdown: 2_000, org_suspended: 20_000, fault: 2_000 };

/**
 * Has a run go on: asks the interpreter what comes next, writes that down, makes the calls that are to be made, and tells the interpreter what
 * came of them. Nothing is done that is not in the journal before.
 */
@Injectable()
export class RunDriver {
  private readonly logger = new Logger('RunDriver');
  /** By why it ended here: the end of the last run that has written what its calls had come to. */
  private readonly last = { shutdown: Promise.resolve(), org_suspended: Promise.resolve(), fault: Promise.resolve() };

  constructor(
    private readonly db: Database,
    private readonly journal: JournalRepository,
    private readonly definitions: Definitions,
    private readonly calls: Calls,
    private readonly openings: Openings,
    private readonly ends: RunEnds,
    private readonly room: JournalRoom,
  ) {}

  /** @returns what became of it, in a word for metrics */
  async drive(claimed: OwnedRun<ClaimedProcessRun>, lease: Lease): Promise<string> {
    const work = new RunAtWork(claimed, lease, this.room);
    try {
      return await this.goOn(work);
    } catch (error) {
      const reason = error instanceof LeaseEnded ? error.reason : 'fault';
      const isHeld = reason !== 'lost' && reason !== 'stopped';
      const outcome = isHeld && work.results.size > 0 && (await this.writeLast(work, reason));
      if (outcome) return outcome;
      throw error;
    } finally {
      work.unreserve();
      await work.cut();
      // Whatever has become of the run: what its calls have used is paid, as far as they have said so by now.
      await this.charge(work);
    }
  }

  /** Tried a few times, as the tokens are spent whatever the database says; one that fails keeps neither the others nor what the run has come to. */
  private async charge(work: RunAtWork): Promise<void> {
    let left = work.charges();
    for (let tries = 1; left.length; tries++) {
      const failed: typeof left = [];
      for (const charge of left)
        await this.db.transaction(NO_CALLER, charge).catch((error: Error) => {
          failed.push(charge);
          if (tries === CHARGE_TRIES) this.logger.error({ msg: 'A call was not charged', run_id: work.claimed.id, error: error.stack });
        });
      if (tries === CHARGE_TRIES) return;
      left = failed;
      if (left.length) await sleep(tries * CHARGE_PAUSE_MS);
    }
  }

  /**
   * Writes what calls have come to of a run that ends here before it had its turn: whoever goes on with it would not know, and ask a human
   * about what may not be repeated. One run after the other, as none waits for room; one whose turn does not come in time is handed on as it is.
   *
   * @returns what has become of it, if that was its end
   */
  private writeLast(work: RunAtWork, reason: keyof typeof LAST_MS): Promise<string | null> {
    const write = async (): Promise<string | null> => {
      // It may have ended while nobody knew what had become of a write.
      work.stepsDone = (await this.journal.retake(this.db, work.claimed)).steps_done;
      for (;;) {
        const interpreter = await this.look(work);
        const { results, known } = work.known(false);
        const progress = interpreter.advance(this.db.now(), known);
        try {
          await this.write(work, interpreter, progress, { results, rests: false });
        } catch (error) {
          if (error instanceof Overtaken) continue;
          throw error;
        }
        countSteps(progress);
        work.written(progress, results);
        if (progress.end || work.results.size === 0) return progress.end && outcomeOf(progress.end);
      }
    };
    const before = this.last[reason];
    const isLate = Promise.race([before, sleep(LAST_MS[reason], true, { ref: false })]);
    const written = isLate
      .then((late) => {
        if (late) throw new Error(`Its turn has not come in ${LAST_MS[reason]} ms`);
        return write();
      })
      .catch((error: Error) => {
        this.logger.warn({ msg: 'What calls have come to was not written', run_id: work.claimed.id, error: error.message });
        return null;
      });
    this.last[reason] = before.then(async () => void (await written));
    return written;
  }

  private async goOn(work: RunAtWork): Promise<string> {
    const { claimed, lease } = work;
    const place = this.room.place(claimed.org_id);
    for (let bytes = claimed.held_bytes; ;) {
      // Whose process ends waits for no room but to write what its calls have come to.
      work.mayAsk();
      await place.take(bytes, lease.signal);
      work.mayAsk();
      // What is known of its journal ends with the turn, so that nothing of it is held while others have theirs.
      const left = await this.takeTurn(work, place).finally(() => place.leave());
      if (typeof left === 'string') return left;
      bytes = left.bytes;
      if (left.rests) await this.untilCome(work, left.wakeAt);
    }
  }

  /** Goes on with a run while it has room for its journal. @returns what became of it; why it goes on in another turn, where it does */
  private async takeTurn(work: RunAtWork, place: Place): Promise<string | Left> {
    // What the run is, its claim has read.
    let interpreter = work.isNew ? await this.firstLook(work) : await this.look(work);
    place.begin();
    for (;;) {
      const mayAsk = work.mayAsk();
      // What comes while this is written is for the next look.
      const { results, known } = work.known(mayAsk);
      const progress = interpreter.advance(this.db.now(), known);
      // Nothing of this is written yet, and it comes to the same in its next turn, with as much to spare.
      if (!place.fits(interpreter.held)) return { bytes: 2 * interpreter.held, rests: false, wakeAt: null };
      const rests =
        progress.end === null && !progress.goesOn && progress.calls.length === 0 && work.isIdle(results) && mayAsk && !progress.isFull;
      work.reserve(progress.calls);
      const before = { stepsDone: work.stepsDone, isLast: progress.end !== null || rests };
      let came: boolean | null;
      try {
        came = await this.write(work, interpreter, progress, { results, rests });
        work.faults = 0;
      } catch (error) {
        came = error instanceof Overtaken ? null : await this.afterFault(work, error, before);
      }
      if (came === null) {
        work.unreserve();
        interpreter = await this.look(work);
        continue;
      }
      countSteps(progress);
      work.written(progress, results);
      if (progress.end) return outcomeOf(progress.end);
      for (const call of progress.calls) work.make(call, (hold) => this.calls.make(work.run, call.row, call.step, hold));
      if (rests && !came) return 'waiting';
      if (progress.goesOn) await letOthersIn();
      const waits = !came && !progress.goesOn && work.results.size === 0;
      // Whoever has only gone through what is done would begin with it again.
      if ((waits || progress.written.length > 0) && place.isDue(waits))
        return { bytes: interpreter.held, rests: waits, wakeAt: progress.wakeAt };
      await work.next(waits ? this.msUntil(progress.wakeAt) : 0);
      if (came || (await this.hasCome(work))) interpreter = await this.look(work);
    }
  }

  /**
   * A write has failed, which is no reason to throw away what calls have come to: nobody else knows it, and would make them again, or ask a human
   * what became of them. It may have gone through all the same, and then all is as if that had been heard.
   *
   * @param write.stepsDone commits of the run before it
   * @param write.isLast whether the run is over by it, or waits
   * @returns whether something may have come with what was written; null where it is to be decided anew
   * @throws the error where that has been tried often enough; LeaseEnded
   */
  private async afterFault(work: RunAtWork, error: unknown, write: { stepsDone: number; isLast: boolean }): Promise<boolean | null> {
    if (error instanceof LeaseEnded || ++work.faults > MAX_FAULTS) throw error;
    const { claimed, lease } = work;
    this.logger.warn({ msg: 'What a run has come to was not written at once', run_id: claimed.id, error: (error as Error).message });
    await sleep(work.faults * FAULT_PAUSE_MS, undefined, { signal: lease.signal }).catch(() => undefined);
    // Also where the lease has ended meanwhile: what is written by now must not be told a second time.
    const now = await this.journal.retake(this.db, claimed).catch((failure: unknown) => failure as Error);
    if (now instanceof Error) return this.afterFault(work, now, write);
    const isWritten = now.steps_done > write.stepsDone;
    const isRunning = now.status === 'running';
    if ((!isRunning && !(isWritten && write.isLast)) || now.steps_done < write.stepsDone) {
      lease.signal.throwIfAborted();
      throw new LeaseEnded('lost');
    }
    work.stepsDone = now.steps_done;
    return isWritten ? isRunning : null;
  }

  /** What is looked up for a run at work is looked up again where that fails, as long as the run is this owner's. */
  private surely<T>({ lease }: RunAtWork, lookUp: () => Promise<T>): Promise<T> {
    return insist(lookUp, lease.signal, (error) => !(error instanceof LeaseEnded));
  }

  /** Until something is to be done for a run whose calls are being made. */
  private async untilCome(work: RunAtWork, wakeAt: Date | null): Promise<void> {
    // Calls that the run itself has cut come to nothing.
    do await work.next(this.msUntil(wakeAt));
    while (work.atWork.size > 0 && work.results.size === 0 && this.msUntil(wakeAt) !== 0 && !(await this.hasCome(work)));
  }

  private msUntil(at: Date | null): number | null {
    return at && Math.max(0, at.getTime() - this.db.now().getTime());
  }

  /** Whether somebody has brought something while calls are being made. */
  private async hasCome(work: RunAtWork): Promise<boolean> {
    if (work.atWork.size === 0 || work.results.size > 0) return false;
    return (await this.surely(work, () => this.journal.wakesOf(this.db, work.claimed))) !== work.run.wakes;
  }

  private async firstLook({ claimed }: RunAtWork): Promise<Interpreter> {
    return this.interpreterOf(claimed, claimed.has_steps ? await this.journal.journal(this.db, claimed.id) : []);
  }

  private look(work: RunAtWork): Promise<Interpreter> {
    const { id, fence } = work.claimed;
    return this.surely(work, async () => {
      const run = await this.journal.load(this.db, id);
      work.run = { ...run, fence };
      work.asksHuman = run.asks_human;
      // Not before the run: what comes in between is in the journal, or the commit finds that something has come.
      return this.interpreterOf(run, await this.journal.journal(this.db, id));
    });
  }

  private async interpreterOf(run: LoadedRun, rows: JournalRow[]): Promise<Interpreter> {
    const definition = await this.definitions.of(run.org_id, run.revision_id);
    const tools = await this.calls.toolsOf(run.org_id, definition);
    return new Interpreter(definition, runFactsOf(run), rows, ({ tool }, args) => !isRepeatable(tools.get(tool), args));
  }

  /**
   * Writes what an advance has come to, with all that has to be there together with it.
   *
   * @param with.results of calls, that this says
   * @param with.rests nothing is left to do until somebody comes, or its time
   * @returns whether something has come with it that is to be looked at
   */
  private async write(
    work: RunAtWork,
    interpreter: Interpreter,
    progress: Progress,
    { results, rests }: { results: Map<string, CallResult>; rests: boolean },
  ): Promise<boolean> {
    const { claimed, run } = work;
    const { written: rows, opened, closed, end } = progress;
    const charges = [...results.values()].flatMap(({ charge }) => (charge ? [charge] : []));
    const at = this.db.now();
    const asked = work.asksHuman;
    const commit = async (db: Db, told: RunEvent[]) => {
      const events = [...work.startEvents(), ...progress.events, ...told, ...endEvents(end)];
      const asksHuman = end === null && interpreter.asksHuman;
      // One that has asked a human is running before it is over.
      const { held } = interpreter;
      const publish = await this.journal.commit(db, claimed, run.wakes, { rows, events, asksHuman, held, end: asked ? null : end, at });
      await whenCommitted(db, () => {
        work.asksHuman = asksHuman;
        work.stepsDone += 1;
        publish();
      });
    };
    const mayTakeSignals = rows.some(waitsForSignal);
    if (!opened.length && !closed.length && !charges.length && !(end && (run.parent_step_id || asked)) && !rests && !mayTakeSignals) {
      if (rows.length || end) await commit(this.db, []);
      if (end) await this.ends.makeRoom(run);
      return false;
    }
    return this.db.transaction(NO_CALLER, async (tx) => {
      await this.openings.close(tx, run, closed);
      const { refused, told, came: isReplaced } = await this.openings.open(tx, run, opened);
      for (const row of refused) if (isUnbegun(row)) work.putOff.set(row.path, tryAgainAt(row, at));
      await commit(tx, told);
      await this.openings.closeRest(tx, closed);
      const came = (await this.openings.takeSignals(tx, run.id, rows)) || isReplaced;
      if (end) {
        if (asked) await this.journal.end(tx, [run.id], end, at);
        await this.ends.tell(tx, run, end);
      } else if (rests && !came && !refused.length) {
        await this.journal.runs.beginWait(tx, run.id, { resume_at: progress.wakeAt?.toISOString() ?? null });
        tx.afterCommit(() => this.journal.runs.fillSlot(this.db, run.org_id));
      }
      // What they burn is taken under the lock of the organization's credits.
      for (const charge of charges) await charge(tx);
      return came || refused.length > 0;
    });
  }
}

/** How a run stands that has let others have its room. */
interface Left {
  /** Room that it needs to go on. */
  bytes: number;
  /** Nothing is to be done before its calls bring something, or its time. */
  rests: boolean;
  wakeAt: Date | null;
}

/** Whether a run that has failed has done so by a fault of ours is what operators look at; all else is for its organization. */
const outcomeOf = (end: RunOutcome): string =>
  end.status === 'failed' && !SERVICE_FAULTS.includes(end.error.code) ? 'unsuccessful' : end.status;
const SERVICE_FAULTS: readonly string[] = ['internal', 'worker_lost'];

const endEvents = (end: RunOutcome | null): RunEvent[] =>
  end ? [{ type: 'run_finished', step_id: null, path: null, metadata: { status: end.status } }] : [];
