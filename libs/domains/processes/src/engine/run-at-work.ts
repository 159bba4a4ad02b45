import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '@aps/platform/database';
import { LeaseEnded, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Cutoff } from '@aps/platform/signals';
import type { CallHold, CallResult } from './calls';
import type { RunEvent } from './journal';
import type { ClaimedProcessRun } from './journal.repository';
import type { JournalRoom } from './journal-room';
import { bytesOfCall, heldBy, type Call, type CallsAtWork, type Progress } from './progress';
import type { HeldRun } from './process-run.sql';

/** How often a run whose calls are being made looks for what else has come. */
const LOOK_MS = 1_000;
/** How long calls that were cut are waited for: models tell what they have used, and somebody may not listen. */
const CUT_MS = 1_000;
/** Calls of a run that are made at the same time. */
const MAX_AT_WORK = 500;
/** Outcomes that cost something, and are written at once: they are charged one by one, under the lock of the organization's credits. */
const MAX_CHARGES = 50;

/** What is counted of a call in the room for those. */
interface Held {
  isBeyond: boolean;
  release: () => void;
}

/** What a call has come to, for as long as it is in no journal. */
type Come = CallResult & { held: Held };

/** A run while this process drives it: the calls that it makes, what they have come to, and what of memory they hold. */
export class RunAtWork {
  run: HeldRun;
  /** Calls that are being made, by path; once the lease has ended, those that it has cut. */
  readonly atWork = new Map<string, Cutoff>();
  /** What has come and is not written yet, by path. */
  readonly results = new Map<string, Come>();
  /** By path: when what could not be begun is tried again. */
  readonly putOff = new Map<string, Date>();
  /** By path: of calls that are made once they are written. */
  private readonly reserved = new Map<string, Held>();
  /** What its row says of it. */
  asksHuman: boolean;
  /** Commits of it, as its row counts them. */
  stepsDone: number;
  /** Writes of it, and looks at what became of one, that have failed in a row. */
  faults = 0;
  /** Calls that have not come to an end, be they cut or not. */
  private readonly made = new Set<Promise<void>>();
  /** Of calls whose outcomes nobody writes any more. */
  private readonly left: ((tx: Tx) => Promise<void>)[] = [];
  private error: unknown;
  private tell: () => void = () => undefined;

  constructor(
    readonly claimed: OwnedRun<ClaimedProcessRun>,
    readonly lease: Lease,
    private readonly room: JournalRoom,
  ) {
    this.run = claimed;
    this.asksHuman = claimed.asks_human;
    this.stepsDone = claimed.steps_done;
    lease.signal.addEventListener('abort', () => this.tell(), { once: true });
  }

  /**
   * Whether something may be begun: nothing in a process that is about to end, which waits for what it has begun, and writes that down.
   *
   * @throws LeaseEnded
   */
  mayAsk(): boolean {
    this.lease.signal.throwIfAborted();
    try {
      this.lease.requireNext();
      return true;
    } catch (error) {
      if (this.underWay) return false;
      throw error;
    }
  }

  private get underWay(): number {
    return this.atWork.size + this.results.size;
  }

  /** Whether its claim says all that there is: nothing has been done or looked at since. */
  get isNew(): boolean {
    return this.run === this.claimed && this.stepsDone === this.claimed.steps_done;
  }

  startEvents(): RunEvent[] {
    return this.stepsDone === 0 ? [{ type: 'run_started', step_id: null, path: null, metadata: {} }] : [];
  }

  /** @returns what has come so far, or as much of it as is written at once, and what the interpreter is told of it and of the calls that nobody is to make */
  known(asks: boolean): { results: Map<string, Come>; known: CallsAtWork } {
    let charges = 0;
    const results = new Map([...this.results].filter(([, { charge }]) => !charge || ++charges <= MAX_CHARGES));
    const outcomes = new Map([...results].map(([path, { outcome }]) => [path, outcome]));
    const begins = asks ? MAX_AT_WORK - this.underWay : 0;
    const bytes = this.room.leftForCalls(this.claimed.org_id);
    return {
      results,
      known: { inFlight: new Set([...this.atWork.keys(), ...this.results.keys()]), outcomes, begins, bytes, asks, putOff: this.putOff },
    };
  }

