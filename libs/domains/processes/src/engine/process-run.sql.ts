import type { ProcessRun, ProcessStepRow } from '@aps/entities';
import { HELD_WITH_ORG } from '@aps/guards';
import { batchStatement, statement } from '@aps/platform/database';
import { deleteJobs } from '@aps/platform/outbox';
import { appendEvents } from '@aps/platform/realtime';
import { claimStatement, lastStepDone, runOver, runStatements, stepDone, type RunTable } from '@aps/platform/runs';

const TABLE = 'process_runs';

export const PROCESS_RUNS = {
  kind: 'process_run',
  table: TABLE,
  payload: { org_id: 'org_id', run_id: 'id' },
  ...HELD_WITH_ORG,
} satisfies RunTable<'process.run'>;

export const RUNS = runStatements<'process.run'>(PROCESS_RUNS);
/** What the engine has to know of a run beside its journal. */
const LOADED = [
  'id',
  'org_id',
  'process_id',
  'revision_id',
  'revision_version',
  'label',
  'envelope',
  'started_at',
  'created_at',
  'wakes',
  'event_seq',
  'depth',
  'root_run_id',
  'parent_run_id',
  'parent_step_id',
  'concurrency_key',
  'budget_credits',
  'cost_credits',
  'user_id',
  'asks_human',
  'held_bytes',
] as const satisfies (keyof ProcessRun)[];
export type LoadedRun = Pick<ProcessRun, (typeof LOADED)[number]>;
/** The same of one that is at work, by who has it. */
export type HeldRun = LoadedRun & { fence: string };
export const LOAD = statement<LoadedRun>(`SELECT ${LOADED.join(', ')} FROM ${TABLE} WHERE id = $1`);

/** What a revision calls so, a kind and a name, as its deploy found it. */
export const MEANT = statement<{ id: string | null }>('SELECT meant->>$2::text AS id FROM process_revisions WHERE id = $1');

const OWN = LOADED.filter((column) => column !== 'id' && column !== 'org_id');
/** How the answer of a claim has what does not go into JSON as it is. */
const CLAIMED: Partial<Record<keyof LoadedRun, string>> = {
  envelope: `CASE v.verdict WHEN 'claimed' THEN v.envelope END AS envelope`,
  started_at: 'coalesce(v.started_at, now()) AS started_at',
  budget_credits: 'v.budget_credits::text',
  cost_credits: 'v.cost_credits::text',
};
/** Claims runs, and loads them. By EXISTS the planner would read all steps that there are, to look many runs up in them. */
export const CLAIM = claimStatement(PROCESS_RUNS, {
  columns: OWN.map((column) => `r.${column}`).join(', '),
  // A deleted process ends its runs a part at a time, and those that have not come to it yet begin nothing any more.
  isGone: 'EXISTS (SELECT 1 FROM processes p WHERE p.id = l.process_id AND p.deleted_at IS NOT NULL)',
  answer: `${OWN.map((column) => CLAIMED[column] ?? `v.${column}`).join(', ')}, (SELECT s.run_id FROM process_steps s WHERE s.run_id = v.id LIMIT 1) IS NOT NULL AS has_steps`,
});

export const JOURNAL = statement<ProcessStepRow>('SELECT * FROM process_steps WHERE run_id = $1 ORDER BY seq');
/** Whether a run is still its owner's, who has found that it cannot write. */
export const OWNED = statement<{ wakes: number }>(`SELECT wakes FROM ${TABLE} WHERE id = $1 AND fence = $2 AND status = 'running'`);
/**
 * Has what its owner may still be writing find that something has come: so that is written by now, or never. How far the run is, whether or
 * not its owner has heard of it.
 */
export const RETAKE = statement<{ status: ProcessRun['status']; steps_done: number }>(
  `UPDATE ${TABLE} SET wakes = wakes + 1 WHERE id = $1 AND fence = $2 RETURNING status, steps_done`,
);

