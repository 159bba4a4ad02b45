import type { StepError } from '@aps/entities';
import { uuidv7 } from 'uuidv7';
import type { AgentStep, HumanStep, LlmStep, ProcessStep, PromptStep, Step, ToolStep } from '../definition';
import { humanAnswered, isOver, stepError, type CallOutcome, type JournalRow, type RunEvent, type RunOutcome } from './journal';
import { storedForm } from './stored-form';

/** A step that asks a model or another side, and what it was given. Of an agent's step: the drawing of its output. */
export interface Call {
  row: JournalRow;
  step: PromptStep | LlmStep | ToolStep | AgentStep;
}

/** A step that waits for somebody: what it waits for has to be made, in the transaction that writes its row. */
export interface Opening {
  row: JournalRow;
  step: HumanStep | AgentStep | ProcessStep | ToolStep;
}

/** How far a run goes by what is known of it. */
export interface Progress {
  /** Rows that were added or changed, in the order of their numbers. */
  written: JournalRow[];
  events: RunEvent[];
  /** To be made once that is committed. */
  calls: Call[];
  opened: Opening[];
  /** Rows that were given up: what they wait for is to be ended. */
  closed: JournalRow[];
  /** When it goes on by itself. */
  wakeAt: Date | null;
  /** Enough was done at once: the rest follows after the commit. */
  goesOn: boolean;
  /** A call was not begun that might have been, had there been room for it. */
  isFull: boolean;
  end: RunOutcome | null;
}

/** What is known of the calls of a run that are being made, or were. */
export interface CallsAtWork {
  /** Paths of their steps. */
  inFlight: ReadonlySet<string>;
  /** By path: what those have come to that is in no journal yet. */
  outcomes: ReadonlyMap<string, CallOutcome>;
  /** So many calls may be begun. */
  begins: number;
  /** So many bytes may those hold, by {@link bytesOfCall}. A call beside which the run makes no other has room in any case. */
  bytes: number;
  /** Whether somebody may be asked, be it an agent or another process: not by who is about to end. */
  asks: boolean;
  /** By path: when what could not be begun is tried again. */
  putOff: ReadonlyMap<string, Date>;
}

/** What a step, or a list of steps, has come to. */
export type Result =
  | { is: 'done'; output: unknown }
  | { is: 'blocked' }
  | { is: 'failed'; error: StepError }
  /** The run ends here, for somebody to look at. */
  | { is: 'flagged'; reason: string };

export const BLOCKED: Result = { is: 'blocked' };
export const done = (output: unknown): Result => ({ is: 'done', output });
export const failed = (error: StepError): Result => ({ is: 'failed', error });

export const pathOf = (parent: string | null, id: string): string => (parent === null ? id : `${parent}/${id}`);

/** Rows that the journal of a run may have: whoever goes on with it reads them all. */
export const MAX_ROWS = 100_000;
/** So many bytes may what its steps were given and came to take in memory, about: whoever goes on with it holds all of that, too. */
export const MAX_KEPT = 64 * 1024 * 1024;
/** So many bytes may what a call comes to take in memory, about: what has come is held before anybody asks whether its run has room for it. */
export const MAX_OUTCOME = 4 * 1024 * 1024;
/** What models are taken to answer, bytes: more than nearly all of them can. */
const OF_MODEL = 256 * 1024;
/** What a row takes beside that. */
const ROW_BYTES = 512;
/** What is done at once is one commit, and meanwhile its process does nothing else. */
export const MAX_BEGUN = 500;
const MAX_MS = 50;

/** Leaves an advance where it is. What it has come to is in the journal, so the next one comes to the same place. */
export class Halt extends Error {
  /** @param end of the run; null where it goes on */
  constructor(readonly end: RunOutcome | null) {
    super();
  }
}

/** The journal of a run while it is gone on with: its rows, and what of them is to be written. */
export class JournalPage {
  private readonly rows = new Map<string, JournalRow>();
  /** Of these, what is not over: few, however long the run is. */
  private readonly openRows = new Set<JournalRow>();
  private lastSeq = 0;
  private kept = 0;
  private begun = 0;
  private called = 0;
  /** No call is being made. */
  private isIdle = true;
  private since = 0;
  private at = new Date(0);
  private work: CallsAtWork = { inFlight: new Set(), outcomes: new Map(), begins: 0, bytes: 0, asks: false, putOff: new Map() };
  private readonly written = new Set<JournalRow>();
  private progress: Progress = emptyProgress();

