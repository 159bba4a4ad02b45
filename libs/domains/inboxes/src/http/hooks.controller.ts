import { Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { InboxHookResponse, InboxMailHookResponse } from '@aps/dtos';
import { Public } from '@aps/guards';
import { HeldBytes, Operation, rawBody } from '@aps/platform/http';
import { callerOf, holdToRates, RateLimiter, rateLimitConfig } from '@aps/platform/rate-limit';
import type { Request, Response } from 'express';
import { intakeConfig, MAX_DELIVERY } from '../intake.config';
import { MailHooks } from '../intake/mail/providers/mail-hooks';
import { countingRefusals, TooMuchOfOne } from '../intake/refusals';
import { WebhookDoor } from '../intake/webhooks/webhook-door';

export const MAX_WEBHOOK_BYTES = 5 * 1024 * 1024;
/** So many times what came of a webhook is in memory while it is stored: what it says, parsed and written out. */
const OF_WEBHOOK = 4;

@ApiTags('Hooks')
@Controller('api/hooks')
export class HooksController {
  private readonly bytes = new HeldBytes();

  constructor(
    private readonly webhooks: WebhookDoor,
    private readonly mails: MailHooks,
    private readonly limiter: RateLimiter,
  ) {}

  @Post('in/:token')
  @Public({ params: { token: 'string' } })
  @Operation({
    summary: 'Send a message to a webhook channel',
    description:
      'The address is the whole credential; a channel can ask for a signature besides. Any content type is taken, and a body that is malformed, too. It is stored when this answers, and evaluated afterwards. A repeat, told by the key that the channel has for it, is answered with 200 and stored once.',
    status: [202, 200],
    answers: InboxHookResponse,
    refuses: ['bad_signature', 'method_not_allowed', 'payload_too_large'],
  })
  receive(
    @Param('token') token: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InboxHookResponse> {
    return countingRefusals('webhook', () => this.takeWebhook(token, request, response));
  }

  private async takeWebhook(token: string, request: Request, response: Response): Promise<InboxHookResponse> {
    const channel = await this.webhooks.channelOf(token);
    const rate = { perMinute: rateLimitConfig.value.webhook_channel };
    holdToRates([await this.limiter.take(`webhook_channel:${channel.channel_id}`, rate)], response);
    const receipt = await this.holding('webhooks', channel.channel_id, OF_WEBHOOK * MAX_WEBHOOK_BYTES, async (hold) =>
      this.webhooks.receive(channel, request.headers, await rawBody(request, MAX_WEBHOOK_BYTES, (bytes) => hold(OF_WEBHOOK * bytes))),
    );
    if ('message_id' in receipt && !receipt.duplicate) return { message_id: receipt.message_id, status: 'received' };
    response.status(200);
    return 'challenge' in receipt ? receipt : { message_id: receipt.message_id, duplicate: true };
  }

  @Post('email/:provider')
  @Public({ params: { provider: 'string' } })
  @Operation({
    summary: 'Deliver a mail that a provider has taken in',
    description:
      '`generic` takes `{"raw": <the mail in base64>, "recipients": […], "mail_from"}`, signed as Standard Webhooks has it; `mailgun`, `postmark` and `ses` take what these providers send. A provider without a secret in the settings is not served. It is stored when this answers.',
    status: 202,
    answers: InboxMailHookResponse,
    refuses: ['bad_signature', 'payload_too_large', 'upstream_unavailable'],
  })
  receiveMail(@Param('provider') name: string, @Req() request: Request): Promise<InboxMailHookResponse> {
    return countingRefusals('mail_hook', () => this.takeMail(name, request));
  }

  private async takeMail(name: string, request: Request): Promise<InboxMailHookResponse> {
    const provider = this.mails.served(name);
    const { messages, rejected } = await this.holding('mails', callerOf(request.ip), MAX_DELIVERY, async (hold) =>
      this.mails.receive(provider, { headers: request.headers, body: await rawBody(request, MAX_DELIVERY, hold) }),
    );
    return { messages: messages.map(({ recipient, message_id }) => ({ recipient, message_id })), rejected };
  }

  /**
   * Counts what a door has in memory. Of that one sender may have a quarter, or one that is as large as can be.
   *
   * @throws DomainError 503 `service_unavailable`; TooMuchOfOne
   */
  private holding<T>(
    door: 'webhooks' | 'mails',
    who: string,
    largest: number,
    work: (hold: (bytes: number) => void) => Promise<T>,
  ): Promise<T> {
    return this.bytes.holding({ [door]: ofDoor() }, (holdAll) =>
      this.bytes.holding({ [`${door} of ${who}`]: Math.max(ofDoor() / 4, largest) }, (holdOwn) =>
        work((bytes) => {
          holdAll(bytes);
          try {
            holdOwn(bytes);
          } catch {
            throw new TooMuchOfOne();
          }
        }),
      ),
    );
  }
}

/** Of what is held by HTTP: whoever fills one door, signed or not, leaves the other open. */
const ofDoor = (): number => intakeConfig.value.hookBytes / 2;
