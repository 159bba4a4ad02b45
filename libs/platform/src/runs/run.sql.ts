import { JOBS, RUN_KINDS, type JobName, type JobPayload, type RunKindName, type RunKindOf } from '@aps/contracts';
import { batchStatement, statement, type BatchStatement } from '@aps/platform/database';
import { deleteJobs, insertJobs, redeliverJobs, type JobRow } from '@aps/platform/outbox';

/** How long a claim holds without a heartbeat. */
export const LEASE_S = 20;
/** Deliveries in a row that finish no step before a run is given up. */
export const MAX_DELIVERIES = 3;
/** What people are told of a run that was given up after {@link MAX_DELIVERIES}, as the beginning of a sentence. */
export const WORKERS_LOST = 'Its workers were lost three times in a row';
/**
 * Claims that come at the same moment do not see each other. Closer to the cap than this, a claim takes the organization's lock;
 * further away it needs none.
 */
export const CAP_MARGIN = 64;

const LEASE = `now() + interval '${LEASE_S} seconds'`;
const NO_LEASE = 'lease_owner = NULL, lease_expires_at = NULL';

/** What is to be known of the table of a kind of run, whose columns are those of `DurableRun` and its own. */
export interface RunTable<N extends JobName = JobName> {
  kind: RunKindOf<N>;
  table: string;
  /** The column of each field of the payload of its job. */
  payload: Record<keyof JobPayload<N>, string>;
  /** SQL of whether runs of an organization are held at the moment. @param org SQL of its id */
  isSuspended: (org: string) => string;
  /** SQL of whether an organization is gone, so that nobody takes up its runs any more. @param org SQL of its id */
  isEnded: (org: string) => string;
}

/** The runs of a kind that are not over. */
export interface RunState {
  /** What a worker could take up now. */
  ready: number;
  oldest_ready_s: number;
  /** What could be taken up, but for a claim that has failed three times, or a job of a newer version: more workers do not help. */
  stuck: number;
  /** Under a live lease. */
  active: number;
  /** Over the cap of their organization. */
  parked: number;
  /** For a time, or for somebody. */
  waiting: number;
}

/** What a finished step sets in the row of its run. */
export const stepDone = (table: string): string => `steps_done = ${table}.steps_done + 1, deliveries = 0, lease_expires_at = ${LEASE}`;
/** The same for a step that ends its run. @param status SQL of what the run is then */
export const lastStepDone = (table: string, status: string, at: string): string =>
  `steps_done = ${table}.steps_done + 1, deliveries = 0, status = ${status}, finished_at = ${at}, ${NO_LEASE}`;
/** What sets a run as over that nobody goes on with. */
export const runOver = (status: string, at: string): string =>
  `status = ${status}, finished_at = ${at}, ${NO_LEASE}, parked = false, wait = NULL`;

/**
 * SQL of when a worker could take a run up: its job is written when whatever it waited behind is over, another run of its key or the cap of
 * its organization.
 */
const readyAt = (run: string): string => `greatest(${run}.dispatched_at, (SELECT o.created_at FROM outbox o WHERE o.id = ${run}.id))`;

/** A run that a worker asks for. */
export interface Claiming {
  run_id: string;
  /** What the claim locks: two with the same key go one after the other. */
  key: string;
  worker: string;
  /** So many runs of its organization may be at work; negative for any number. */
  cap: number;
  at: Date;
}

/**
 * Claims runs of a kind, many at once: locks each, decides on what it finds under the lock, and writes the owner, the lease and a higher
 * fence. What else the kind reads, refuses and writes stands in the same statement.
 *
 * @param parts SQL, in which `r` is the run before its claim is decided, `l` all that was locked, and `v` that with its `verdict`, its
 *   `fence` and its `worker`
 */