const COLUMNS: Record<string, string> = {
  id: 'uuid',
  seq: 'int',
  path: 'text',
  parent_path: 'text',
  step_id: 'text',
  kind: 'text',
  attempt: 'int',
  status: 'text',
  noted: 'text',
  input: 'jsonb',
  output: 'jsonb',
  error: 'jsonb',
  resolution: 'jsonb',
  note: 'text',
  event: 'text',
  waiting_until: 'timestamptz',
  child_run_id: 'uuid',
  chat_id: 'uuid',
  hitl_request_id: 'uuid',
  started_at: 'timestamptz',
  finished_at: 'timestamptz',
};
const NAMES = Object.keys(COLUMNS).join(', ');
const CHANGES = [
  'status',
  'noted',
  'input',
  'output',
  'error',
  'note',
  'event',
  'waiting_until',
  'child_run_id',
  'chat_id',
  'hitl_request_id',
  'finished_at',
];

/** The part of a statement that writes rows of journals: for each row of `runs` those in its `rows`. */
const writeRows = (runs: string) => `
  INSERT INTO process_steps (org_id, run_id, ${NAMES})
  SELECT r.org_id, r.run_id, ${Object.keys(COLUMNS)
    .map((name) => `x.${name}`)
    .join(', ')} FROM ${runs} r CROSS JOIN LATERAL jsonb_to_recordset(r.rows) AS x(${Object.entries(COLUMNS)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
  ON CONFLICT (run_id, path, attempt) DO UPDATE SET ${CHANGES.map((name) => `${name} = excluded.${name}`).join(', ')},
    resolution = coalesce(process_steps.resolution, excluded.resolution)`;

/** What the owner of a run writes at once. */
export interface CommitItem {
  run_id: string;
  fence: string;
  /** How often something had come for the run when this was decided. */
  seen: number;
  rows: unknown[];
  events: unknown[];
  asks_human: boolean;
  /** What its journal takes with it. */
  held_bytes: number;
  /** What the run comes to with it, if it ends. */
  end: EndColumns | null;
  at: Date;
}
/** How a run has ended, as its row says it. What does not apply is left out. */
export interface EndColumns {
  status: ProcessRun['status'];
  output?: unknown;
  flag_reason?: string;
  error?: unknown;
}

/**
 * Writes how far runs have come, many at once: each by who owns it, and has seen all that has come for it. Nothing is written of one where
 * that is not so, and it has no answer.
 *
 * @param ends they end with it
 */
const commitStatement = (label: string, ends: boolean) =>
  batchStatement<CommitItem>(
    label,
    (item) => item.run_id,
    (locked) => `
  WITH i AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(run_id uuid, fence bigint, seen int, rows jsonb, events jsonb, asks_human boolean, held_bytes int, "end" jsonb, at timestamptz)
  ), o AS MATERIALIZED (
    SELECT i.*, k.* FROM i CROSS JOIN LATERAL (
      SELECT r.org_id, r.event_seq AS before, r.fence AS newest_fence, r.status, r.wakes FROM ${TABLE} r WHERE r.id = i.run_id FOR NO KEY UPDATE OF r ${locked}
    ) k
  ), l AS MATERIALIZED (
    -- PostgreSQL takes this for a row or two, and finds each run by its id also where it plans while there are none.
    SELECT * FROM o WHERE o.fence = o.newest_fence AND o.status = 'running' AND o.wakes = o.seen
  ), r AS (
    UPDATE ${TABLE} SET ${ends ? `${lastStepDone(TABLE, `l."end"->>'status'`, 'l.at')}, wait = NULL, output = l."end"->'output', flag_reason = l."end"->>'flag_reason', error = l."end"->'error'` : stepDone(TABLE)},
      event_seq = l.before + jsonb_array_length(l.events), asks_human = l.asks_human, held_bytes = l.held_bytes, updated_at = l.at FROM l WHERE ${TABLE}.id = l.run_id
  ), ${ends ? `j AS (${deleteJobs({ from: 'l', id: 'l.run_id' })}), ` : ''}s AS (${writeRows('l')}
  ), e AS (${appendEvents({ from: 'l', topic: `'run:' || l.run_id`, orgId: 'l.org_id', after: 'l.before', events: 'l.events', at: 'l.at' })}
  ) SELECT l.run_id::text AS batch_key, json_build_object('before', l.before) AS answer FROM l`,
  );
