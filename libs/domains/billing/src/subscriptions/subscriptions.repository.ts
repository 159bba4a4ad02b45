import { Injectable } from '@nestjs/common';
import { ExternalSubscription, Plan, Subscription } from '@aps/entities';
import { advisoryLock, statement, type Db, type Tx } from '@aps/platform/database';
import { addMonths, goesOn, isLive } from './periods.policy';

/** What an organization is subscribed to, in full. */
export interface Subscribed {
  subscription: Subscription;
  plan: Plan;
  /** The provider's side of it, where somebody pays. */
  external: ExternalSubscription | null;
}

const POSTED = statement<{ id: string }>('SELECT id FROM credit_ledger WHERE key = $1');

// What an order brings is of the time when it was paid, whenever that was told.
const GRANTS = `
  FROM credit_ledger l LEFT JOIN billing_orders o ON l.ref_type = 'order' AND o.id = l.ref_id
  WHERE l.org_id = $1 AND l.kind = 'grant' AND (starts_with(l.key, 'grant:' || $1::uuid || ':' || $2::uuid || ':') OR o.code = $3)`;
const LAST_GRANT = statement<{ at: Date | null }>(`SELECT max(coalesce(o.paid_at, l.created_at)) AS at ${GRANTS}`);

// What was granted instead of what expired is no longer taken; allocations are, as they come once ever. Operators' corrections are in the balance.
const UNSPENT = statement<{ granted: string; taken: string }>(`
  WITH g AS MATERIALIZED (SELECT l.seq, l.delta, coalesce(o.paid_at, l.created_at) AS at ${GRANTS}), x AS (
    SELECT -sum(l.delta) AS taken FROM credit_ledger l
    WHERE l.org_id = $1 AND l.bucket = 'granted' AND l.kind <> 'burn' AND (l.kind IN ('expire', 'refund') OR l.kind = 'grant' AND l.key NOT LIKE '%:allocation')
      AND l.seq > (SELECT max(seq) FROM g) AND l.created_at >= $4)
  SELECT coalesce((SELECT sum(delta) FROM g WHERE at > $5), 0)::text AS granted, greatest((SELECT taken FROM x), 0)::text AS taken`);

const RESETS = statement<{ n: number }>(`SELECT count(*)::int AS n FROM credit_ledger WHERE org_id = $1 AND kind = 'reset'`);

// Of an organization that is deleted nobody is granted anything. Those that wait for an order come again when they have waited long enough. Who is past due otherwise has no next period.
const DUE = statement<{ org_id: string }>(`
  SELECT s.org_id FROM subscriptions s JOIN organizations o ON o.id = s.org_id AND o.deleted_at IS NULL
  WHERE s.period_end <= now() AND s.org_id <> ALL ($3::uuid[]) AND (s.status IN ('trialing', 'active')
    OR s.status = 'past_due' AND s.external_subscription_id IS NOT NULL AND s.period_end <= now() - make_interval(secs => $1))
  ORDER BY s.period_end LIMIT $2`);

const BURY = statement('UPDATE external_subscriptions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL');

const PRESUME_CANCELED = statement(`UPDATE external_subscriptions SET status = 'canceled' WHERE id = $1`);

const GONE = statement<{ id: string }>('SELECT id FROM organizations WHERE id = $1 AND deleted_at IS NOT NULL');

const FIRST_TRIAL = statement(`INSERT INTO trial_grants (email_canonical, org_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`);

const AWAITING_PROOF = statement<{ org_id: string }>(`
  SELECT o.id AS org_id FROM memberships m JOIN organizations o ON o.id = m.org_id JOIN subscriptions s ON s.org_id = o.id
  WHERE m.user_id = $1 AND m.role = 'OWNER' AND o.created_by = $1 AND o.deleted_at IS NULL ORDER BY o.created_at, o.id LIMIT 1`);

@Injectable()
export class SubscriptionsRepository {
  /**
   * Has the billing of an organization for this transaction alone: orders, periods, operators and the end of a subscription come one after
   * another. The first lock of all that changes a plan, before the one of the balances.
   */
  async lock(tx: Tx, orgId: string): Promise<Subscribed | null> {
    await advisoryLock(tx, `billing:${orgId}`);
    return this.find(tx, orgId);
  }

  async find(db: Db, orgId: string): Promise<Subscribed | null> {
    const subscription = await db.manager.findOneBy(Subscription, { org_id: orgId });
    if (!subscription) return null;
    const plan = await db.manager.findOneByOrFail(Plan, { id: subscription.plan_id });
    const id = subscription.external_subscription_id;
    return { subscription, plan, external: id === null ? null : await db.manager.findOneBy(ExternalSubscription, { id }) };
  }

