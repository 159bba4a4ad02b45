import { Injectable } from '@nestjs/common';
import type { CallHold } from '@aps/entities';
import { batchStatement, statement, type Db } from '@aps/platform/database';

/** How long a reservation counts that nobody renews. */
const HELD_MINUTES = 10;
/** There is plenty where what a process takes for calls to come is less than this part of what is left. */
const PLENTY = 100;

/** A reservation, as whoever holds it knows it. */
export type Reserved = Pick<CallHold, 'work' | 'receipt_id'>;

/** What a call asks for. Amounts are decimal texts: dollars of a budget, or credits. */
export interface Reserving extends Reserved {
  org_id: string;
  /** Whom it is made for; an agent may have a budget of its own. */
  agent_id: string | null;
  /** What it may cost. */
  amount: string;
  /** No credits are paid: its agent's budget alone binds it. */
  unpaid?: boolean;
  /** What earlier calls of the same work have cost. It is spent, and no receipt tells of it yet. */
  spent: string;
}

/** What a process would hold in place of one call, and for others to come. */
export interface WideHold extends Reserved {
  amount: string;
}

/** Whether a call may be made, or what keeps it; `plenty` where the wide hold is made in place of its own. */
export type Verdict = 'granted' | 'plenty' | 'credits_exhausted' | 'budget_exceeded';

/** A call as the statements take it. */
type Item = Reserving & { wide_work: string | null; wide_id: string | null; wide: string | null };
const itemOf = (call: Reserving, wide: WideHold | null): Item => ({
  ...call,
  wide_work: wide?.work ?? null,
  wide_id: wide?.receipt_id ?? null,
  wide: wide?.amount ?? null,
});

/** What an organization has used of its budget; amounts are decimal texts. */
export interface BudgetUse {
  budget_limit_usd: string;
  spend_usd: string;
  /** Nothing is left beside what is spent and held. */
  used_up: boolean;
}

/** What an organization has left, in credits; decimal texts. */
export interface CreditUse {
  /** Granted and bought, and the grace below zero. */
  credits_remaining: string;
  /** The same without what calls under way hold. */
  credits_free: string;
  /** Of the agent that was asked about; null where it has no budget. */
  agent_budget: string | null;
  /** What it has used in the period, and what its calls under way hold. */
  agent_used: string | null;
}

/*
 * Both rules are decided for calls of one organization one after another, under the lock of a row of its own, and what counts is read
 * behind the lock, by a function (`budget_use`, `credit_use`, `agent_credit_use`): the statement itself sees nothing that was committed
 * while it waited. Those of one batch count each other by their order. The lock ends with the statement, long before the call begins.
 *
 * What is over, because its receipt is there or its time is up, is removed with the next reservation of its organization in the same unit: the lock
 * is of that unit alone, and an agent's budget may be decided beside one of dollars.
 */
const ITEMS = `i AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(work text, org_id uuid, agent_id uuid, receipt_id uuid, amount numeric, spent numeric, unpaid boolean, wide_work text, wide_id uuid, wide numeric)
)`;
/** What a call holds. */
const TAKEN = 'CASE WHEN p.plenty THEN p.wide ELSE p.spent + p.amount END AS taken';
const hold = (unit: CallHold['unit'], granted: string) => `r AS (
  INSERT INTO call_holds (work, org_id, receipt_id, agent_id, unit, amount, expires_at)
  SELECT CASE WHEN v.plenty THEN v.wide_work ELSE v.work END, v.org_id, CASE WHEN v.plenty THEN v.wide_id ELSE v.receipt_id END, v.agent_id, '${unit}', v.taken,
         now() + interval '${HELD_MINUTES} minutes' FROM v WHERE ${granted}
  ON CONFLICT (work) DO UPDATE SET receipt_id = excluded.receipt_id, agent_id = excluded.agent_id, unit = excluded.unit, amount = excluded.amount, expires_at = excluded.expires_at
), d AS (
  DELETE FROM call_holds h USING l
  WHERE h.org_id = l.org_id AND h.unit = '${unit}' AND h.work <> ALL (l.works) AND NOT EXISTS (SELECT FROM i WHERE i.wide_work = h.work)
    AND (h.expires_at <= now() OR (SELECT r.id FROM inference_receipts r WHERE r.id = h.receipt_id) IS NOT NULL)
)`;

