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
  const interpreter = new Interpreter(definition, facts, structuredClone(copied));
  const computed = new Map<string, JournalRow>();
  const open = new Map<string, JournalRow>();
  let at = facts.started_at;
  let outcomes = new Map<string, CallOutcome>();
  for (;;) {
    const progress = interpreter.advance(at, { outcomes, inFlight: new Set([...open.values()].map(({ path }) => path)) });
    for (const row of progress.written) computed.set(keyOf(row), row);
    for (const { row } of progress.calls) open.set(keyOf(row), row);
    outcomes = new Map();
    if (progress.end) break;
    const next = nextOf([...open.values(), ...interpreter.waiting], recorded);
    if (!next) {
      // A next try has come when its time had.
      if (progress.wakeAt && computed.size < recorded.size && progress.wakeAt > at) at = progress.wakeAt;
      else break;
      continue;
    }
    const before = recorded.get(keyOf(next))!;
    // Whose time has come, has come, however its clock and ours differ.
    at = latest(at, before.finished_at, before.resolution === null ? next.waiting_until : null);
    if (open.delete(keyOf(next)))
      outcomes.set(next.path, outcomeOf(before, recorded.has(keyOf({ ...before, attempt: before.attempt + 1 }))));
    else next.resolution = before.resolution;
  }
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

const latest = (...times: (Date | null)[]): Date => new Date(Math.max(...times.map((time) => time?.getTime() ?? 0)));

/** Of what is waited for, what came first; null where nothing of it ever came. */
function nextOf(waiting: JournalRow[], recorded: Map<string, JournalRow>): JournalRow | null {
  const came = waiting.filter((row) => {
    const before = recorded.get(keyOf(row));
    if (!before) return false;
    if (row.status === 'running') return before.status !== 'cancelled' && (isOver(before) || before.status === 'outcome_unknown');
    return before.resolution !== null || (row.status === 'waiting' && isOver(before) && before.status !== 'cancelled');
  });
  const time = (row: JournalRow) => recorded.get(keyOf(row))!.finished_at?.getTime() ?? Infinity;
  return came.sort((a, b) => time(a) - time(b) || a.seq - b.seq)[0] ?? null;
}

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
