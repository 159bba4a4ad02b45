import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SubscriptionBackfillRequest, SubscriptionBackfillResponse } from '@aps/dtos';
import { type ActingUser, PlatformAdmin } from '@aps/guards';
import { Idempotent } from '@aps/platform/idempotency';
import { SubscriptionBackfill } from '../subscriptions/subscription-backfill';
import { CurrentOperator } from './current-operator';

@ApiTags('Administration: organizations')
@Controller('/api/admin/subscriptions')
export class AdminSubscriptionsController {
  constructor(private readonly subscriptions: SubscriptionBackfill) {}

  @Post('backfill')
  @HttpCode(200)
  @PlatformAdmin()
  @Idempotent()
  @ApiOperation({
    summary: 'Subscribe organizations that have no subscription',
    description: 'Never changes an existing subscription; repeating it creates none.',
  })
  @ApiOkResponse({ type: SubscriptionBackfillResponse })
  @ApiNotFoundResponse({ description: '`not_found`: there is no such organization or plan.' })
  backfill(@CurrentOperator() operator: ActingUser, @Body() body: SubscriptionBackfillRequest): Promise<SubscriptionBackfillResponse> {
    return this.subscriptions.run({ orgId: body.org_id ?? null, planCode: body.plan_code ?? null }, operator);
  }
}
