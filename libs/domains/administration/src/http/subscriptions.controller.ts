import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SubscriptionBackfillRequest, SubscriptionBackfillResponse } from '@aps/dtos';
import { type ActingUser, PlatformAdmin } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { SubscriptionBackfill } from '../subscriptions/subscription-backfill';
import { CurrentOperator } from './current-operator';

@ApiTags('Administration: organizations')
@Controller('/api/admin/subscriptions')
export class AdminSubscriptionsController {
  constructor(private readonly subscriptions: SubscriptionBackfill) {}

  @Post('backfill')
  @PlatformAdmin()
  @Idempotent()
  @Operation({
    summary: 'Subscribe organizations that have no subscription',
    description: 'Never changes an existing subscription; repeating it creates none.',
    status: 200,
    answers: SubscriptionBackfillResponse,
    refuses: ['not_found'],
  })
  backfill(@CurrentOperator() operator: ActingUser, @Body() body: SubscriptionBackfillRequest) {
    return this.subscriptions.run(body, operator);
  }
}
