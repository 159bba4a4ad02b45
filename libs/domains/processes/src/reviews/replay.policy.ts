import { setImmediate as letOthersIn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Definition } from '../definition';
import { Interpreter, type RunFacts } from '../engine/interpreter';
import { ENGINE_VERSION, isOver, type CallOutcome, type JournalRow } from '../engine/journal';
import { MAX_BEGUN } from '../engine/progress';
import { Look, type Bounds } from './bounds';

/** Whether today's code does what a journal has. */
export interface ReplayCheck {
  deterministic: boolean;
  engine_version: string;
  compared: number;
  first_divergence: { path: string; field: string; recorded: unknown; computed: unknown } | null;
}

const keyOf = ({ path, attempt }: Pick<JournalRow, 'path' | 'attempt'>): string => `${path}#${attempt}`;

/**
 * Goes through the journal of a run by today's code, without any effect: what calls, people and the clock have brought comes again, in the order
 * in which it came, and everything else has to follow as it did then. Where its bounds end it, what it has come to is compared.
 *
 * @param journal every try of every step, in the order of their numbers
 */
export async function replayed(definition: Definition, facts: RunFacts, journal: JournalRow[], bounds: Bounds = {}): Promise<ReplayCheck> {
  const copied = journal.filter(({ note }) => note === 'copied');
  const recorded = new Map(journal.filter(({ note }) => note !== 'copied').map((row) => [keyOf(row), row]));
  // One that nobody has begun says nothing of how it would have gone.
  const { computed, isCut } = recorded.size
    ? await computedFrom(definition, facts, copied, recorded, new Look(bounds))
    : { computed: new Map<string, JournalRow>(), isCut: false };
  // Of what was cut off, only what is over says how it went.
  if (isCut) for (const key of recorded.keys()) if (!isOverIn(computed, key)) recorded.delete(key);
  const first = await firstOf(journal, (row) => recorded.has(keyOf(row)) && divergenceOf(row, computed.get(keyOf(row))) !== null);
  const lastSeq = journal.at(-1)?.seq ?? 0;
  const extra = isCut
    ? undefined
    : [...computed.values()].find(
        (row) => !recorded.has(keyOf(row)) && row.status !== 'cancelled' && !(row.seq > lastSeq && isWithinOpen(row, recorded)),
      );
  return {
    // Of what was cut off nobody knows.
    deterministic: !first && !extra && !isCut,
    engine_version: ENGINE_VERSION,
    compared: recorded.size,
    first_divergence: first
      ? divergenceOf(first, computed.get(keyOf(first)))
      : extra
        ? { path: extra.path, field: 'status', recorded: null, computed: extra.status }
        : null,
  };
}

/** As `find`, of rows that may be many. */
async function firstOf(rows: JournalRow[], is: (row: JournalRow) => boolean): Promise<JournalRow | undefined> {
  for (const [i, row] of rows.entries()) {
    if (i % MAX_BEGUN === 0) await letOthersIn();
    if (is(row)) return row;
  }
  return undefined;
}

const isOverIn = (rows: Map<string, JournalRow>, key: string): boolean => {
  const row = rows.get(key);
  return row !== undefined && isOver(row);
};