/*
 * Of a budget: a call is let through while what this month's calls have cost, and those under way have reserved, is less than the limit.
 * So of any number of calls at once exactly one goes over the limit, and the excess is at most what that one costs.
 */
const RESERVE_BUDGET = batchStatement<Item>(
  'reserve_budget',
  (item) => item.work,
  (locked) => `
WITH ${ITEMS}, l AS MATERIALIZED (
  SELECT o.org_id, o.works, k.budget_limit_usd
  FROM (SELECT i.org_id, array_agg(i.work) AS works FROM i GROUP BY i.org_id) o CROSS JOIN LATERAL (
    SELECT s.budget_limit_usd FROM org_ai_settings s WHERE s.org_id = o.org_id FOR NO KEY UPDATE ${locked}
  ) k
), u AS MATERIALIZED (
  SELECT l.org_id, l.budget_limit_usd, b.spent + b.held AS used FROM l CROSS JOIN LATERAL budget_use(l.org_id, l.works) b
), p AS MATERIALIZED (
  SELECT i.*, u.budget_limit_usd, u.used, coalesce(u.used + ${PLENTY} * i.wide < u.budget_limit_usd, false) AS plenty FROM i JOIN u ON u.org_id = i.org_id
), v AS MATERIALIZED (
  -- A limit that is null was cleared meanwhile.
  SELECT t.*, coalesce(t.used + t.spent + coalesce(sum(t.taken) OVER before, 0) < t.budget_limit_usd, true) AS granted
  FROM (SELECT p.*, ${TAKEN} FROM p) t
  WINDOW before AS (PARTITION BY t.org_id ORDER BY t.work ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), ${hold('usd', 'v.granted AND v.budget_limit_usd IS NOT NULL')}
SELECT v.work AS batch_key, to_json(CASE WHEN NOT v.granted THEN 'budget_exceeded' WHEN v.plenty THEN 'plenty' ELSE 'granted' END) AS answer FROM v`,
);

/*
 * Of credits: a call is let through where what is left, without what calls under way hold, is at least what it may cost. The balance is
 * that of the commit before; what a call burns changes it, and ends its hold, in one statement. The lock is that of the subscription and
 * not of the balance: that one is held by each commit that burns, and whoever waits here would wait alone.
 *
 * An agent with a budget is bound by the rule of budgets beside it, or by that alone where nothing is paid. In a batch the smallest go first, so that one that is refused stands
 * in nobody's way: all after it are refused as well.
 */
const RESERVE_CREDITS = batchStatement<Item>(
  'reserve_credits',
  (item) => item.work,
  (locked) => `
WITH ${ITEMS}, l AS MATERIALIZED (
  SELECT o.org_id, o.works
  FROM (SELECT i.org_id, array_agg(i.work) AS works FROM i GROUP BY i.org_id) o CROSS JOIN LATERAL (
    SELECT s.org_id FROM subscriptions s WHERE s.org_id = o.org_id FOR NO KEY UPDATE ${locked}
  ) k
), u AS MATERIALIZED (
  SELECT l.org_id, c.remaining - c.held AS free FROM l CROSS JOIN LATERAL credit_use(l.org_id, l.works) c
), a AS MATERIALIZED (
  SELECT g.agent_id, b.budget, b.used
  FROM (SELECT DISTINCT l.org_id, l.works, i.agent_id FROM i JOIN l ON l.org_id = i.org_id WHERE i.agent_id IS NOT NULL) g
  CROSS JOIN LATERAL agent_credit_use(g.org_id, g.agent_id, g.works) b
), p AS MATERIALIZED (
  SELECT i.*, CASE WHEN i.unpaid THEN NULL ELSE u.free END AS free, a.used, a.budget, coalesce(u.free > ${PLENTY} * i.wide AND coalesce(a.used + ${PLENTY} * i.wide < a.budget, true), false) AS plenty
  FROM i JOIN u ON u.org_id = i.org_id LEFT JOIN a ON a.agent_id = i.agent_id
), w AS MATERIALIZED (
  SELECT t.*, coalesce(t.used + t.spent + coalesce(sum(t.taken) OVER smaller, 0) < t.budget, true) AS within
  FROM (SELECT p.*, ${TAKEN} FROM p) t
  WINDOW smaller AS (PARTITION BY t.org_id, t.agent_id ORDER BY t.taken, t.work ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), v AS MATERIALIZED (
  SELECT w.*, CASE WHEN w.free - coalesce(sum(w.taken) FILTER (WHERE w.within) OVER smaller, 0) < w.taken THEN 'credits_exhausted'
                   WHEN NOT w.within THEN 'budget_exceeded' WHEN w.plenty THEN 'plenty' ELSE 'granted' END AS verdict
  FROM w WINDOW smaller AS (PARTITION BY w.org_id ORDER BY w.taken, w.work ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), ${hold('credits', `v.verdict IN ('granted', 'plenty')`)}
SELECT v.work AS batch_key, to_json(v.verdict) AS answer FROM v`,
);

