import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { configSection, setting } from '@aps/platform/config';
import { Database, statement } from '@aps/platform/database';
import { z } from 'zod';
import { SubscriptionBackfill, type BackfillResult, type BackfillWish } from './subscription-backfill';

export const newOrgPlanConfig = configSection('new-org-plan', {
  code: setting(
    'CREDITS_DEFAULT_NEW_ORG_PLAN',
    z.string().max(128).default('trial'),
    'Code of the plan that new organizations are subscribed to',
  ),
});

const LIVE = statement('SELECT count(*)::int AS n FROM organizations WHERE deleted_at IS NULL AND ($1::uuid IS NULL OR id = $1)');

/** As long as there are no subscriptions: the only known plan is that of new organizations, and nobody can be subscribed to it. */
@Injectable()
export class WithoutSubscriptions extends SubscriptionBackfill {
  constructor(private readonly db: Database) {
    super();
  }

  async run({ orgId, planCode }: BackfillWish): Promise<BackfillResult> {
    const [{ n }] = await this.db.query<{ n: number }>(LIVE, [orgId]);
    if (orgId !== null && n === 0) throw notFound('Organization');
    const code = planCode ?? newOrgPlanConfig.value.code;
    if (code !== newOrgPlanConfig.value.code) throw notFound('Plan');
    return { created: 0, skipped: n, plan_code: code, org_ids: [] };
  }
}
