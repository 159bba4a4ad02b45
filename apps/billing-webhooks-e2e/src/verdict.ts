import { sql } from '@aps/platform/testing';
import { until, type Platform } from '../../api-gateway-e2e/support';
import type { Life } from './lives';
import type { Delivery, Sender } from './sender';

/** What has become of deliveries, by the database. */
export interface Verdict {
  /** Deliveries that were said to be stored, each counted once. */
  acknowledged: number;
  /** Of these, the ones that are not there. */
  lost: number;
  /** Deliveries that are there twice, or were stored under two ids. */
  stored_twice: number;
  /** Deliveries that failed, or wait. */
  left: number;
  /** Deliveries that nobody could resolve, although all of their subscription has come; but for refunds of credits that are gone. */
  unresolved: number;
  /** Orders that were paid. */
  orders: number;
  /** Of these, the ones whose credits were not granted exactly once. */
  granted_wrong: number;
  /** How organizations differ from what their life says. */
  wrong: string[];
}

interface Row {
  org_id: string;
  plan: string;
  status: string;
  external: string | null;
  cancel_at_period_end: boolean | null;
  granted: number;
  purchased: number;
}

interface Grant {
  key: string;
  ref_id: string | null;
  delta: number;
}

const EVENTS = sql<{ id: string; delivery_id: string; status: string; error: string | null }>(
  `SELECT id, delivery_id, status, error FROM billing_events WHERE delivery_id = ANY ($1)`,
);
const ORGS = sql<Row>(`
  SELECT s.org_id, p.code AS plan, s.status, s.external_subscription_id AS external, e.cancel_at_period_end,
    coalesce(c.balance, 0)::float8 AS granted, coalesce(c.purchased_balance, 0)::float8 AS purchased
  FROM subscriptions s JOIN plans p ON p.id = s.plan_id LEFT JOIN external_subscriptions e ON e.id = s.external_subscription_id
  LEFT JOIN org_credits c ON c.org_id = s.org_id WHERE s.org_id = ANY ($1::uuid[])`);
const GRANTS = sql<Grant & { org_id: string }>(`
  SELECT org_id, key, ref_id, delta::float8 AS delta FROM credit_ledger WHERE org_id = ANY ($1::uuid[]) AND kind IN ('grant', 'purchase')`);

export function verdictOf(platform: Platform, lives: Life[], deliveries: Delivery[], { taken }: Sender): Promise<Verdict> {
  return platform.database(async (db) => {
    const orgs = lives.map(({ orgId }) => orgId);
    const events = await db.query(EVENTS, [deliveries.map(({ id }) => id)]);
    const stored = new Map(events.map((event) => [event.delivery_id, event.id]));
    const rows = new Map((await db.query(ORGS, [orgs])).map((row) => [row.org_id, row]));
    const grants = new Map<string, Grant[]>(orgs.map((id) => [id, []]));
    for (const grant of await db.query(GRANTS, [orgs])) grants.get(grant.org_id)!.push(grant);
    const count = (of: typeof events, is: (event: (typeof events)[number]) => boolean) => of.filter(is).length;
    return {
      acknowledged: taken.size,
      lost: [...taken].filter(([id, ids]) => !ids.has(stored.get(id)!)).length,
      stored_twice: events.length - stored.size + [...taken.values()].filter((ids) => ids.size > 1).length,
      left: count(events, ({ status }) => status === 'received' || status === 'failed'),
      unresolved: count(events, ({ status, error }) => status === 'unresolved' && !/are not there any more/.test(error!)),
      orders: lives.reduce((sum, { orders }) => sum + orders.length, 0),
      granted_wrong: lives.reduce((sum, life) => sum + grantedWrong(life, grants.get(life.orgId)!), 0),
      wrong: lives.flatMap((life) => differences(life, rows.get(life.orgId)!)),
    };
  });
}

/**
 * A pack's order brings its credits, one that pays a month brings the month's, and one that changes the plan nothing; but the first of all
 * that came for a plan brings the plan's first credits instead.
 *
 * @returns orders that have brought something else
 */
function grantedWrong({ orgId, orders }: Life, grants: Grant[]): number {
  const left = new Map(grants.map((grant) => [grant.key, grant]));
  const take = (key: string | undefined, order: Life['orders'][number]): boolean => {
    const grant = key === undefined ? undefined : left.get(key);
    if (!grant || grant.ref_id !== order.id || grant.delta !== order.credits) return false;
    return left.delete(key!);
  };
  const wrong = orders.filter((order) => {
    const first = grants.find(({ key, ref_id }) => key.startsWith(`grant:${orgId}:`) && ref_id === order.id)?.key;
    if (order.kind === 'pack') return !take(`polar:order:${order.id}:pack`, order);
    if (first) return !take(first, order);
    return order.reason !== 'subscription_update' && !take(`polar:order:${order.id}:plan`, order);
  });
  // Each plan that was had has brought its first credits once, and nothing else was granted.
  const plans = new Set(orders.filter(({ kind }) => kind === 'plan').map(({ code }) => code));
  const firsts = grants.filter(({ key }) => key.startsWith('grant:')).length;
  return wrong.length + left.size + Math.abs(plans.size - firsts);
}

/** What an organization is, and should not be. */
function differences({ orgId, subscribed, purchased }: Life, row: Row): string[] {
  const expected = {
    plan: subscribed?.product.code ?? 'trial',
    status: subscribed?.status ?? 'active',
    external: subscribed?.id ?? null,
    cancel_at_period_end: subscribed?.cancel_at_period_end ?? null,
    granted: subscribed?.product.credits ?? 0,
    purchased,
  };
  return Object.entries(expected).flatMap(([name, value]) => {
    const is = row[name as keyof typeof expected];
    return is === value ? [] : [`${orgId}: ${name} is ${String(is)} and not ${String(value)}`];
  });
}

/** Has credits proven from outside: of each organization, and of all. @returns what was found broken */
export async function proofOf(platform: Platform, orgIds: string[]): Promise<string[]> {
  const broken = new Set<string>();
  for (const query of [...orgIds.map((id) => `?org_id=${id}`), '']) {
    const { status, body } = await until('no other proof is computed', async () => {
      const answer = await platform.admin('GET', `/credits/proof${query}`);
      return answer.status !== 409 && answer;
    });
    if (status !== 200) throw new Error(`A proof answered ${status} ${JSON.stringify(body)}`);
    for (const { name, ok } of body.invariants as { name: string; ok: boolean }[]) if (!ok) broken.add(name);
  }
  return [...broken];
}
