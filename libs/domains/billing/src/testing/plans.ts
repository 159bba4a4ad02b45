import { PlanEntitlements } from '../plans/plan-entitlements';
import { Plan, Subscription, type CreditLedgerRow } from '@aps/entities';
import { sql } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';

/** A plan past every command; what is not given is the column's default. */
export async function aPlan(service: TestService, columns: Partial<Plan> = {}): Promise<Plan> {
  const code = columns.code ?? `plan-${uuidv7()}`;
  const id = await service.insert(Plan, { code, name: code, ...columns });
  return service.db.manager.findOneByOrFail(Plan, { id });
}

/** Subscribes an organization past every command. */
export async function onPlan(service: TestService, orgId: string, plan: Plan, columns: Partial<Subscription> = {}): Promise<void> {
  await service.db.manager.upsert(Subscription, { org_id: orgId, plan_id: plan.id, ...columns } as never, ['org_id']);
  for (const entitlements of service.all(PlanEntitlements)) entitlements.drop(orgId);
}

export const subscriptionOf = (service: TestService, orgId: string): Promise<Subscription> =>
  service.db.manager.findOneByOrFail(Subscription, { org_id: orgId });

/** What moved an organization's credits, oldest first, as `<kind> <bucket> <delta>`. */
export async function movesOf(service: TestService, orgId: string): Promise<string[]> {
  const rows = await service.db.query(
    sql<CreditLedgerRow>('SELECT kind, bucket, trim_scale(delta)::text AS delta FROM credit_ledger WHERE org_id = $1 ORDER BY seq'),
    [orgId],
  );
  return rows.map(({ kind, bucket, delta }) => `${kind} ${bucket} ${delta}`);
}