export const claimStatement = (
  { kind, table, isSuspended, isEnded }: RunTable,
  {
    from = `${table} r`,
    lock = 'r',
    key = 'id',
    isGone = 'false',
    refusals = [],
    effects = '',
    ...parts
  }: {
    /** The run and what is locked with it: what follows FROM, and the names of what is locked. Default: the run alone. */
    from?: string;
    lock?: string;
    /** More columns than those of every run. */
    columns: string;
    /** The column that equals the key of {@link Claiming}. */
    key?: string;
    isGone?: string;
    /** What the kind refuses, in this order, before what every kind does. */
    refusals?: { verdict: string; when: string }[];
    /** Further parts of the statement, for runs with the verdict `claimed`. */
    effects?: string;
    /** Columns of the answer beside those of every run. */
    answer: string;
  },
): BatchStatement<Claiming> =>
  batchStatement<Claiming>(
    `claim_${kind}`,
    (item) => item.key,
    (locked) => `
WITH i AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(run_id uuid, worker text, cap int, at timestamptz)
), l AS MATERIALIZED (
  SELECT i.worker, i.cap, i.at, k.*
  FROM i CROSS JOIN LATERAL (
    SELECT r.id, r.org_id, r.status, r.lease_owner, r.lease_expires_at, r.fence AS last_fence, r.deliveries, r.steps_done, r.parked, r.wait, r.dispatched_at, ${parts.columns}
    FROM ${from}
    WHERE r.id = i.run_id
    FOR NO KEY UPDATE OF ${lock} ${locked}
  ) k
), g AS MATERIALIZED (
  SELECT d.org_id, ${isSuspended('d.org_id')} AS suspended, ${isEnded('d.org_id')} AS ended,
         CASE WHEN d.capped THEN (SELECT count(*) FROM ${table} r WHERE r.org_id = d.org_id AND r.lease_owner IS NOT NULL AND r.status = 'running' AND r.lease_expires_at > now()) END AS running
  FROM (SELECT l.org_id, bool_or(l.cap >= 0) AS capped FROM l GROUP BY l.org_id) d
), w AS MATERIALIZED (
  -- The fence is the time and not only a count: where PostgreSQL does not wait for its disk, a crash could have it forget a claim, and a
  -- count would give the same fence out a second time.
  SELECT l.*, greatest(l.last_fence + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS fence, CASE
    WHEN l.status NOT IN ('queued', 'running', 'waiting') OR g.ended OR ${isGone} THEN 'gone'
    WHEN l.status = 'running' AND l.lease_expires_at > now() THEN 'busy'
    ${refusals.map(({ verdict, when }) => `WHEN ${when} THEN '${verdict}'`).join('\n    ')}
    WHEN l.status = 'waiting' AND coalesce((l.wait->>'resume_at')::timestamptz, 'infinity') > now() THEN 'early'
    WHEN g.suspended THEN 'suspended'
    WHEN l.deliveries >= ${MAX_DELIVERIES} THEN 'lost'
    -- Without a job: who took it up by a delivery that was left over would have nothing to be delivered by again.
    WHEN l.parked THEN 'parked'
    ELSE 'claimed' END AS may, g.running
  FROM l JOIN g ON g.org_id = l.org_id
), v AS MATERIALIZED (
  -- Those before it in this batch that may run do so as well.
  SELECT w.*, CASE WHEN w.may = 'claimed' AND w.cap >= 0 AND w.running + row_number() OVER (PARTITION BY w.org_id, w.may = 'claimed' ORDER BY w.id) > w.cap
    THEN 'over_cap' ELSE w.may END AS verdict
  FROM w
), r AS (
  UPDATE ${table} SET status = 'running', lease_owner = v.worker, lease_expires_at = ${LEASE}, fence = v.fence,
         deliveries = v.deliveries + 1, started_at = coalesce(${table}.started_at, now())
  FROM v WHERE v.verdict = 'claimed' AND ${table}.id = v.id
), d AS (
  -- Under the lock, so that one which is begun anew keeps its new job.
  ${deleteJobs({ from: `(SELECT v.id FROM v WHERE v.verdict = 'gone') g`, id: 'g.id' })}
)${effects && `, ${effects}`}
SELECT v.${key} AS batch_key, row_to_json(a) AS answer
FROM v CROSS JOIN LATERAL (
  SELECT v.verdict, CASE v.verdict WHEN 'busy' THEN v.lease_expires_at WHEN 'early' THEN (v.wait->>'resume_at')::timestamptz END AS retry_at,
         v.id, v.org_id, v.fence::text, v.deliveries, v.status = 'running' AS taken_over, v.status = 'running' AND v.lease_owner IS NOT NULL AS lease_expired,
         v.steps_done, v.wait, ${readyAt('v')} AS ready_at, ${parts.answer}
) a`,
  );