  /** @param journal every row of the run, in the order of their numbers */
  constructor(journal: JournalRow[]) {
    for (const row of journal) {
      this.rows.set(row.path, row);
      this.lastSeq = Math.max(this.lastSeq, row.seq);
      this.kept += heldBy([row.input, row.output, row.resolution]);
    }
    for (const row of this.rows.values()) if (!isOver(row)) this.openRows.add(row);
  }

  /** Begins anew to note what is to be written. */
  open(at: Date, work: CallsAtWork): void {
    this.at = at;
    this.work = work;
    this.written.clear();
    this.progress = emptyProgress();
    this.begun = 0;
    this.called = 0;
    this.isIdle = [...work.inFlight].every((path) => work.outcomes.has(path));
    this.since = performance.now();
  }

  /** What has come together since. */
  close(end: RunOutcome | null): Progress {
    return { ...this.progress, end, written: [...this.written].sort((a, b) => a.seq - b.seq) };
  }

  get now(): Date {
    return this.at;
  }

  /** Whether a call of that step may be begun. */
  begins(step: Call['step']): boolean {
    const { begins, bytes } = this.work;
    const { calls } = this.progress;
    const isOnly = calls.length === 0 && this.isIdle;
    const mayBegin = calls.length < begins && (isOnly || this.called + answerOf(step) <= bytes);
    if (!mayBegin) this.progress.isFull = true;
    return mayBegin;
  }

  get asks(): boolean {
    return this.work.asks;
  }

  isInFlight(row: JournalRow): boolean {
    return this.work.inFlight.has(row.path);
  }

  /** Whether what could not be begun is to be tried now. */
  mayTryAgain(row: JournalRow): boolean {
    const at = this.work.putOff.get(row.path);
    return this.asks && !(at && this.isBefore(at));
  }

  /** Bytes of memory that its rows take, about. */
  get held(): number {
    return this.lastSeq * ROW_BYTES + this.kept;
  }

  /** Whether a row of it waits for a human. */
  get asksHuman(): boolean {
    return [...this.openRows].some((row) => row.hitl_request_id !== null);
  }

  get waiting(): JournalRow[] {
    return [...this.openRows].filter((row) => (row.status === 'waiting' || row.status === 'outcome_unknown') && row.resolution === null);
  }

  /** The newest try of the step that stands there. */
  row(path: string): JournalRow | undefined {
    return this.rows.get(path);
  }

  /** Before something is begun, after which as much may follow again. @throws Halt */
  requireRoom(): void {
    if (this.lastSeq >= MAX_ROWS) throw tooMuch(`The run takes more than ${MAX_ROWS} steps.`);
    this.requireRoomFor(null);
    if (this.begun > 0 && (this.begun >= MAX_BEGUN || performance.now() - this.since > MAX_MS)) {
      this.progress.goesOn = true;
      throw new Halt(null);
    }
    this.begun += 1;
  }

  /** Before what others came to is kept. @throws Halt */
  requireRoomFor(output: unknown): void {
    if (this.kept + heldBy(output) > MAX_KEPT) throw tooMuch(`The steps of the run keep more than ${MAX_KEPT} bytes.`);
  }

  /** @throws Halt */
  enter(step: Step, parent: string | null, status: JournalRow['status'] = 'running', attempt = 1): JournalRow {
    this.requireRoom();
    const row: JournalRow = {
      id: uuidv7(),
      seq: ++this.lastSeq,
      path: pathOf(parent, step.id),
      parent_path: parent,
      step_id: step.id,
      kind: step.kind,
      attempt,
      status,
      noted: null,
      input: null,
      output: null,
      error: null,
      resolution: null,
      note: null,
      event: null,
      waiting_until: null,
      child_run_id: null,
      chat_id: null,
      hitl_request_id: null,
      started_at: this.at,
      finished_at: null,
    };
    this.rows.set(row.path, row);
    this.openRows.add(row);
    this.written.add(row);
    this.tell(attempt > 1 ? 'step_retried' : 'step_started', row, attempt > 1 ? { attempt } : {});
    return row;
  }

