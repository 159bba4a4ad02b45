import { isDeepStrictEqual } from 'node:util';
import type { Db } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { persist } from '../../api-gateway-e2e/support';
import type { Begun } from './clients';
import { workOf } from './definitions';
import { isMove, MOVES } from './moves';
import type { OtherSide } from './other-side';

/** What has become of runs, by the database and the other side's book. What must be 0 is in {@link ALL_WELL}. */
export interface Verdict extends Record<keyof typeof ALL_WELL, number> {
  /** Runs that were acknowledged, restarts among them, and those that their steps have begun. */
  acknowledged: number;
  children: number;
  completed: number;
  flagged: number;
  failed: number;
  cancelled: number;
  steps: number;
  /** Calls of the other side that had their effect, and those of which nobody knew what became of them. */
  effects: number;
  unknown: number;
  timers: number;
  signals: number;
  events: number;
  /** Changes of what runs and steps are, each kind of them once. */
  moves: string;
}

export const ALL_WELL = {
  /** Acknowledged runs that are not there, and starts that are there twice or that nobody made. */
  lost: 0,
  begun_twice: 0,
  /** Runs that are not what their definition computes, or not any more what they were when their end was acknowledged. */
  wrong: 0,
  /** Paths of runs that were completed twice, and calls that arrived when their step was over. */
  steps_twice: 0,
  calls_after_their_end: 0,
  /** Calls that had their effect twice, or none though their step is completed, or that went out again though they may not and nobody said so. */
  effects_twice: 0,
  effects_missing: 0,
  calls_again: 0,
  /** Unknown outcomes that were not asked about exactly once. */
  asked_wrong: 0,
  /** Timers that were waited for too short, or whose end was told other than once. */
  timers_wrong: 0,
  /** Signals that were acknowledged and are not there, that two have taken, or whose taker has none or another. */
  signals_lost: 0,
  signals_wrong: 0,
  /** Runs whose events have gaps in their numbers, and ends that were told other than once. */
  gaps: 0,
  told_wrong: 0,
  /** Runs, chats and questions that go on though the run is over that has begun them, or have outlived one that was cancelled. */
  children_outlived: 0,
  chats_outlived: 0,
  questions_outlived: 0,
  /** Changes that no state table has. */
  moves_wrong: 0,
  /** Runs, jobs and rows that are left. */
  left: 0,
};

interface RunRow {
  id: string;
  state: string;
  output: unknown;
  flag_reason: string | null;
  code: string | null;
}
const RUNS = sql<RunRow>(`SELECT id, state, output, flag_reason, error->>'code' AS code FROM process_runs WHERE parent_run_id IS NULL`);
const KEYS = sql<{ key: string; n: number }>(
  'SELECT idempotency_key AS key, count(*)::int AS n FROM process_runs WHERE idempotency_key IS NOT NULL GROUP BY 1',
);

