import { Injectable } from '@nestjs/common';
import type { BillingEvent } from '@aps/entities';
import { batchStatement, statement, type Db, type Tx } from '@aps/platform/database';
import { deleteJobs, insertJobs } from '@aps/platform/outbox';

/** A delivery as it is stored. The payload is the text that came: no number of it is another one. */
export interface StoredDelivery {
  id: string;
  delivery_id: string;
  type: string;
  payload: string;
  status: 'received' | 'ignored' | 'unresolved';
  error: string | null;
}

/** Two processes that store the same deliveries do it in the same order. */
const STORE = batchStatement<StoredDelivery>(
  'delivery',
  ({ delivery_id }) => delivery_id,
  () => `
  WITH e AS (
    INSERT INTO billing_events (id, delivery_id, type, payload, status, error, next_attempt_at)
    SELECT i.id, i.delivery_id, i.type, i.payload::jsonb, i.status, i.error, CASE i.status WHEN 'received' THEN now() END
    FROM jsonb_to_recordset($1::jsonb) AS i(id uuid, delivery_id text, type text, payload text, status text, error text) ORDER BY i.delivery_id
    ON CONFLICT (provider, delivery_id) DO NOTHING RETURNING id, delivery_id, status
  ), o AS (${insertJobs('billing.apply', { from: `e WHERE e.status = 'received'`, id: 'e.id', payload: { event_id: 'e.id' } })})
  SELECT e.delivery_id AS batch_key, to_json(true) AS answer FROM e`,
);
const KNOWN = statement<{ id: string }>(`SELECT id FROM billing_events WHERE provider = 'polar' AND delivery_id = $1`);

const BEGIN = statement<Pick<BillingEvent, 'type' | 'payload' | 'attempts'>>(`
  UPDATE billing_events SET attempts = attempts + 1 WHERE id = $1 AND status IN ('received', 'failed') AND next_attempt_at IS NOT NULL
  RETURNING type, payload, attempts`);
const STAMP = statement(`
  WITH e AS (
    UPDATE billing_events SET status = $2, org_id = $3, error = $4, next_attempt_at = NULL, applied_at = CASE $2 WHEN 'applied' THEN now() END
    WHERE id = $1 AND status IN ('received', 'failed')
  )
  ${deleteJobs({ from: '(SELECT $5::uuid AS id) j', id: 'j.id' })}`);
const FAILED = statement(`
  UPDATE billing_events SET status = 'failed', error = $2, next_attempt_at = now() + make_interval(secs => $3)
  WHERE id = $1 AND status IN ('received', 'failed')`);

// One that is still tried by itself is not left to anybody.
const SETTLE = statement(`
  UPDATE billing_events SET settled_at = now()
  WHERE id = $1 AND status IN ('failed', 'unresolved') AND next_attempt_at IS NULL AND settled_at IS NULL`);

// A refund that has an organization was applied as far as it could be: another try would find nothing left to do, and call it applied. What
// was settled is done, perhaps by hand.
const WAKE = statement<{ id: string }>(`
  UPDATE billing_events SET status = 'received', attempts = 0, error = NULL, next_attempt_at = now()
  WHERE status = 'unresolved' AND settled_at IS NULL AND id <> $2 AND (type <> 'order.refunded' OR org_id IS NULL)
    AND (payload->'data'->>'id' = ANY ($1) OR payload->'data'->>'subscription_id' = ANY ($1) OR payload->'data'->'subscription'->>'id' = ANY ($1))
  RETURNING id`);
const LEFT = statement<{ id: string }>(`
  SELECT id FROM billing_events e
  WHERE status IN ('received', 'failed') AND next_attempt_at < now() - interval '2 minutes' AND NOT EXISTS (SELECT FROM outbox o WHERE o.id = e.id)
  ORDER BY next_attempt_at LIMIT $1`);

/** Deliveries as they are stored. */
@Injectable()
export class DeliveriesRepository {
  /** With the job that applies it, where it is received. @returns false where it was stored before */
  async store(db: Db, delivery: StoredDelivery): Promise<boolean> {
    return (await db.batched(STORE, delivery)) !== null;
  }

  async idOf(db: Db, deliveryId: string): Promise<string> {
    return (await db.query(KNOWN, [deliveryId]))[0].id;
  }

  /** Counts a try. @returns null where there is nothing to do any more */
  async begin(db: Db, id: string): Promise<Pick<BillingEvent, 'type' | 'payload' | 'attempts'> | null> {
    return (await db.query(BEGIN, [id]))[0] ?? null;
  }

  /** What became of it, and that its job is done. */
  async stamp(
    tx: Tx,
    id: string,
    { status, org_id, error }: Pick<BillingEvent, 'status' | 'org_id' | 'error'>,
    jobId: string,
  ): Promise<void> {
    await tx.execute(STAMP, [id, status, org_id, error, jobId]);
  }

  /** @param againInS null gives it up */
  async fail(db: Db, id: string, error: string, againInS: number | null): Promise<void> {
    await db.execute(FAILED, [id, error, againInS]);
  }

  /** What went wrong with it is made good. @returns false where nobody is waited for, or no more */
  async settle(tx: Tx, id: string): Promise<boolean> {
    return (await tx.execute(SETTLE, [id])) > 0;
  }

  /** Lets deliveries that could not be resolved be tried again, now that more is known of what they are about. @returns their ids */
  async wake(tx: Tx, about: string[], but: string): Promise<string[]> {
    return (await tx.query(WAKE, [about, but])).map(({ id }) => id);
  }

  /** Those that wait for a try that nobody will make. */
  async left(db: Db, limit: number): Promise<string[]> {
    return (await db.query(LEFT, [limit])).map(({ id }) => id);
  }
}
