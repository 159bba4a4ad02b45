import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { OrganizationsService, OrgDirectoryQueries } from '@aps/orgs';
import { configSection, setting } from '@aps/platform/config';
import { Database } from '@aps/platform/database';
import { z } from 'zod';

export const newOrgPlanConfig = configSection('new-org-plan', {
  code: setting(
    'CREDITS_DEFAULT_NEW_ORG_PLAN',
    z.string().max(128).default('trial'),
    'Code of the plan that new organizations are subscribed to',
  ),
});

/**
 * Subscribes organizations that have no subscription. As long as there are no subscriptions, the only known plan is that of new
 * organizations, and nobody can be subscribed to it.
 */
@Injectable()
export class SubscriptionBackfill {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationsService,
    private readonly directory: OrgDirectoryQueries,
  ) {}

  /**
   * @param wish without an organization every live one is meant, without a plan that of new organizations
   * @throws DomainError 404 `not_found` for an unknown organization or plan
   */
  async run({ org_id, plan_code }: { org_id?: string | null; plan_code?: string | null }) {
    if (org_id) await this.organizations.get(this.db, org_id);
    const { code } = newOrgPlanConfig.value;
    if ((plan_code ?? code) !== code) throw notFound('Plan');
    const skipped = org_id ? 1 : (await this.directory.list({}, { limit: 1 })).total;
    return { created: 0, skipped, plan_code: code, org_ids: [] };
  }
}
