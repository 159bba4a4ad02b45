import { Injectable } from '@nestjs/common';
import type { ExternalSubscription } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import { CreditAccountsQueries, type SubscriptionView } from '../subscriptions/credit-accounts.queries';
import { NEARLY_A_YEAR } from '../subscriptions/periods.policy';
import { differencesOf, type Difference } from './external-billing.policy';
import { SelfServeRepository } from './self-serve.repository';

export type ExternalRow = Pick<
  ExternalSubscription,
  'id' | 'customer_id' | 'product_id' | 'status' | 'current_period_end' | 'cancel_at_period_end' | 'revoked_at'
> & {
  is_current: boolean;
  /** Of the plan that its product stands for. */
  plan_code: string | null;
  is_annual: boolean;
};

/** Both sides of an organization's subscription. */
export interface ExternalBilling {
  org_id: string;
  customer_id: string | null;
  external: ExternalRow | null;
  local: SubscriptionView | null;
  differences: Difference[];
}

// The current one first, then what is paid beside it, the newest first.
const EXTERNAL = statement<ExternalRow>(`
  SELECT x.id, x.customer_id, x.product_id, x.status, x.current_period_end, x.cancel_at_period_end, x.revoked_at,
    coalesce(x.id = s.external_subscription_id, false) AS is_current, p.code AS plan_code,
    coalesce(x.current_period_end - x.current_period_start > interval '${NEARLY_A_YEAR} days', false) AS is_annual
  FROM external_subscriptions x LEFT JOIN subscriptions s ON s.org_id = x.org_id
    LEFT JOIN plans p ON x.product_id IN (p.polar_product_id::text, p.polar_product_id_annual::text)
  WHERE x.org_id = $1 AND (x.id = s.external_subscription_id OR x.revoked_at IS NULL)
  ORDER BY is_current DESC, x.modified_at DESC`);

/** What the payment provider has told of organizations, beside what holds here. */
@Injectable()
export class ExternalBillingQueries {
  constructor(
    private readonly db: Database,
    private readonly accounts: CreditAccountsQueries,
    private readonly repository: SelfServeRepository,
  ) {}

  /** @throws DomainError `not_found` */
  async of(scope: OrgScope): Promise<ExternalBilling> {
    const { orgId } = scope;
    const { subscription: local } = await this.accounts.get(orgId);
    const all = await this.db.query(EXTERNAL, [orgId]);
    const external = all[0] ?? null;
    const customer_id = external?.customer_id ?? (await this.repository.lastCustomer(this.db, scope));
    return { org_id: orgId, customer_id, external, local, differences: differencesOf(all, local) };
  }
}
