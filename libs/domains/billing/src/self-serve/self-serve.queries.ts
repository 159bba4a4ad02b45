import { Injectable } from '@nestjs/common';
import type { CreditPack, Plan } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { RateCardsRepository } from '../rate-cards/rate-cards.repository';
import { CreditAccountsQueries, type CreditAccount } from '../subscriptions/credit-accounts.queries';
import { SelfServeRepository } from './self-serve.repository';

/** What an organization has, and what it can buy. */
export interface BillingView {
  can_manage: boolean;
  account: CreditAccount;
  plans: Plan[];
  packs: CreditPack[];
  display_fx: Record<string, string>;
}

/** What members see of their organization's billing. */
@Injectable()
export class SelfServeQueries {
  constructor(
    private readonly db: Database,
    private readonly repository: SelfServeRepository,
    private readonly accounts: CreditAccountsQueries,
    private readonly rateCards: RateCardsRepository,
  ) {}

  async view(scope: OrgScope): Promise<BillingView> {
    const [account, plans, packs, display_fx] = await Promise.all([
      this.accounts.get(scope.orgId),
      this.repository.plans(this.db),
      this.repository.packs(this.db),
      this.rateCards.displayFx(this.db),
    ]);
    return { can_manage: scope.isAdmin, account, plans, packs, display_fx };
  }
}