const BUDGET_USE = statement<BudgetUse>(`
  SELECT trim_scale(s.budget_limit_usd)::text AS budget_limit_usd, trim_scale(b.spent)::text AS spend_usd, b.spent + b.held >= s.budget_limit_usd AS used_up
  FROM org_ai_settings s CROSS JOIN LATERAL budget_use(s.org_id, '{}') b WHERE s.org_id = $1 AND s.budget_limit_usd IS NOT NULL`);

const CREDIT_USE = statement<CreditUse>(`
  SELECT trim_scale(c.remaining)::text AS credits_remaining, trim_scale(c.remaining - c.held)::text AS credits_free,
         trim_scale(a.budget)::text AS agent_budget, trim_scale(a.used)::text AS agent_used
  FROM subscriptions s CROSS JOIN LATERAL credit_use(s.org_id, '{}') c LEFT JOIN LATERAL agent_credit_use(s.org_id, $2, '{}') a ON true
  WHERE s.org_id = $1`);

// Who waits for one of these while he holds another could be waited for by a statement that removes both.
const RENEW = statement(`
  WITH k AS MATERIALIZED (
    SELECT b.work FROM call_holds b JOIN unnest($1::text[], $2::uuid[]) AS h(work, receipt_id) ON b.work = h.work AND b.receipt_id = h.receipt_id
    FOR NO KEY UPDATE OF b SKIP LOCKED
  )
  UPDATE call_holds b SET expires_at = now() + interval '${HELD_MINUTES} minutes' FROM k WHERE b.work = k.work`);

const HAS_BUDGET = statement<{ has: boolean }>(`
  SELECT r.config->>'budget_credits_per_period' IS NOT NULL AS has FROM agents a JOIN agent_revisions r ON r.id = a.live_revision_id WHERE a.id = $1`);

const RELEASE = statement('DELETE FROM call_holds WHERE work = $1 AND receipt_id = $2');

const FORGET = statement(`
  WITH k AS MATERIALIZED (SELECT work FROM call_holds WHERE expires_at <= now() LIMIT $1 FOR UPDATE SKIP LOCKED)
  DELETE FROM call_holds b USING k WHERE b.work = k.work`);

/** What model calls under way hold of the budgets and the credits of their organizations. */
@Injectable()
export class HoldRepository {
  /**
   * Holds what a call may cost, in place of what its work has held before; where that is refused, that stays. It ends when a receipt with
   * its `receipt_id` is there, in the statement that writes it.
   *
   * @param wide is held in its place where there is plenty
   */
  async reserveBudget(db: Db, call: Reserving, wide: WideHold | null = null): Promise<Verdict> {
    // Without a row there is no limit.
    return (await db.batched<Item, Verdict>(RESERVE_BUDGET, itemOf(call, wide))) ?? 'granted';
  }

  /** The same of credits. */
  async reserveCredits(db: Db, call: Reserving, wide: WideHold | null = null): Promise<Verdict> {
    // Who is not subscribed to anything has none.
    return (await db.batched<Item, Verdict>(RESERVE_CREDITS, itemOf(call, wide))) ?? 'credits_exhausted';
  }

  /** Null without a budget. */
  async budgetUse(db: Db, orgId: string): Promise<BudgetUse | null> {
    return (await db.query(BUDGET_USE, [orgId]))[0] ?? null;
  }

  /** Null without a subscription. */
  async creditUse(db: Db, orgId: string, agentId: string | null = null): Promise<CreditUse | null> {
    return (await db.query(CREDIT_USE, [orgId, agentId]))[0] ?? null;
  }

  /** Whether the live revision of an agent sets a budget. */
  async hasBudget(db: Db, agentId: string): Promise<boolean> {
    return (await db.query(HAS_BUDGET, [agentId]))[0]?.has ?? false;
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
