import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  BillingEventItem,
  BillingEventListQuery,
  BillingEventListResponse,
  BillingEventReplayResponse,
  SettleBillingEventRequest,
} from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { answer, Operation, toPage } from '@aps/platform/http';
import { BillingEventsQueries } from '../deliveries/billing-events.queries';
import { ReplayService } from '../deliveries/replay.service';

@ApiTags('Administration: billing')
@Controller('/api/admin/billing/events')
@PlatformAdmin()
export class AdminBillingEventsController {
  constructor(
    private readonly events: BillingEventsQueries,
    private readonly replays: ReplayService,
  ) {}

  @Get()
  @Operation({
    summary: 'List what the payment provider has delivered',
    description: 'Newest first, with the payloads whole. `status_counts` are of all deliveries, whatever is looked for.',
    answers: BillingEventListResponse,
  })
  async list(@Query() query: BillingEventListQuery) {
    const status_counts = await this.events.counts();
    return toPage(await this.events.list(query, query), query, (event) => answer(BillingEventItem, event), { status_counts });
  }

  @Post(':event_id/replay')
  @Operation({
    summary: 'Run the effect of a delivery again',
    description:
      'For one that went wrong, when what was wrong is mended. Its status and its count of attempts stay as they are; what was done before is not done twice. Where nothing is left to do it is settled; of a refund, which may have found too few credits, only where it was `applied`.',
    status: 200,
    answers: BillingEventReplayResponse,
    refuses: ['already_applied', 'effect_missing'],
  })
  replay(@CurrentOperator() operator: ActingUser, @Param('event_id') id: string): Promise<BillingEventReplayResponse> {
    return this.replays.replay(operator, id);
  }

  @Post(':event_id/settle')
  @Operation({
    summary: 'Say that a delivery was dealt with by hand',
    description:
      '`failed` or `unresolved`, it waits for nobody any more: no alert tells of it, and it is not tried by itself when more is known. Its status stays.',
    refuses: ['already_applied'],
  })
  settle(
    @CurrentOperator() operator: ActingUser,
    @Param('event_id') id: string,
    @Body() { reason }: SettleBillingEventRequest,
  ): Promise<void> {
    return this.replays.settle(operator, id, reason);
  }
}
