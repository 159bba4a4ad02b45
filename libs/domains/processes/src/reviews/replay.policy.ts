import { isDeepStrictEqual } from 'node:util';
import type { Definition } from '../definition';
import { Interpreter, type RunFacts } from '../engine/interpreter';
import { ENGINE_VERSION, isOver, type CallOutcome, type JournalRow } from '../engine/journal';

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
 * in which it came, and everything else has to follow as it did then.
 *
 * @param journal every try of every step, in the order of their numbers
 */
export function replayed(definition: Definition, facts: RunFacts, journal: JournalRow[]): ReplayCheck {
  const copied = journal.filter(({ note }) => note === 'copied');
  const recorded = new Map(journal.filter(({ note }) => note !== 'copied').map((row) => [keyOf(row), row]));
  // One that nobody has begun says nothing of how it would have gone.
  const computed = recorded.size ? computedFrom(definition, facts, copied, recorded) : new Map<string, JournalRow>();
  const first = journal.find((row) => row.note !== 'copied' && divergenceOf(row, computed.get(keyOf(row))));
  const extra = [...computed.values()].find((row) => !recorded.has(keyOf(row)) && row.status !== 'cancelled');
  return {
    deterministic: !first && !extra,
    engine_version: ENGINE_VERSION,
    compared: recorded.size,
    first_divergence: first
      ? divergenceOf(first, computed.get(keyOf(first)))
      : extra
        ? { path: extra.path, field: 'status', recorded: null, computed: extra.status }
        : null,
  };
}

/** What today's code makes of a run that has got what this one has got. */
function computedFrom(definition: Definition, facts: RunFacts, copied: JournalRow[], recorded: Map<string, JournalRow>) {
  const interpreter = new Interpreter(definition, facts, structuredClone(copied));
  const computed = new Map<string, JournalRow>();
  const open = new Map<string, JournalRow>();
  let at = facts.started_at;
  let outcomes = new Map<string, CallOutcome>();
  for (;;) {
    const progress = interpreter.advance(at, { outcomes, inFlight: new Set([...open.values()].map(({ path }) => path)) });
    for (const row of progress.written) {
      computed.set(keyOf(row), row);
      // From when on it waits is what its worker's clock said, which may have been some time after the claim.
      const before = recorded.get(keyOf(row));
      if (before && row.status === 'waiting') row.waiting_until = before.waiting_until;
    }
    for (const { row } of progress.calls) open.set(keyOf(row), row);
    outcomes = new Map();
    if (progress.end) return computed;
    const next = nextOf([...open.values(), ...interpreter.waiting], recorded);
    if (!next.length) {
      // A next try has come when its time had.
      if (!progress.wakeAt || computed.size >= recorded.size || progress.wakeAt <= at) return computed;
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
  }
}

const latest = (...times: (Date | null)[]): Date => new Date(Math.max(...times.map((time) => time?.getTime() ?? 0)));

/** Of what is waited for, what came first, with all that was seen together with it; none where nothing of it ever came. */
function nextOf(waiting: JournalRow[], recorded: Map<string, JournalRow>): JournalRow[] {
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
  return came.filter((row) => time(row) === first);
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
    const [recorded, computed] = [plain(row[field]), plain(now[field])];
    if (field !== 'input' && !isOver(row)) continue;
    if (!isDeepStrictEqual(recorded, computed)) return { path: row.path, field, recorded, computed };
  }
  return null;
}

const plain = (value: unknown): unknown => (value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown));