  /** A row is something else now, and not over. What it was given and came to is from here on as whoever reads it anew has it. */
  change(row: JournalRow, values: Partial<JournalRow>): void {
    Object.assign(row, values);
    const { input, output, error } = values;
    if (input !== undefined) row.input = storedForm(input);
    if (output !== undefined) row.output = storedForm(output);
    if (error !== undefined) row.error = storedForm(error);
    this.kept += heldBy([input, output]);
    this.written.add(row);
  }

  complete(row: JournalRow, output: unknown): Result {
    this.finish(row, 'completed', { output: output ?? null });
    this.tell('step_finished', row);
    return done(row.output);
  }

  fail(row: JournalRow, error: StepError, note = row.note): Result {
    this.finish(row, 'failed', { error, note });
    this.tell('step_failed', row, { code: error.code });
    return failed(row.error!);
  }

  skip(row: JournalRow): void {
    this.finish(row, 'skipped');
    this.tell('step_finished', row, { skipped: true });
  }

  unknown(row: JournalRow, error: StepError): void {
    this.change(row, { status: 'outcome_unknown', error });
    this.tell('outcome_unknown', row, { code: error.code });
  }

  finish(row: JournalRow, status: JournalRow['status'], values: Partial<JournalRow> = {}): void {
    this.change(row, { ...values, status, finished_at: this.at });
    this.openRows.delete(row);
  }

  /** Gives up what is not over below a path. */
  giveUp(below: string): void {
    for (const row of this.openRows) {
      if (!row.path.startsWith(below)) continue;
      this.drop(row);
      this.finish(row, 'cancelled');
    }
  }

  /** What a row has begun, or would, is not wanted any more. */
  drop(row: JournalRow): void {
    if (row.chat_id ?? row.child_run_id ?? row.hitl_request_id) this.progress.closed.push(row);
    this.tellAnswer(row);
    this.progress.opened = this.progress.opened.filter((opening) => opening.row !== row);
    this.progress.calls = this.progress.calls.filter((call) => call.row !== row);
  }

  call(row: JournalRow, step: Call['step']): void {
    this.called += bytesOfCall({ row, step });
    this.progress.calls.push({ row, step });
  }

  ask(row: JournalRow, step: Opening['step']): void {
    this.progress.opened.push({ row, step });
    this.written.add(row);
  }

  /** What a row that is over has come to. */
  past(row: JournalRow): Result {
    if (row.status === 'failed') return failed(row.error!);
    return done(row.status === 'completed' ? row.output : null);
  }

  /** Whether the time that a row waits for has come. */
  isDue(row: JournalRow): boolean {
    return row.waiting_until !== null && !this.isBefore(row.waiting_until);
  }

  /** Whether that is still to come; then the run goes on at that time. */
  isBefore(at: Date): boolean {
    if (this.at >= at) return false;
    if (this.progress.wakeAt === null || at < this.progress.wakeAt) this.progress.wakeAt = at;
    return true;
  }

  after(s: number): Date {
    return new Date(this.at.getTime() + s * 1_000);
  }

  /** What a row has asked humans is over; of one that has asked nothing, nothing is told. */
  tellAnswer(row: JournalRow): void {
    if (row.hitl_request_id !== null) this.progress.events.push(humanAnswered(row));
  }

  tell(type: RunEvent['type'], row: JournalRow, metadata: Record<string, unknown> = {}): void {
    this.progress.events.push({ type, step_id: row.step_id, path: row.path, metadata: { kind: row.kind, ...metadata } });
  }
}

/** Whatever handles the errors of the run: that would only be more. */
const tooMuch = (message: string): Halt => new Halt({ status: 'failed', error: stepError('max_iterations', message) });

/** About as many bytes as a value of JSON takes in memory. Its text may have far fewer: a list of empty lists does. */
export function heldBy(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce((bytes: number, inner) => bytes + 8 + heldBy(inner), 32);
}

/** A tool answers what its server will; so that the answers of all that are asked at once have room, each is taken to be as large as it may be. */
const answerOf = ({ kind }: Call['step']): number => (kind === 'tool' ? MAX_OUTCOME : OF_MODEL);

/** What a call holds, bytes, for as long as nobody knows what it comes to. */
export const bytesOfCall = ({ row, step }: Call): number => answerOf(step) + heldBy([row.input, row.resolution]);

const emptyProgress = (): Progress => ({
  written: [],
  events: [],
  calls: [],
  opened: [],
  closed: [],
  wakeAt: null,
  goesOn: false,
  isFull: false,
  end: null,
});