/** What today's code makes of a run that has got what this one has got, and whether it was cut off at that. */
async function computedFrom(
  definition: Definition,
  facts: RunFacts,
  copied: JournalRow[],
  recorded: Map<string, JournalRow>,
  look: Look,
): Promise<{ computed: Map<string, JournalRow>; isCut: boolean }> {
  const interpreter = new Interpreter(definition, facts, structuredClone(copied));
  const computed = new Map<string, JournalRow>();
  const open = new Map<string, JournalRow>();
  const ahead = [...recorded.values()].reverse();
  let at = facts.started_at;
  let outcomes = new Map<string, CallOutcome>();
  do {
    const progress = interpreter.advance(at, { outcomes, inFlight: new Set([...open.values()].map(({ path }) => path)) });
    for (const row of progress.written) {
      computed.set(keyOf(row), row);
      // From when on it waits is what its worker's clock said, which may have been some time after the claim.
      const before = recorded.get(keyOf(row));
      if (before && row.status === 'waiting') row.waiting_until = before.waiting_until;
    }
    for (const { row } of progress.calls) open.set(keyOf(row), row);
    outcomes = new Map();
    if (progress.end) return { computed, isCut: false };
    while (ahead.length && computed.has(keyOf(ahead.at(-1)!))) ahead.pop();
    // What came before the rest was done, came then; nothing of that rest says how it would have gone on.
    const until = progress.goesOn ? (ahead.at(-1)?.started_at ?? null) : null;
    const next = nextOf([...open.values(), ...interpreter.waiting], recorded, until);
    if (progress.goesOn && !next.length && !ahead.length) return { computed, isCut: false };
    if (progress.goesOn) at = latest(at, until);
    else if (!next.length) {
      // A next try has come when its time had.
      if (!progress.wakeAt || computed.size >= recorded.size || progress.wakeAt <= at) return { computed, isCut: false };
      at = progress.wakeAt;
    }
    for (const row of next) {
      const before = recorded.get(keyOf(row))!;
      if (open.delete(keyOf(row)))
        outcomes.set(row.path, outcomeOf(before, recorded.has(keyOf({ ...before, attempt: before.attempt + 1 }))));
      else row.resolution = before.resolution;
      // Whose time has come, has come, however its clock and ours differ.
      if (!isHalfway(row, before)) at = latest(at, before.finished_at, before.resolution === null ? row.waiting_until : null);
    }
  } while (await look.pause());
  return { computed, isCut: true };
}

const latest = (...times: (Date | null)[]): Date => new Date(Math.max(...times.map((time) => time?.getTime() ?? 0)));

/**
 * Of what is waited for, what came first, with all that was seen together with it; none where nothing of it ever came.
 *
 * @param until not what came after that
 */
function nextOf(waiting: JournalRow[], recorded: Map<string, JournalRow>, until: Date | null): JournalRow[] {
  const came = waiting.filter((row) => {
    const before = recorded.get(keyOf(row));
    // What was given up may have had its answer, and nobody has looked at it.
    if (!before || before.status === 'cancelled') return false;
    if (row.status === 'running') return isOver(before) || before.status === 'outcome_unknown';
    return before.resolution !== null || (row.status === 'waiting' && isOver(before));
  });
  const time = (row: JournalRow) => {
    const before = recorded.get(keyOf(row))!;
    return isHalfway(row, before) ? 0 : (before.finished_at?.getTime() ?? Infinity);
  };
  const first = Math.min(...came.map(time));
  return until && first > until.getTime() ? [] : came.filter((row) => time(row) === first);
}

/** Whether a row is within a step that was cut off, or is at work still: all that would have come there is not recorded. */
function isWithinOpen({ path }: JournalRow, recorded: Map<string, JournalRow>): boolean {
  const holders = path.split('/').map((_, i, ids) => recorded.get(keyOf({ path: ids.slice(0, i).join('/'), attempt: 1 })));
  return holders.some((holder) => holder && (holder.status === 'cancelled' || !isOver(holder)));
}

/** Whether what comes leaves a row waiting for something else, which is what its end came with: nothing else hears of it. */
const isHalfway = (row: JournalRow, before: JournalRow): boolean =>
  (row.kind === 'agent' && row.status === 'waiting' && before.noted !== null) ||
  (row.kind === 'tool' && row.status === 'running' && before.resolution !== null);

function outcomeOf(before: JournalRow, wasTriedAgain: boolean): CallOutcome {
  const { status, error, resolution, output } = before;
  const wasUnknown =
    before.kind === 'tool' && (status === 'outcome_unknown' || resolution !== null || (wasTriedAgain && error?.retryable === false));
  if (wasUnknown) return { status: 'outcome_unknown', error: error! };
  return status === 'failed' ? { status, error: error! } : { status: 'completed', output };
}

function divergenceOf(row: JournalRow, now: JournalRow | undefined): ReplayCheck['first_divergence'] {
  // What was cut off says nothing of how it would have gone on.
  if (row.status === 'cancelled' || (!isOver(row) && !now)) return null;
  if (!now) return { path: row.path, field: 'status', recorded: row.status, computed: null };
  for (const field of ['kind', 'input', 'status', 'output'] as const) {
    const [recorded, computed] = [asStored(row[field]), asStored(now[field])];
    if (field !== 'input' && !isOver(row)) continue;
    if (!isDeepStrictEqual(recorded, computed)) return { path: row.path, field, recorded, computed };
  }
  return null;
}

/** A value as a journal brings it back. */
export const asStored = (value: unknown): unknown => (value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown));
