import type { EntitlementSet } from '../entitlements';
import { PlanEntitlements } from '../plans/plan-entitlements';
import { Plan, Subscription } from '@aps/entities';
import { TEST_PLAN, type TestService } from '@aps/testing';

/** What every organization may do from now on that is on the plan of specs. */
export async function entitle(service: TestService, changes: Partial<EntitlementSet>): Promise<void> {
  await service.db.manager.update(Plan, TEST_PLAN.id, changes);
  for (const entitlements of service.all(PlanEntitlements)) entitlements.drop(null);
}

/** The plan of specs, as it was made. */
export const entitleAsBefore = (service: TestService): Promise<void> => entitle(service, TEST_PLAN);

/** What an organization has otherwise than its plan says. */
export async function override(service: TestService, org_id: string, overrides: Partial<EntitlementSet>): Promise<void> {
  await service.db.manager.update(Subscription, { org_id }, { overrides });
  for (const entitlements of service.all(PlanEntitlements)) entitlements.drop(org_id);
}