/** Each figure by a statement that says it. */
const FIGURES = {
  children: 'SELECT count(*) FROM process_runs WHERE parent_run_id IS NOT NULL',
  completed: `SELECT count(*) FROM process_runs WHERE state = 'completed'`,
  flagged: `SELECT count(*) FROM process_runs WHERE state = 'flagged'`,
  failed: `SELECT count(*) FROM process_runs WHERE state = 'failed'`,
  cancelled: `SELECT count(*) FROM process_runs WHERE state = 'cancelled'`,
  steps: 'SELECT count(*) FROM process_steps',
  steps_twice: `SELECT count(*) FROM (SELECT FROM process_steps WHERE status = 'completed' GROUP BY run_id, path HAVING count(*) > 1) x`,
  unknown: `SELECT count(*) FROM events WHERE topic LIKE 'run:%' AND data->>'event' = 'outcome_unknown'`,
  // Asked in the transaction that says that nobody knows; a retry is another row.
  asked_wrong: `
    SELECT count(*) FROM (SELECT topic, data->>'path' AS path, count(*) AS n FROM events WHERE topic LIKE 'run:%' AND data->>'event' = 'outcome_unknown' GROUP BY 1, 2) u
    FULL JOIN (SELECT 'run:' || s.run_id AS topic, s.path, count(*) AS n, count(DISTINCT s.id) AS rows FROM hitl_requests h JOIN process_steps s ON s.id = h.step_id::uuid
      WHERE h.kind = 'question' GROUP BY 1, 2) q ON q.topic = u.topic AND q.path = u.path
    WHERE u.n IS DISTINCT FROM q.n OR q.n <> q.rows`,
  timers: `SELECT count(*) FROM process_steps WHERE kind = 'wait' AND event IS NULL AND note IS NULL`,
  timers_wrong: `
    SELECT count(*) FROM process_steps s WHERE kind = 'wait' AND event IS NULL AND note IS NULL AND status <> 'cancelled' AND (status <> 'completed' OR finished_at < waiting_until
      OR 1 <> (SELECT count(*) FROM events e WHERE e.topic = 'run:' || s.run_id AND e.data->>'event' = 'wait_finished' AND e.data->>'path' = s.path))`,
  signals: 'SELECT count(*) FROM process_signals',
  signals_wrong: `
    SELECT (SELECT count(*) FROM (SELECT FROM process_signals WHERE consumed_by IS NOT NULL GROUP BY consumed_by HAVING count(*) > 1) x)
      + (SELECT count(*) FROM process_steps s LEFT JOIN process_signals g ON g.consumed_by = s.id WHERE s.event IS NOT NULL AND s.status = 'completed' AND s.note IS NULL
          AND (g.id IS NULL OR g.run_id <> s.run_id OR g.name <> s.event OR g.payload IS DISTINCT FROM s.output))
      + (SELECT count(*) FROM process_signals g LEFT JOIN process_steps s ON s.id = g.consumed_by WHERE g.consumed_by IS NOT NULL AND (s.id IS NULL OR s.status NOT IN ('completed', 'cancelled')))
      + (SELECT count(*) FROM process_runs r WHERE (SELECT count(*) FROM process_signals g WHERE g.run_id = r.id)
          <> (SELECT count(*) FROM events e WHERE e.topic = 'run:' || r.id AND e.data->>'event' = 'signal_received'))`,
  events: `SELECT count(*) FROM events WHERE topic LIKE 'run:%'`,
  gaps: `
    SELECT count(*) FROM (SELECT r.id FROM process_runs r LEFT JOIN events e ON e.topic = 'run:' || r.id
      GROUP BY r.id HAVING count(e.seq) <> r.event_seq OR coalesce(max(e.seq), 0) <> r.event_seq OR coalesce(min(e.seq), 0) <> 1) x`,
  told_wrong: `
    SELECT (SELECT count(*) FROM (SELECT FROM process_runs r LEFT JOIN events e ON e.topic = 'run:' || r.id AND e.data->>'event' IN ('run_finished', 'run_cancelled')
        GROUP BY r.id HAVING count(e.seq) <> 1 OR max(e.data->>'status') <> r.state) x)
      + (SELECT count(*) FROM process_steps s WHERE s.status = 'completed' AND s.note IS NULL
          AND 1 <> (SELECT count(*) FROM events e WHERE e.topic = 'run:' || s.run_id AND e.data->>'event' = 'step_finished' AND e.data->>'path' = s.path))`,
  // One that was begun while its parent was about to be cancelled is so after it, in the same transaction.
  children_outlived: `
    SELECT count(*) FROM process_runs c JOIN process_runs p ON p.id = c.parent_run_id
    WHERE p.finished_at IS NOT NULL AND (c.finished_at IS NULL OR (p.state = 'cancelled' AND c.finished_at > p.finished_at AND (c.state <> 'cancelled' OR c.finished_at > p.finished_at + interval '1 second')))`,
  chats_outlived: `
    SELECT count(*) FROM chats c JOIN process_steps s ON s.chat_id = c.id JOIN process_runs r ON r.id = s.run_id
    WHERE r.finished_at IS NOT NULL AND (c.current_turn_id IS NOT NULL OR c.pending_turns > 0 OR c.status = 'RUNNING' OR (s.status = 'cancelled' AND c.status <> 'ARCHIVED'))`,
  questions_outlived: `SELECT count(*) FROM hitl_requests h JOIN process_runs r ON r.id = h.run_id WHERE r.finished_at IS NOT NULL AND h.status = 'pending'`,
  left: `
    SELECT (SELECT count(*) FROM process_runs WHERE finished_at IS NULL) + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM dead_letters)
      + (SELECT count(*) FROM process_steps s JOIN process_runs r ON r.id = s.run_id WHERE r.finished_at IS NOT NULL AND s.status IN ('running', 'waiting', 'outcome_unknown'))`,
};

