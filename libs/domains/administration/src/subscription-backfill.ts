import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { billingConfig, Subscriptions, SubscriptionsRepository } from '@aps/billing';
import type { Plan } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { OrganizationsService, OrgDirectoryQueries } from '@aps/orgs';
import { Audit } from '@aps/platform/audit';
import { Database } from '@aps/platform/database';

/** How long one request subscribes, milliseconds: less than gateways wait for it. */
const DEADLINE_MS = 20_000;

/** Subscribes organizations that have no subscription, each in a transaction of its own: who is cut off goes on by doing it again. */
@Injectable()
export class SubscriptionBackfill {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationsService,
    private readonly directory: OrgDirectoryQueries,
    private readonly subscriptions: Subscriptions,
    private readonly plans: SubscriptionsRepository,
    private readonly audit: Audit,
  ) {}

  /**
   * @param wish without an organization every live one is meant, without a plan that of new organizations
   * @param deadlineMs after so long it stops, with one at least: the next goes on
   * @throws DomainError 404 `not_found` for an unknown organization or plan
   */
  async run(operator: ActingUser, { org_id, plan_code }: { org_id?: string | null; plan_code?: string | null }, deadlineMs = DEADLINE_MS) {
    const until = Date.now() + deadlineMs;
    if (org_id) await this.organizations.get(this.db, org_id);
    const plan = await this.plans.planByCode(this.db, plan_code ?? billingConfig.value.newOrgPlan);
    if (!plan) throw notFound('Plan');
    const live = org_id ? 1 : (await this.directory.list({}, { limit: 1 })).total;
    const left = org_id ? [org_id] : await this.directory.unsubscribed();
    const org_ids: string[] = [];
    do {
      const id = left.shift();
      if (id !== undefined && (await this.subscribe(operator, id, plan))) org_ids.push(id);
    } while (left.length && Date.now() < until);
    return { created: org_ids.length, skipped: Math.max(live - left.length - org_ids.length, 0), plan_code: plan.code, org_ids };
  }

  private subscribe(operator: ActingUser, orgId: string, plan: Plan): Promise<boolean> {
    return this.db.transaction(operator, async (tx) => {
      if (!(await this.subscriptions.subscribe(tx, orgId, plan))) return false;
      const by = { orgId, actor: operator };
      await this.audit.record(tx, by, 'subscription.created', { kind: 'organization', id: orgId }, { plan_code: plan.code });
      return true;
    });
  }
}