  /** Whether nothing is being made, and nothing has come but this. */
  isIdle(results: Map<string, CallResult>): boolean {
    return this.atWork.size === 0 && this.results.size === results.size;
  }

  /** What was to be written, is; calls of steps that were given up with it are cut. */
  written({ written }: Progress, results: Map<string, Come>): void {
    this.forget(results);
    for (const { path, status } of written) if (status !== 'running') this.atWork.get(path)?.abort(new LeaseEnded('stopped'));
  }

  /** Calls that are made once they are written: nobody else is to have their room by then. */
  reserve(calls: Call[]): void {
    // One beside which none is made is made in any case, so that nobody else has less room by it.
    const isIdle = this.atWork.size === 0;
    for (const [i, call] of calls.entries()) this.reserved.set(call.row.path, this.hold(bytesOfCall(call), isIdle && i === 0));
  }

  private hold(bytes: number, isBeyond: boolean): Held {
    return { isBeyond, release: this.room.holdCall(this.claimed.org_id, bytes, isBeyond) };
  }

  /** Those are not made. */
  unreserve(): void {
    for (const { release } of this.reserved.values()) release();
    this.reserved.clear();
  }

  /** @throws LeaseEnded where others may make that call by now */
  make({ row: { path } }: Call, call: (hold: CallHold) => Promise<CallResult>): void {
    this.lease.requireHeld();
    const cut = new Cutoff(this.lease.signal);
    this.atWork.set(path, cut);
    const held = this.reserved.get(path);
    this.reserved.delete(path);
    const over = (then: () => void) => {
      cut.release();
      if (!this.lease.signal.aborted) this.atWork.delete(path);
      held?.release();
      then();
      this.tell();
    };
    const come = (result: CallResult) => {
      if (cut.signal.aborted) return result.charge && this.left.push(result.charge);
      return this.results.set(path, { ...result, held: this.hold(bytesOf(result), held?.isBeyond ?? false) });
    };
    const requireHeld = () => {
      cut.signal.throwIfAborted();
      this.lease.requireHeld();
    };
    const made = call({ signal: cut.signal, requireHeld }).then(
      (result) => over(() => come(result)),
      (error: unknown) => over(() => (this.error ??= cut.signal.aborted ? undefined : error)),
    );
    this.made.add(made);
    void made.then(() => this.made.delete(made));
  }

  /**
   * Returns when a call has come to something, and now and then before.
   *
   * @param wakeMs until the run goes on by itself, whatever the calls do; null for never
   * @throws what is a fault of ours, or ends the lease
   */
  async next(wakeMs: number | null): Promise<void> {
    if (this.atWork.size && !this.results.size && this.error === undefined && !this.lease.signal.aborted) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((tell) => {
        this.tell = tell;
        timer = setTimeout(tell, Math.max(0, Math.min(wakeMs ?? LOOK_MS, LOOK_MS)));
      });
      clearTimeout(timer);
    }
    this.lease.signal.throwIfAborted();
    if (this.error !== undefined) throw this.error as Error;
  }

  /** Nobody waits for what is still being made, but for what it has used. */
  async cut(): Promise<void> {
    for (const call of this.atWork.values()) call.abort(new LeaseEnded('lost'));
    if (this.made.size) await Promise.race([Promise.all(this.made), sleep(CUT_MS, undefined, { ref: false })]);
  }

  /** Of what was not written, and nobody will write. */
  charges(): ((tx: Tx) => Promise<void>)[] {
    const charges = [...this.left, ...[...this.results.values()].flatMap(({ charge }) => (charge ? [charge] : []))];
    this.forget(new Map(this.results));
    return charges;
  }

  private forget(results: Map<string, Come>): void {
    for (const [path, { held }] of results) if (this.results.delete(path)) held.release();
  }
}

const bytesOf = ({ outcome }: CallResult): number => heldBy(outcome.status === 'completed' ? outcome.output : null);