interface CallRow {
  memo: string;
  is_once: boolean;
  status: string;
  /** Milliseconds since 1970 when it was completed, by the database's clock: an engine that has begun while all was busy may know another. */
  completed_at: number | null;
  retries: number;
}
/** Calls of steps, of all their tries. One that was refused, or failed, says so itself. */
const CALLS = sql<CallRow>(`
  SELECT input->'arguments'->'json'->>'memo' AS memo, input->'arguments'->>'method' = 'POST' AS is_once, (array_agg(status ORDER BY attempt DESC))[1] AS status,
    (max(extract(epoch FROM at)) * 1000)::float8 AS completed_at,
    (count(*) FILTER (WHERE resolution->'answer'->>'option_id' = 'retry'))::int AS retries
  FROM process_steps s LEFT JOIN moves m ON m.id = s.id::text AND m.move LIKE '%>completed' WHERE kind = 'tool' AND note IS NULL GROUP BY 1, 2`);
const SIGNALS = sql<{ id: string }>('SELECT id FROM process_signals');

/** What lies between the database and the other side where both are busy. A clock that stands still does so for longer. */
const CLOCKS_MS = 500;

/** Reads what has become of all, once it has come to rest. */
export async function verdictOf(db: Db, begun: Begun[], told: string[], other: OtherSide): Promise<Verdict> {
  const ask = <R extends object>(statement: ReturnType<typeof sql<R>>) => persist(() => db.query(statement));
  // The server is a minute or two old, and does not analyze by itself.
  await ask(sql('ANALYZE'));
  const figures: Record<string, number> = {};
  for (const [figure, text] of Object.entries(FIGURES))
    figures[figure] = Number((await ask(sql<{ n: string }>(`SELECT (${text}) AS n`)))[0].n);
  const rows = new Map((await ask(RUNS)).map((row) => [row.id, row]));
  const keys = await ask(KEYS);
  const known = new Set(begun.map(({ key }) => key));
  const signals = new Set((await ask(SIGNALS)).map(({ id }) => id));
  const moves = await ask(MOVES);
  const of = (runs: Begun[], is: (run: Begun, row: RunRow) => boolean) =>
    runs.filter((run) => rows.has(run.id) && is(run, rows.get(run.id)!));
  return {
    acknowledged: begun.length,
    lost: begun.filter(({ id }) => !rows.has(id)).length,
    begun_twice:
      keys.filter(({ key, n }) => n > 1 || !known.has(key)).length + Math.max(0, rows.size - new Set(begun.map(({ id }) => id)).size),
    wrong: of(begun, (run, row) => !isAsComputed(run, row)).length,
    ...(figures as Record<keyof typeof FIGURES, number>),
    ...callsVerdict(await ask(CALLS), other),
    signals_lost: told.filter((id) => !signals.has(id)).length,
    moves_wrong: moves.filter((move) => !isMove(move)).reduce((sum, { n }) => sum + n, 0),
    moves: moves.map(({ what, move }) => `${what} ${move}`).join(', '),
  };
}

function isAsComputed({ work, input, payer, endedAs }: Begun, row: RunRow): boolean {
  if (endedAs !== undefined && row.state !== endedAs) return false;
  if (endedAs === 'cancelled') return row.output === null;
  const outcome = workOf(work).outcome(input, payer);
  switch (outcome.status) {
    case 'completed':
      return row.state === 'completed' && isDeepStrictEqual(row.output, outcome.output);
    case 'flagged':
      return row.state === 'flagged' && row.flag_reason === outcome.reason;
    case 'failed':
      return row.state === 'failed' && row.code === outcome.code;
  }
}

function callsVerdict(calls: CallRow[], { arrived, booked }: OtherSide) {
  const times = new Map<string, number>();
  const last = new Map<string, number>();
  for (const { memo, at } of arrived) {
    times.set(memo, (times.get(memo) ?? 0) + 1);
    last.set(memo, at);
  }
  const count = (is: (call: CallRow) => boolean) => calls.filter(is).length;
  const known = new Set(calls.map(({ memo }) => memo));
  return {
    effects: booked.size,
    // What may be repeated is the same however often it is done.
    effects_twice: count(({ memo, is_once }) => is_once && (booked.get(memo) ?? 0) > 1),
    effects_missing: count(({ memo, status }) => status === 'completed' && !booked.has(memo)),
    // What arrives without standing in the journal has not been noted before it was made.
    calls_again:
      count(({ memo, is_once, retries }) => is_once && (times.get(memo) ?? 0) > 1 + retries) +
      [...times.keys()].filter((memo) => !known.has(memo)).length,
    calls_after_their_end: count(({ memo, completed_at }) => completed_at !== null && (last.get(memo) ?? 0) > completed_at + CLOCKS_MS),
  };
}
