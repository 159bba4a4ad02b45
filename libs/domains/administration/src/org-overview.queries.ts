import { Injectable } from '@nestjs/common';
import { SubscribedPlanRepository, SubscriptionsRepository } from '@aps/billing';
import type { OrgScope } from '@aps/guards';
import { AuditQueries, OrganizationsService, OrgDirectoryQueries, type AuditLine, type OrgDirectoryFilter } from '@aps/orgs';
import { Database, mapListed, type Listed, type Slice } from '@aps/platform/database';
import { UsageQueries } from './usage/usage.queries';
import type { UsageSummary, UsageWindow } from './usage/usage.summary';

/** As a plan's code: organizations without a subscription. */
const NO_PLAN = '__none__';

/** Organizations in the eyes of an operator: what several domains know of them, without membership. */
@Injectable()
export class OrgOverviewQueries {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationsService,
    private readonly directory: OrgDirectoryQueries,
    private readonly subscribed: SubscribedPlanRepository,
    private readonly plans: SubscriptionsRepository,
    private readonly auditLog: AuditQueries,
    private readonly usageOf: UsageQueries,
  ) {}

  /** @param filter a code that no plan has finds nothing */
  async list({ plan_code, ...filter }: Omit<OrgDirectoryFilter, 'plan_id'> & { plan_code?: string }, slice: Slice) {
    const plan = plan_code === undefined ? {} : await this.planOf(plan_code);
    if (!plan) return { items: [], total: 0, more: false };
    const rows = await this.directory.list({ ...filter, ...plan }, slice);
    return mapListed(rows, (batch) => this.subscribed.withStandings(this.db, batch));
  }

  /** An organization with its plan, its credits and its roster. @throws DomainError 404 `not_found` */
  async get(orgId: string) {
    return (await this.subscribed.withStandings(this.db, [await this.directory.get(orgId)]))[0];
  }

  private async planOf(code: string): Promise<{ plan_id: string | null } | null> {
    if (code === NO_PLAN) return { plan_id: null };
    const plan = await this.plans.planByCode(this.db, code);
    return plan && { plan_id: plan.id };
  }

  /** @throws DomainError 404 `not_found` */
  async assertThere(scope: OrgScope): Promise<void> {
    await this.organizations.get(this.db, scope.orgId);
  }

  /** Of one that is deleted, too: who ended it stands there. @throws DomainError 404 `not_found` */
  async audit(scope: OrgScope, slice: Slice): Promise<Listed<AuditLine>> {
    await this.directory.assertKnown(scope);
    return this.auditLog.page(scope, slice);
  }

  /** @throws DomainError 404 `not_found` */
  async usage(scope: OrgScope, window: UsageWindow): Promise<UsageSummary> {
    await this.assertThere(scope);
    return this.usageOf.summary(scope, window);
  }
}