export const COMMIT = commitStatement('commit_process_run', false);
export const COMMIT_LAST = commitStatement('commit_process_run_end', true);

/** Appends events to runs that this transaction has locked. */
export const TELL = statement<{ id: string; before: number }>(`
  WITH i AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(id uuid, events jsonb)
  ), r AS (
    UPDATE ${TABLE} SET event_seq = event_seq + jsonb_array_length(i.events), updated_at = $2 FROM i WHERE ${TABLE}.id = i.id
    RETURNING ${TABLE}.id, org_id, event_seq - jsonb_array_length(i.events) AS before, i.events
  ), e AS (${appendEvents({ from: 'r', topic: `'run:' || r.id`, orgId: 'r.org_id', after: 'r.before', events: 'r.events', at: '$2' })}
  ) SELECT id, before FROM r`);

/** Ends runs that this transaction has locked, and takes their jobs away. */
export const END = statement(`
  WITH r AS (
    UPDATE ${TABLE} SET ${runOver('$2', '$3')}, output = $4, flag_reason = $5, error = $6, asks_human = false, updated_at = $3
    FROM unnest($1::uuid[]) AS x(id) WHERE ${TABLE}.id = x.id RETURNING ${TABLE}.id
  ) ${deleteJobs({ from: 'r', id: 'r.id' })}`);

/** Adds to what a run has cost. */
export const CHARGE = statement(
  `UPDATE ${TABLE} SET cost_credits = cost_credits + $2, cost_usd = CASE WHEN $3::numeric IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + $3 END WHERE id = $1`,
);

export interface LockedRun {
  id: string;
  org_id: string;
  process_id: string;
  status: ProcessRun['status'];
  concurrency_key: string | null;
  parent_run_id: string | null;
  parent_step_id: string | null;
}
const LOCKED = 'id, org_id, process_id, status, concurrency_key, parent_run_id, parent_step_id';
export const LOCK = statement<LockedRun>(`SELECT ${LOCKED} FROM ${TABLE} WHERE id = $1 FOR NO KEY UPDATE`);
/** Locks those of these that are not over, deepest first. */
export const LOCK_LIVE = statement<LockedRun>(
  `SELECT ${LOCKED} FROM ${TABLE} WHERE id = ANY ($1) AND finished_at IS NULL ORDER BY depth DESC, id FOR NO KEY UPDATE`,
);

/** Tells the owner of a locked run, if it has one, that something has come for it. */
export const WOKEN = statement(`UPDATE ${TABLE} SET wakes = wakes + 1 WHERE id = $1`);
/** What a step that waits has waited for; written once. */
export const RESOLVE = statement<{ id: string; run_id: string }>(
  `UPDATE process_steps SET resolution = $2 WHERE id = $1 AND resolution IS NULL AND status IN ('waiting', 'outcome_unknown') RETURNING id, run_id`,
);
export const RUN_OF_STEP = statement<{ run_id: string }>('SELECT run_id FROM process_steps WHERE id = $1');
/** The step that waits for what a chat says, or has done so until it was given up. */
export const STEP_OF_CHAT = statement<{ id: string; run_id: string; org_id: string; agent_id: string }>(
  `SELECT id, run_id, org_id, (SELECT c.agent_id FROM chats c WHERE c.id = $1) AS agent_id FROM process_steps WHERE chat_id = $1 AND status IN ('waiting', 'cancelled') AND resolution IS NULL`,
);

