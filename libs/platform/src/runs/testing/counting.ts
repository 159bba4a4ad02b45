import { Injectable } from '@nestjs/common';
import { JOBS, RUN_KINDS, type JobName, type JobPayload, type RunKindName } from '@aps/contracts';
import { Database, statement } from '@aps/platform/database';
import { insertJobs, Outbox } from '@aps/platform/outbox';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import {
  claimStatement,
  PlainKind,
  RunRows,
  Runs,
  runStatements,
  RunSweeper,
  type ClaimedRun,
  type Lease,
  type OwnedRun,
  type RunTable,
} from '..';

/*
 * A second kind of run, as small as one can be: it counts to a number, and every number it has said stands in a table. What is here is what
 * a kind has to say of itself.
 */

const JOB = 'test.count' as JobName;
const KIND = 'count' as RunKindName;
Object.assign(JOBS, { [JOB]: { queue: 'titles', version: 1, payload: z.object({ org_id: z.uuid(), run_id: z.uuid() }) } });
Object.assign(RUN_KINDS, { [KIND]: { job: JOB, app: 'chat-worker', ready_per_pod: 100, scale_after_s: 10, late_after_s: 60 } });
type Payload = { org_id: string; run_id: string };

export const COUNTING_TABLES = [
  `CREATE TABLE counts (id uuid PRIMARY KEY, org_id uuid NOT NULL, wanted int NOT NULL, nap_after int, status text NOT NULL DEFAULT 'queued',
     lease_owner text, lease_expires_at timestamptz, fence bigint NOT NULL DEFAULT 0, parked boolean NOT NULL DEFAULT false, wait jsonb,
     deliveries int NOT NULL DEFAULT 0, steps_done int NOT NULL DEFAULT 0, error jsonb, dispatched_at timestamptz NOT NULL DEFAULT now(),
     started_at timestamptz, finished_at timestamptz)`,
  'CREATE TABLE counted (run_id uuid NOT NULL, number int NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())',
  'CREATE INDEX ON counted (run_id)',
  'CREATE TABLE held_orgs (org_id uuid PRIMARY KEY, for_ever boolean NOT NULL DEFAULT false)',
];

const COUNTS = {
  kind: KIND,
  table: 'counts',
  payload: { org_id: 'org_id', run_id: 'id' },
  isSuspended: (org) => `EXISTS (SELECT FROM held_orgs h WHERE h.org_id = ${org})`,
  isEnded: (org) => `EXISTS (SELECT FROM held_orgs h WHERE h.org_id = ${org} AND h.for_ever)`,
} satisfies RunTable & { payload: Record<keyof Payload, string> };
const SQL = runStatements<JobName>(COUNTS);
const CLAIM = claimStatement(COUNTS, {
  columns: 'r.wanted, r.nap_after',
  answer: 'v.wanted, v.nap_after',
});
/** A run with its job, which the relay publishes. It counts to a number, and sleeps for a moment after another one, if any; done twice it is there once. */
export const START_COUNT = statement(`
WITH r AS (INSERT INTO counts (id, org_id, wanted, nap_after) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id, org_id)
${insertJobs(JOB, { from: 'r', id: 'r.id', payload: { org_id: 'r.org_id', run_id: 'r.id' } as Record<keyof JobPayload<JobName>, string> })}`);
/** Runs that have not said every number once. */
export const MISCOUNTED = statement<{ id: string; status: string; wanted: number; said: number[] | null }>(`
SELECT c.id, c.status, c.wanted, x.said FROM counts c
LEFT JOIN LATERAL (SELECT array_agg(number ORDER BY number) AS said FROM counted WHERE run_id = c.id) x ON true
WHERE c.status <> 'done' OR x.said IS DISTINCT FROM ARRAY(SELECT generate_series(1, c.wanted))`);
const SAY = statement('INSERT INTO counted (run_id, number) VALUES ($1, $2)');

interface Count extends ClaimedRun {
  wanted: number;
  /** It sleeps for a moment after this number. */
  nap_after: number | null;
}

@Injectable()
export class CountKind extends PlainKind<JobName, Count> {
  override cap = -1;
  /** What a spec does in the middle of a run. */
  before: (run: Count, number: number) => Promise<void> = () => Promise.resolve();

  constructor(
    db: Database,
    private readonly runs: Runs,
    outbox: Outbox,
    sweeper: RunSweeper,
  ) {
    super(db, new RunRows(SQL, outbox), CLAIM, -1, sweeper);
  }

  start(orgId: string, wanted: number, napAfter: number | null = null): Promise<string> {
    const id = uuidv7();
    return this.db.transaction({}, async (tx) => {
      await tx.execute(START_COUNT, [id, orgId, wanted, napAfter]);
      await this.rows.dispatch(tx, id, { org_id: orgId, run_id: id } as unknown as JobPayload<JobName>);
      return id;
    });
  }

  @JobHandler(JOB, { ownsRow: true })
  deliver(payload: JobPayload<JobName>, context: JobContext): Promise<void> {
    return this.runs.run(this, payload, context);
  }

  refuse = ({ id }: Count, why: string) => this.rows.end(this.db, id, { status: why, error: null, at: this.db.now() });
  override suspend = ({ id }: Count) => this.rows.end(this.db, id, { status: 'held', error: null, at: this.db.now() });
  fail: (run: OwnedRun<Count>) => Promise<string | null> = () => Promise.resolve(null);
  attributesOf = () => ({});

  async drive(run: OwnedRun<Count>, lease: Lease): Promise<string> {
    for (let number = run.steps_done + 1; ; number++) {
      lease.requireNext();
      await this.before(run, number);
      const ends = number === run.wanted ? { status: 'done', at: this.db.now() } : undefined;
      await this.rows.step(this.db, run, (tx) => tx.execute(SAY, [run.id, number]).then(() => undefined), ends);
      if (ends) return 'done';
      if (number !== run.nap_after) continue;
      await this.rows.beginWait(this.db, run.id, { resume_at: new Date(this.db.now().getTime() + 300).toISOString() });
      return 'waiting';
    }
  }
}
