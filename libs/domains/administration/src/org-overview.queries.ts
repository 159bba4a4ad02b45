import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import {
  AuditQueries,
  OrganizationsService,
  OrgDirectoryQueries,
  type AuditLine,
  type OrgDirectoryEntry,
  type OrgDirectoryFilter,
} from '@aps/orgs';
import { Database, type Listed, type Slice } from '@aps/platform/database';
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
    private readonly auditLog: AuditQueries,
    private readonly usageOf: UsageQueries,
  ) {}

  /** Nobody has a subscription yet, so every organization is without a plan and none is on one. */
  async list({ plan_code, ...filter }: OrgDirectoryFilter & { plan_code?: string }, slice: Slice): Promise<Listed<OrgDirectoryEntry>> {
    if (plan_code !== undefined && plan_code !== NO_PLAN) return { items: [], total: 0, more: false };
    return this.directory.list(filter, slice);
  }

  /** @throws DomainError 404 `not_found` */
  async assertThere(scope: OrgScope): Promise<void> {
    await this.organizations.get(this.db, scope.orgId);
  }

  /** @throws DomainError 404 `not_found` */
  async audit(scope: OrgScope, slice: Slice): Promise<Listed<AuditLine>> {
    await this.assertThere(scope);
    return this.auditLog.page({ org_id: scope.orgId }, slice);
  }

  /** @throws DomainError 404 `not_found` */
  async usage(scope: OrgScope, window: UsageWindow): Promise<UsageSummary> {
    await this.assertThere(scope);
    return this.usageOf.summary(scope, window);
  }
}