export const ADD_SIGNAL = statement(
  'INSERT INTO process_signals (id, org_id, run_id, name, payload, sent_by) VALUES ($1, $2, $3, $4, $5, $6)',
);
/** The step that has waited longest for a signal of this name, of a locked run. */
export const WAITING_FOR = statement<{ id: string }>(
  `SELECT id FROM process_steps WHERE run_id = $1 AND event = $2 AND status = 'waiting' AND resolution IS NULL ORDER BY seq LIMIT 1`,
);
/** Has steps of a locked run take the signals of their names that nobody has taken, each the oldest that is left. */
export const TAKE_SIGNAL = statement<{ id: string }>(`
  WITH s AS (SELECT id, payload FROM process_signals WHERE run_id = $1 AND name = $2 AND consumed_by IS NULL ORDER BY id LIMIT 1
  ), t AS (UPDATE process_signals SET consumed_by = $3 FROM s WHERE process_signals.id = s.id RETURNING s.payload)
  UPDATE process_steps SET resolution = jsonb_build_object('kind', 'signal', 'payload', t.payload) FROM t WHERE process_steps.id = $3 RETURNING process_steps.id`);

/** A step that was given up. */
export type CancelledStep = Pick<
  ProcessStepRow,
  'id' | 'run_id' | 'step_id' | 'path' | 'kind' | 'chat_id' | 'child_run_id' | 'hitl_request_id' | 'resolution'
>;
/** Steps of runs that are not over, all at once. */
export const CANCEL_STEPS = statement<CancelledStep>(`
  UPDATE process_steps SET status = 'cancelled', finished_at = $2 FROM unnest($1::uuid[]) AS x(run)
  WHERE run_id = x.run AND status IN ('running', 'waiting', 'outcome_unknown') RETURNING id, run_id, step_id, path, kind, chat_id, child_run_id, hitl_request_id, resolution`);
/** Runs, and those within them. */
const WITHIN = `WITH RECURSIVE t AS (
    SELECT id, depth FROM ${TABLE} WHERE id = ANY ($1)
    UNION SELECT c.id, c.depth FROM t JOIN ${TABLE} c ON c.parent_run_id = t.id
  )`;
/** Runs that are not over, below these and these themselves, deepest first. */
export const TREE = statement<{ id: string; depth: number }>(`
  ${WITHIN} SELECT t.id, t.depth FROM t JOIN ${TABLE} r ON r.id = t.id WHERE r.finished_at IS NULL ORDER BY t.depth DESC, t.id`);
/** Runs that were begun anew, and those within them, are over, and nobody locks them but who begins one anew, which this waits for. */
export const LOCK_RESTARTED = statement<{ id: string }>(`
  ${WITHIN} SELECT r.id FROM ${TABLE} r WHERE r.id IN (SELECT id FROM t) ORDER BY r.id FOR NO KEY UPDATE OF r`);
export const RESTARTS = statement<{ id: string }>(`SELECT id FROM ${TABLE} WHERE restarted_from = ANY ($1)`);
export const CHILDREN = statement<{ id: string }>(`SELECT id FROM ${TABLE} WHERE parent_run_id = $1 AND finished_at IS NULL`);
/** A run, and those that it is within. */
export const LINE = statement<{ id: string }>(`
  WITH RECURSIVE l AS (
    SELECT id, parent_run_id FROM ${TABLE} WHERE id = $1
    UNION SELECT p.id, p.parent_run_id FROM l JOIN ${TABLE} p ON p.id = l.parent_run_id
  ) SELECT id FROM l`);