  async save(tx: Tx, orgId: string, columns: Partial<Subscription>): Promise<void> {
    await tx.manager.upsert(Subscription, { ...columns, org_id: orgId, updated_at: () => 'statement_timestamp()' } as never, ['org_id']);
  }

  /** Whether something is paid, or is to be: the current subscription or another, which may not have brought its plan yet. */
  async isPaying(db: Db, orgId: string): Promise<boolean> {
    return (await this.paying(db, orgId, null)) !== null;
  }

  /** What is paid for an organization: the current subscription, else the newest other one that is live; null without one. */
  async paying(db: Db, orgId: string, currentId: string | null): Promise<ExternalSubscription | null> {
    const live = (await this.live(db, orgId)).sort((a, b) => b.modified_at.getTime() - a.modified_at.getTime());
    return live.find(({ id }) => id === currentId) ?? live[0] ?? null;
  }

  /** What is paid for, the current subscription or another. */
  async live(db: Db, orgId: string): Promise<ExternalSubscription[]> {
    return (await this.externals(db, orgId)).filter(isLive);
  }

  /** What the provider goes on asking money for, the current subscription or another. */
  async goingOn(db: Db, orgId: string): Promise<ExternalSubscription[]> {
    return (await this.externals(db, orgId)).filter(goesOn);
  }

  private externals(db: Db, orgId: string): Promise<ExternalSubscription[]> {
    return db.manager.findBy(ExternalSubscription, { org_id: orgId });
  }

  /** A subscription of the provider's has ended as far as we can tell; whatever is told of it next says better. */
  async presumeCanceled(tx: Tx, id: string): Promise<void> {
    await tx.execute(PRESUME_CANCELED, [id]);
  }

  /** A subscription of the provider's has ended: its orders until then count no more. @returns false where it had ended already */
  async bury(tx: Tx, id: string, at: Date): Promise<boolean> {
    return (await tx.execute(BURY, [id, at])) > 0;
  }

  async isGone(db: Db, orgId: string): Promise<boolean> {
    return (await db.query(GONE, [orgId])).length > 0;
  }

  planByCode(db: Db, code: string): Promise<Plan | null> {
    return db.manager.findOneBy(Plan, { code });
  }

  /** Whether the ledger has moved credits for this cause. Under the lock nobody else posts it. */
  async isPosted(tx: Tx, key: string): Promise<boolean> {
    return (await this.postedBy(tx, key)) !== null;
  }

  /** The row of the ledger with this key; null without one. */
  async postedBy(tx: Tx, key: string): Promise<string | null> {
    return (await tx.query(POSTED, [key]))[0]?.id ?? null;
  }

  /** When a plan has granted something last; null where it never has. */
  async lastGrant(tx: Tx, orgId: string, plan: Plan): Promise<Date | null> {
    return (await tx.query(LAST_GRANT, [orgId, plan.id, plan.code]))[0].at;
  }

  /**
   * Of what a plan has granted: how much within the month until a moment, and how much was taken away again unspent since it has granted last, but not before
   * `from`: by another plan, or for money that was given back.
   */
  async unspent(tx: Tx, orgId: string, plan: Plan, from: Date, at: Date): Promise<{ granted: string; taken: string }> {
    return (await tx.query(UNSPENT, [orgId, plan.id, plan.code, from, addMonths(at, -1)]))[0];
  }

  async countResets(tx: Tx, orgId: string): Promise<number> {
    return (await tx.query(RESETS, [orgId]))[0].n;
  }

  /** Organizations whose period is over, the longest ended first. @param but those that were looked at already */
  async due(db: Db, awaitedMs: number, { limit, but }: { limit: number; but: string[] }): Promise<string[]> {
    return (await db.query(DUE, [awaitedMs / 1_000, limit, but])).map(({ org_id }) => org_id);
  }

  /** @returns false where the person at this address has had a trial's credits already */
  async rememberTrial(tx: Tx, emailCanonical: string, orgId: string): Promise<boolean> {
    return (await tx.execute(FIRST_TRIAL, [emailCanonical, orgId])) > 0;
  }

  /** The organization that a person founded before their address was proven, and owns; null without one. */
  async foundedBy(tx: Tx, userId: string): Promise<string | null> {
    return (await tx.query(AWAITING_PROOF, [userId]))[0]?.org_id ?? null;
  }
}
