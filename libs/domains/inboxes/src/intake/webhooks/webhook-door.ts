import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { ChannelDirectory, Intake, type Channel } from '../intake.port';
import { challengeOf, readWebhook } from './reading.policy';
import { isAuthentic } from './signatures.policy';

/** What a delivery is answered. */
export type WebhookReceipt = { challenge: string } | { message_id: string; duplicate: boolean };

/** Takes in what is posted to the address of a channel. */
@Injectable()
export class WebhookDoor {
  constructor(
    private readonly channels: ChannelDirectory,
    private readonly intake: Intake,
    private readonly db: Database,
  ) {}

  /** @throws DomainError 404; who guesses learns nothing of why */
  async channelOf(token: string): Promise<Channel> {
    const channel = await this.channels.byToken(token);
    if (!channel) throw notFound('Webhook');
    return channel;
  }

  /** @throws DomainError 401 `bad_signature`; nothing is kept then */
  async receive(channel: Channel, headers: IncomingHttpHeaders, body: Buffer): Promise<WebhookReceipt> {
    if (!isAuthentic(channel, { headers, body }, this.db.now()))
      throw new DomainError('bad_signature', 'The delivery is not signed as its channel wants it.');
    const challenge = await challengeOf(channel.config, headers, body);
    return challenge === null ? this.intake.receive(channel, await readWebhook(channel.config, headers, body)) : { challenge };
  }
}