/** Steps of a run whose runs are cancelled, and that nobody has told so; their rows may not be there yet. */
export const UNTOLD = statement<{ parent_step_id: string | null }>(`
  SELECT c.parent_step_id FROM ${TABLE} c WHERE c.parent_run_id = $1 AND c.status = 'cancelled'
    AND NOT EXISTS (SELECT 1 FROM process_steps s WHERE s.id = c.parent_step_id AND (s.resolution IS NOT NULL OR s.status <> 'waiting'))`);
/** Chats that steps of these runs wait for. */
export const CHATS_OF = statement<{ chat_id: string | null }>(
  `SELECT chat_id FROM process_steps WHERE run_id = ANY ($1) AND status = 'waiting' AND chat_id IS NOT NULL`,
);

/** The part of a statement that names the runs of a key that are not over: those at work, or those that wait for them. */
const ofKey = (columns: string, admitted: boolean) =>
  `SELECT ${columns} FROM ${TABLE} WHERE process_id = $1 AND concurrency_key = $2 AND finished_at IS NULL AND ${admitted ? '' : 'NOT '}admitted`;
/** How many runs of a key are at work, and the oldest that waits for them. What the last deploy that began one says of their limit holds for all. */
export const KEY_STATE = statement<{ at_work: number; next_id: string | null; limit: number | null }>(`
  SELECT (${ofKey('count(*)::int', true)}) AS at_work, (${ofKey('id', false)} ORDER BY id LIMIT 1)::text AS next_id, (
    SELECT n.concurrency_limit FROM (
      (${ofKey('id, concurrency_limit', true)} ORDER BY id DESC LIMIT 1) UNION ALL (${ofKey('id, concurrency_limit', false)} ORDER BY id DESC LIMIT 1)
    ) n ORDER BY n.id DESC LIMIT 1) AS limit`);
/** The runs of a key that are at work, oldest first, and whether others wait for them. */
export const AT_WORK = statement<{ at_work: string[]; waits: boolean }>(
  `SELECT array(${ofKey('id', true)} ORDER BY id) AS at_work, (${ofKey('id', false)} ORDER BY id LIMIT 1) IS NOT NULL AS waits`,
);
export const ADMIT = statement<{ org_id: string }>(
  `UPDATE ${TABLE} SET admitted = true, dispatched_at = clock_timestamp() WHERE id = $1 AND NOT admitted AND finished_at IS NULL RETURNING org_id`,
);
/** Keys that runs wait for, and that have room. */
export const KEYS_WITH_ROOM = statement<{ process_id: string; concurrency_key: string | null }>(`
  SELECT h.process_id, h.concurrency_key FROM (
    SELECT process_id, concurrency_key, (array_agg(concurrency_limit ORDER BY id DESC))[1] AS room FROM ${TABLE} WHERE NOT admitted AND finished_at IS NULL GROUP BY process_id, concurrency_key
  ) h WHERE (SELECT count(*) FROM ${TABLE} r WHERE r.process_id = h.process_id AND r.concurrency_key = h.concurrency_key AND r.finished_at IS NULL AND r.admitted) < h.room`);

/** Of processes that are deleted, none. */
export const OF_ORG = statement<{ id: string }>(
  'SELECT r.id FROM process_runs r JOIN processes p ON p.id = r.process_id WHERE r.org_id = $1 AND r.id = ANY ($2) AND p.deleted_at IS NULL',
);

/** What runs have asked humans and got no answer to. */
export interface Asking {
  runs: number;
  /** Calls of which nobody knows what became of them. */
  unknown: number;
  oldest_unknown_s: number;
}
export const ASKING = statement<Asking>(`
  SELECT count(DISTINCT h.run_id)::int AS runs, count(s.id)::int AS unknown, coalesce(extract(epoch FROM now() - min(h.created_at) FILTER (WHERE s.id IS NOT NULL)), 0)::float8 AS oldest_unknown_s
  FROM hitl_requests h LEFT JOIN process_steps s ON s.id = h.step_id::uuid AND s.status = 'outcome_unknown' WHERE h.status = 'pending' AND h.run_id IS NOT NULL`);
