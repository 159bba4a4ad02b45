import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BillingDifference, ExternalSubscriptionView, LocalSubscriptionView, OrgBillingResponse } from '@aps/dtos';
import { OperatedOrg, OrgScope, PlatformAdmin } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { ExternalBillingQueries, type ExternalBilling } from '../self-serve/external-billing.queries';

@ApiTags('Administration: billing')
@Controller('/api/admin/orgs/:org_id/billing')
@PlatformAdmin()
export class AdminOrgBillingController {
  constructor(private readonly billing: ExternalBillingQueries) {}

  @Get()
  @Operation({
    summary: 'Compare a subscription with what the payment provider has told of it',
    description: 'As of the newest delivery; the provider is not asked.',
    answers: OrgBillingResponse,
  })
  async get(@OperatedOrg() scope: OrgScope) {
    return toOrgBilling(await this.billing.of(scope));
  }
}

const toOrgBilling = (billing: ExternalBilling): OrgBillingResponse =>
  answer(OrgBillingResponse, billing, {
    external: billing.external && answer(ExternalSubscriptionView, billing.external, { subscription_id: billing.external.id }),
    local: billing.local && answer(LocalSubscriptionView, billing.local),
    in_sync: billing.differences.length === 0,
    differences: billing.differences.map((difference) => answer(BillingDifference, difference)),
  });
