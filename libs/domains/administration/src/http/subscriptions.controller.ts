import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SubscriptionBackfillRequest, SubscriptionBackfillResponse } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { SubscriptionBackfill } from '../subscription-backfill';

@ApiTags('Administration: organizations')
@Controller('/api/admin/subscriptions')
@PlatformAdmin()
export class AdminSubscriptionsController {
  constructor(private readonly subscriptions: SubscriptionBackfill) {}

  @Post('backfill')
  @Idempotent()
  @Operation({
    summary: 'Subscribe organizations that have no subscription',
    description: 'Never changes an existing subscription; repeating it creates none.',
    status: 200,
    answers: SubscriptionBackfillResponse,
    refuses: ['not_found'],
  })
  backfill(@CurrentOperator() operator: ActingUser, @Body() body: SubscriptionBackfillRequest): Promise<SubscriptionBackfillResponse> {
    return this.subscriptions.run(operator, body);
  }
}