/** The statements of a kind of run that its own have no part in. */
export function runStatements<N extends JobName>(of: RunTable<N>) {
  const { table, payload } = of;
  const job = RUN_KINDS[of.kind].job as N;
  const payloadFrom = (row: string) =>
    Object.fromEntries(Object.entries<string>(payload).map(([field, column]) => [field, `${row}.${column}`])) as typeof payload;
  // Jobs are written, and not only changed: a run whose job is missing, for whatever reason, has one again as soon as it needs it.
  const redeliver = redeliverJobs(job, { from: 'r', id: 'r.id', payload: payloadFrom('r') });
  const beginWait = `WITH r AS (UPDATE ${table} SET status = 'waiting', wait = $2, deliveries = 0, ${NO_LEASE} WHERE id = $1 RETURNING *)`;
  const [idField] = Object.entries<string>(payload).find(([, column]) => column === 'id')!;
  return {
    kind: of.kind as RunKindName,
    job,
    /** The run that a job delivers. */
    idOf: (delivered: JobPayload<N>): string => (delivered as Record<string, string>)[idField],
    LOCK_OWNED: statement<{ id: string }>(`SELECT id FROM ${table} WHERE id = $1 AND fence = $2 AND status = 'running' FOR NO KEY UPDATE`),
    STEP_DONE: statement(`UPDATE ${table} SET ${stepDone(table)} WHERE id = $1`),
    // Rows that somebody is writing are left to the next beat: one statement that holds some runs and waits for others could be waited for
    // by those that hold one of them and wait for another.
    HEARTBEAT: statement<{ id: string; suspended: boolean }>(`
WITH held AS MATERIALIZED (
  SELECT r.id, r.org_id FROM ${table} r JOIN unnest($1::uuid[], $2::bigint[]) AS h(id, fence) ON r.id = h.id AND r.fence = h.fence WHERE r.status = 'running'
), k AS MATERIALIZED (
  SELECT r.id FROM ${table} r JOIN unnest($1::uuid[], $2::bigint[]) AS h(id, fence) ON r.id = h.id AND r.fence = h.fence WHERE r.status = 'running'
  FOR NO KEY UPDATE OF r SKIP LOCKED
), b AS (
  UPDATE ${table} SET lease_expires_at = ${LEASE}, lease_owner = $3 FROM k WHERE ${table}.id = k.id
)
SELECT held.id, ${of.isSuspended('held.org_id')} AS suspended FROM held`),
    RELEASE: statement(`
WITH r AS (
  UPDATE ${table} SET lease_owner = NULL, lease_expires_at = now() WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING *
)${insertJobs(job, { from: 'r', id: 'r.id', payload: payloadFrom('r'), at: 'now()' })}`),
    HAND_BACK: statement<JobRow>(`
WITH r AS (
  UPDATE ${table} SET lease_owner = NULL, lease_expires_at = now(), deliveries = greatest(deliveries - 1, 0) WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING *
)${redeliver}`),
    // Few runs are owned, beside all that there are. One that has lost a worker before, and no step done since, may be what kills them: it is
    // left to its lease, so that workers that die again and again do not use up its deliveries, nor those of whatever runs beside it, in seconds.
    REAP: statement<JobRow>(`
WITH r AS (
  UPDATE ${table} SET lease_owner = NULL, lease_expires_at = now() WHERE lease_owner = $1 AND status = 'running' AND deliveries <= 1 RETURNING *
)${redeliver}`),
    PARK: statement(`
WITH r AS (
  UPDATE ${table} SET parked = true, status = 'queued', ${NO_LEASE} FROM unnest($1::uuid[]) AS x(id) WHERE ${table}.id = x.id RETURNING ${table}.id
)${deleteJobs({ from: 'r', id: 'r.id' })}`),
    NOTE_WAIT: statement(`UPDATE ${table} SET wait = $2, deliveries = 0 WHERE id = $1`),
    BEGIN_WAIT_UNTIL: statement(
      `${beginWait}${insertJobs(job, { from: 'r', id: 'r.id', payload: payloadFrom('r'), at: '$3::timestamptz' })}`,
    ),
    BEGIN_WAIT: statement(`${beginWait}${deleteJobs({ from: 'r', id: 'r.id' })}`),
    END_WAIT: statement(`UPDATE ${table} SET status = 'queued', dispatched_at = clock_timestamp() WHERE id = $1`),
    END: statement(`UPDATE ${table} SET error = $3, ${runOver('$2', '$4')} WHERE id = $1`),
    // Without a lease it is found no second time; until somebody claims it the relay publishes it again and again. Rows that somebody is
    // writing are left to the next sweep: he may hold others that this one comes to, and wait for those that it holds.
    TAKE_UNOWNED: statement<JobRow>(`
WITH u AS MATERIALIZED (
  SELECT id FROM ${table} WHERE lease_owner IS NOT NULL AND status = 'running' AND lease_expires_at < now() - interval '1 second' FOR NO KEY UPDATE SKIP LOCKED
), r AS (
  UPDATE ${table} SET lease_expires_at = NULL FROM u WHERE ${table}.id = u.id RETURNING ${table}.*
)${redeliver}`),
    WAKE_WAITING: statement(`
WITH w AS MATERIALIZED (
  SELECT o.id FROM outbox o JOIN ${table} r ON r.id = o.id
  WHERE o.available_at > now() + interval '5 seconds' AND r.status = 'waiting' AND (r.wait->>'resume_at')::timestamptz < now() - interval '1 second'
  FOR NO KEY UPDATE OF o SKIP LOCKED
)
UPDATE outbox SET available_at = now() FROM w WHERE outbox.id = w.id`),
    PARKED_ORGS: statement<{ org_id: string }>(`SELECT DISTINCT org_id FROM ${table} WHERE parked`),
    RUNNING: statement<{ running: number }>(
      `SELECT count(*)::int AS running FROM ${table} WHERE org_id = $1 AND lease_owner IS NOT NULL AND status = 'running' AND lease_expires_at > now()`,
    ),
    // The rows are found before they are joined: with a list of ids, a plan made while the table was small reads all of it for ever.
    DISPATCH_PARKED: statement<{ id: string; payload: JobPayload<N>; generation: number }>(`
WITH x AS MATERIALIZED (
  SELECT id FROM ${table} WHERE parked AND org_id = $1 ORDER BY dispatched_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
), p AS (
  UPDATE ${table} SET parked = false FROM x WHERE ${table}.id = x.id RETURNING ${table}.*
), o AS (${insertJobs(job, { from: 'p', id: 'p.id', payload: payloadFrom('p'), generation: '$3::int' })}
  RETURNING id, payload, generation
)
SELECT id, payload, generation FROM o`),
    // The outbox holds what is to be done, and no more. Its runs are looked up one by one: a join that was planned while the table was small
    // reads all of it for ever.
    STATE: statement<RunState>(`
WITH l AS MATERIALIZED (
  SELECT r.status, o.version > ${JOBS[job].version} OR (r.status = 'queued' AND o.failures > 2) AS is_stuck, CASE
    WHEN r.status = 'running' AND r.lease_expires_at > now() THEN r.lease_expires_at
    WHEN ${of.isSuspended('r.org_id')} THEN NULL
    WHEN r.status = 'running' THEN coalesce(r.lease_expires_at, now())
    WHEN r.status = 'queued' THEN greatest(r.dispatched_at, o.created_at)
    WHEN r.status = 'waiting' THEN (r.wait->>'resume_at')::timestamptz END AS ready_at
  FROM outbox o CROSS JOIN LATERAL (SELECT * FROM ${table} x WHERE x.id = o.id LIMIT 1) r
  WHERE o.job = '${job}'
)
SELECT count(*) FILTER (WHERE ready_at <= now() AND NOT is_stuck)::int AS ready,
       coalesce(extract(epoch FROM now() - min(ready_at) FILTER (WHERE ready_at <= now() AND NOT is_stuck)), 0)::float8 AS oldest_ready_s,
       count(*) FILTER (WHERE ready_at <= now() AND is_stuck)::int AS stuck,
       count(*) FILTER (WHERE status = 'running' AND ready_at > now())::int AS active,
       (SELECT count(*)::int FROM ${table} WHERE parked) AS parked,
       (SELECT count(*)::int FROM ${table} WHERE status = 'waiting' AND finished_at IS NULL) AS waiting
FROM l`),
  };
}

export type RunStatements<N extends JobName> = ReturnType<typeof runStatements<N>>;
