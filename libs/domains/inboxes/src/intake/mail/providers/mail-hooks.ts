import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { intakeConfig } from '../../../intake.config';
import type { Channel } from '../../intake.port';
import { MailDoor, MAX_MAIL_BYTES, type TakenMail } from '../mail-door';
import type { OpenDelivery, ProviderRequest } from './provider';
import { openGeneric, openMailgun, openPostmark } from './providers';
import { SesProvider } from './ses.provider';

/** What a delivery of mail has come to. */
export interface MailReceipt {
  messages: TakenMail[];
  rejected: { recipient: string; code: 'unknown_recipient' }[];
}

/** A provider that is served. */
export interface ServedProvider {
  open: OpenDelivery;
  secret: string;
}

/** Takes in mail that providers have taken in for us. */
@Injectable()
export class MailHooks {
  private readonly providers: Record<string, OpenDelivery | undefined>;

  constructor(
    private readonly door: MailDoor,
    private readonly db: Database,
    ses: SesProvider,
  ) {
    this.providers = {
      ...{ generic: openGeneric, mailgun: openMailgun, postmark: openPostmark },
      ses: (request, topic, now) => ses.open(request, topic, now),
    };
  }

  /** @throws DomainError 404 where it is none, or has no secret */
  served(name: string): ServedProvider {
    const open = Object.hasOwn(this.providers, name) ? this.providers[name] : undefined;
    const secret = intakeConfig.value[name as 'generic' | 'mailgun' | 'postmark' | 'ses'];
    if (!open || !secret) throw notFound('Provider');
    return { open, secret };
  }

  /** @throws DomainError 401, 404 where no recipient is known here, 413, 422 */
  async receive({ open, secret }: ServedProvider, request: ProviderRequest): Promise<MailReceipt> {
    const mail = await open(request, secret, this.db.now());
    if (!mail) return { messages: [], rejected: [] };
    const { raw, mail_from, recipients } = mail;
    if (raw.length > MAX_MAIL_BYTES) throw new DomainError('payload_too_large', `A mail may have ${MAX_MAIL_BYTES} bytes.`);
    const channels: Channel[] = [];
    const rejected: MailReceipt['rejected'] = [];
    for (const recipient of recipients) {
      const channel = await this.door.channelFor(recipient);
      if (channel) channels.push(channel);
      else rejected.push({ recipient, code: 'unknown_recipient' });
    }
    if (!channels.length) throw notFound('Recipient');
    return { messages: await this.door.receive(raw, { mail_from, client: null }, channels), rejected };
  }
}
