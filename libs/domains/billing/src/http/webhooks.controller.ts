import { Controller, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BillingDeliveryResponse } from '@aps/dtos';
import { Public } from '@aps/guards';
import { webhookHeaders } from '@aps/platform/crypto';
import { HeldBytes, Operation, rawBody } from '@aps/platform/http';
import type { Request } from 'express';
import { DeliveriesService } from '../deliveries/deliveries.service';

/** Bytes of a delivery. The provider's are some ten thousand. */
export const MAX_DELIVERY = 1024 * 1024;
/** Bytes of deliveries that are in memory until they are proven and stored. */
const MAX_HELD = 64 * MAX_DELIVERY;

@ApiTags('Webhooks')
@Controller('api/webhooks')
export class WebhooksController {
  private readonly bytes = new HeldBytes();

  constructor(private readonly deliveries: DeliveriesService) {}

  @Post('polar')
  @Public()
  @Operation({
    summary: 'Take a delivery of the payment provider in',
    description:
      'Signed as Standard Webhooks has it: `webhook-id`, `webhook-timestamp` and `webhook-signature`. It is stored and answered, and applied afterwards. A repeat of the same `webhook-id` is answered as the first.',
    status: 202,
    answers: BillingDeliveryResponse,
    refuses: ['signature_invalid', 'signature_stale', 'payload_too_large'],
  })
  async receive(@Req() request: Request): Promise<BillingDeliveryResponse> {
    const headers = webhookHeaders(request.headers);
    return this.bytes.holding({ deliveries: MAX_HELD }, async (hold) => ({
      event_id: await this.deliveries.receive(headers, headers ? await rawBody(request, MAX_DELIVERY, hold) : Buffer.alloc(0)),
    }));
  }
}
