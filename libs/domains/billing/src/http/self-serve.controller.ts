import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  BillingResponse,
  CancellationRequest,
  CancellationResponse,
  ChangePlanRequest,
  ChangePlanResponse,
  CheckoutRequest,
  CheckoutResponse,
  PortalResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { RateLimit } from '@aps/platform/rate-limit';
import { SelfServeQueries } from '../self-serve/self-serve.queries';
import { SelfServeService } from '../self-serve/self-serve.service';
import { toBilling } from './self-serve.convert';

@ApiTags('Billing')
@Controller('api/orgs/:org_id/billing')
export class SelfServeController {
  constructor(
    private readonly queries: SelfServeQueries,
    private readonly billing: SelfServeService,
  ) {}

  @Get()
  @OrgMember('billing')
  @Operation({
    summary: 'See the plan, the credits, and what can be bought',
    description: 'Another plan is shown when its payment has been told, some seconds after it was made: ask again until it is.',
    answers: BillingResponse,
  })
  async get(@CurrentOrg() scope: OrgScope) {
    return toBilling(await this.queries.view(scope));
  }

  @Post('checkout')
  @OrgAdmin('billing')
  @RateLimit('billing')
  @Idempotent()
  @Operation({
    summary: 'Get a page where a plan or a pack is paid',
    description:
      'Exactly one of both. What is bought comes with its payment, and not before. Who pays a subscription changes its plan instead; packs can always be bought.',
    status: 200,
    answers: CheckoutResponse,
    refuses: ['exactly_one_required', 'not_sellable', 'subscription_live', 'provider_refused', 'upstream_unavailable'],
  })
  async checkout(@CurrentOrg() scope: OrgScope, @Body() body: CheckoutRequest) {
    const checkout = await this.billing.checkout(scope, body);
    return answer(CheckoutResponse, checkout, { checkout_id: checkout.id });
  }

  @Post('change-plan')
  @OrgAdmin('billing')
  @RateLimit('billing')
  @Idempotent()
  @Operation({
    summary: 'Change the plan that is paid',
    description:
      'It is paid at once, and holds when the payment has been told; until then `pending_change` names it. Asking for another plan meanwhile replaces that.',
    status: 200,
    answers: ChangePlanResponse,
    refuses: ['not_sellable', 'no_live_subscription', 'already_on_plan', 'change_in_flight', 'provider_refused', 'upstream_unavailable'],
  })
  async changePlan(@CurrentOrg() scope: OrgScope, @Body() body: ChangePlanRequest) {
    const pending_change = await this.billing.changePlan(scope, body);
    return answer(ChangePlanResponse, pending_change, { pending_change });
  }

  @Post('cancellation')
  @OrgAdmin('billing')
  @RateLimit('billing')
  @Operation({
    summary: 'Let the subscription end with what is paid, or go on',
    description: 'The provider is asked. What is answered and shown is the flag as it is known here; it changes when the provider tells.',
    status: 200,
    answers: CancellationResponse,
    refuses: ['no_live_subscription', 'provider_refused', 'upstream_unavailable'],
  })
  async cancel(@CurrentOrg() scope: OrgScope, @Body() { cancel_at_period_end: requested }: CancellationRequest) {
    return { requested, cancel_at_period_end: await this.billing.setCancelAtPeriodEnd(scope, requested) };
  }

  @Post('portal')
  @OrgAdmin('billing')
  @RateLimit('billing')
  @Operation({
    summary: 'Get a page with the orders and payment methods of who pays',
    description:
      'A new one each time, good for a short while and for whoever has its address. It shows all that the payer pays, for other organizations too.',
    status: 200,
    answers: PortalResponse,
    refuses: ['provider_refused', 'upstream_unavailable'],
  })
  async portal(@CurrentOrg() scope: OrgScope) {
    return answer(PortalResponse, await this.billing.portal(scope));
  }
}
