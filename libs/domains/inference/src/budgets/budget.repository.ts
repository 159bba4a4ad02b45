import { Injectable } from '@nestjs/common';
import type { BudgetReservation } from '@aps/entities';
import { batchStatement, statement, type Db } from '@aps/platform/database';

/** How long a reservation counts that nobody renews. */
const HELD_MINUTES = 10;

/** A reservation, as whoever holds it knows it. */
export type Reserved = Pick<BudgetReservation, 'work' | 'receipt_id'>;

/** What a call asks for. */
export interface Reserving extends Reserved {
  org_id: string;
  /** What it may cost. */
  usd: string;
  /** What earlier calls of the same receipt have cost. It is spent, and no receipt tells of it yet. */
  spent_usd: string;
}

/** What an organization has used of its budget; amounts are decimal texts. */
export interface BudgetUse {
  budget_limit_usd: string;
  spend_usd: string;
  /** Nothing is left beside what is spent and held. */
  used_up: boolean;
}

/*
 * The rule: a call is let through while what this month's calls have cost, and those under way have reserved, is less than the limit.
 * So of any number of calls at once exactly one goes over the limit, and the excess is at most what that one costs.
 *
 * Calls of one organization are decided one after another, under the lock of the row that holds its limit, and what counts is read
 * behind the lock, by a function (`budget_use`): the statement itself sees nothing that was committed while it waited. Those of one batch
 * count each other by their order. The lock ends with the statement, long before the call begins.
 *
 * What is over, because its receipt is there or its time is up, is removed with the next reservation of its organization.
 */
const RESERVE = batchStatement<Reserving>(
  'reserve_budget',
  (item) => item.work,
  (locked) => `
WITH i AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(work text, org_id uuid, receipt_id uuid, usd numeric, spent_usd numeric)
), l AS MATERIALIZED (
  SELECT o.org_id, o.works, k.budget_limit_usd
  FROM (SELECT i.org_id, array_agg(i.work) AS works FROM i GROUP BY i.org_id) o CROSS JOIN LATERAL (
    SELECT s.budget_limit_usd FROM org_ai_settings s WHERE s.org_id = o.org_id FOR NO KEY UPDATE ${locked}
  ) k
), u AS MATERIALIZED (
  SELECT l.org_id, l.budget_limit_usd, b.spent + b.held AS used FROM l CROSS JOIN LATERAL budget_use(l.org_id, l.works) b
), v AS MATERIALIZED (
  -- A limit that is null was cleared meanwhile.
  SELECT i.*, u.budget_limit_usd, coalesce(u.used + i.spent_usd + coalesce(sum(i.spent_usd + i.usd) OVER before, 0) < u.budget_limit_usd, true) AS granted
  FROM i JOIN u ON u.org_id = i.org_id
  WINDOW before AS (PARTITION BY i.org_id ORDER BY i.work ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), r AS (
  INSERT INTO budget_reservations (work, org_id, receipt_id, usd, expires_at)
  SELECT v.work, v.org_id, v.receipt_id, v.spent_usd + v.usd, now() + interval '${HELD_MINUTES} minutes' FROM v WHERE v.granted AND v.budget_limit_usd IS NOT NULL
  ON CONFLICT (work) DO UPDATE SET receipt_id = excluded.receipt_id, usd = excluded.usd, expires_at = excluded.expires_at
), d AS (
  DELETE FROM budget_reservations b USING l
  WHERE b.org_id = l.org_id AND b.work <> ALL (l.works)
    AND (b.expires_at <= now() OR (SELECT r.id FROM inference_receipts r WHERE r.id = b.receipt_id) IS NOT NULL)
)
SELECT v.work AS batch_key, to_json(v.granted) AS answer FROM v`,
);

const USE = statement<BudgetUse>(`
  SELECT trim_scale(s.budget_limit_usd)::text AS budget_limit_usd, trim_scale(b.spent)::text AS spend_usd, b.spent + b.held >= s.budget_limit_usd AS used_up
  FROM org_ai_settings s CROSS JOIN LATERAL budget_use(s.org_id, '{}') b WHERE s.org_id = $1 AND s.budget_limit_usd IS NOT NULL`);

// Who waits for one of these while he holds another could be waited for by a statement that removes both.
const RENEW = statement(`
  WITH k AS MATERIALIZED (
    SELECT b.work FROM budget_reservations b JOIN unnest($1::text[], $2::uuid[]) AS h(work, receipt_id) ON b.work = h.work AND b.receipt_id = h.receipt_id
    FOR NO KEY UPDATE OF b SKIP LOCKED
  )
  UPDATE budget_reservations b SET expires_at = now() + interval '${HELD_MINUTES} minutes' FROM k WHERE b.work = k.work`);

const RELEASE = statement('DELETE FROM budget_reservations WHERE work = $1 AND receipt_id = $2');

const FORGET = statement(`
  WITH k AS MATERIALIZED (SELECT work FROM budget_reservations WHERE expires_at <= now() LIMIT $1 FOR UPDATE SKIP LOCKED)
  DELETE FROM budget_reservations b USING k WHERE b.work = k.work`);

/** What model calls under way hold of the budgets of their organizations. */
@Injectable()
export class BudgetRepository {
  /**
   * Holds what a call may cost, in place of what its work has held before; where that is refused, that stays. It ends when a receipt with
   * its `receipt_id` is there, in the statement that writes it.
   *
   * @returns whether the call may be made
   */
  async reserve(db: Db, call: Reserving): Promise<boolean> {
    // Without a row there is no limit.
    return (await db.batched<Reserving, boolean>(RESERVE, call)) ?? true;
  }

  /** Null without a budget. */
  async use(db: Db, orgId: string): Promise<BudgetUse | null> {
    return (await db.query(USE, [orgId]))[0] ?? null;
  }

  /** Has those go on counting that are still there. */
  async renew(db: Db, held: Reserved[]): Promise<void> {
    await db.execute(RENEW, [held.map(({ work }) => work), held.map(({ receipt_id }) => receipt_id)]);
  }

  /** Ends one whose call has no receipt; where its work is another's by now, nothing. */
  async release(db: Db, { work, receipt_id }: Reserved): Promise<void> {
    await db.execute(RELEASE, [work, receipt_id]);
  }

  /** Removes some whose time is up. @returns how many */
  forget(db: Db, limit: number): Promise<number> {
    return db.execute(FORGET, [limit]);
  }
}
