import { createVerify, X509Certificate } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { isSame } from '@aps/platform/crypto';
import { Egress, EgressError, urlOf } from '@aps/platform/egress';
import { readJson } from '@aps/platform/http';
import { z } from 'zod';
import { MAX_RECIPIENTS } from '../mail-door';
import { badSignature, parsed, reversePath, type DeliveredMail, type ProviderRequest } from './provider';

const SNS_HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?$/;
const MAX_CERTIFICATES = 20;
const MAX_CERTIFICATE_BYTES = 64 * 1024;

const ENVELOPE = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.string().nullish(),
  Message: z.string(),
  Timestamp: z.string(),
  Token: z.string().optional(),
  SubscribeURL: z.string().optional(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
});
type Envelope = z.infer<typeof ENVELOPE>;

/** What of an envelope is signed, in this order. */
const SIGNED: Record<Envelope['Type'], (keyof Envelope)[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

const RECEIVED = z.object({
  notificationType: z.literal('Received'),
  mail: z.object({ source: z.string().optional() }),
  receipt: z.object({
    recipients: z.array(z.string()).min(1).max(MAX_RECIPIENTS),
    action: z.object({ encoding: z.string().optional() }).optional(),
  }),
  content: z.string(),
});

/** Mails that Amazon SES publishes to a topic of Amazon SNS, which signs what it delivers by a certificate of its own. */
@Injectable()
export class SesProvider {
  private readonly certificates = new Map<string, X509Certificate>();

  constructor(private readonly egress: Egress) {}

  /** @param topic the one that we have subscribed: SNS signs for whoever has one */
  async open({ body }: ProviderRequest, topic: string, now: Date): Promise<DeliveredMail | null> {
    const given = ENVELOPE.safeParse(readJson(body));
    if (!given.success || !isSame(topic, given.data.TopicArn)) throw badSignature();
    await this.verify(given.data, now);
    const { Type, Message, SubscribeURL = '' } = given.data;
    if (Type === 'SubscriptionConfirmation') await this.get(SubscribeURL);
    const notification = Type === 'Notification' ? readJson(Buffer.from(Message)) : undefined;
    // The topic says other things as well, such as that it works.
    if ((notification as { notificationType?: unknown } | null | undefined)?.notificationType !== 'Received') return null;
    const { mail, receipt, content } = parsed(RECEIVED, notification);
    const encoding = receipt.action?.encoding?.toUpperCase() === 'BASE64' ? 'base64' : 'utf8';
    return { raw: Buffer.from(content, encoding), mail_from: reversePath(mail.source), recipients: receipt.recipients };
  }

  private async verify(envelope: Envelope, now: Date): Promise<void> {
    const certificate = await this.certificateAt(envelope.SigningCertURL);
    const isValid = new Date(certificate.validFrom) <= now && now <= new Date(certificate.validTo);
    const text = SIGNED[envelope.Type].map((name) => lineOf(name, envelope[name])).join('');
    const by = createVerify(envelope.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256').update(text);
    if (!isValid || !by.verify(certificate.publicKey, envelope.Signature, 'base64')) throw badSignature();
  }

  private async certificateAt(url: string): Promise<X509Certificate> {
    const known = this.certificates.get(url);
    if (known) return known;
    if (!url.endsWith('.pem')) throw badSignature();
    const pem = await this.get(url);
    try {
      const certificate = new X509Certificate(pem);
      if (certificate.publicKey.asymmetricKeyType !== 'rsa') throw badSignature();
      if (this.certificates.size >= MAX_CERTIFICATES) this.certificates.clear();
      this.certificates.set(url, certificate);
      return certificate;
    } catch {
      throw badSignature();
    }
  }

  /** Asks SNS itself, and nobody else. */
  private async get(written: string): Promise<Buffer> {
    const url = urlOf(written);
    if (url?.protocol !== 'https:' || !SNS_HOST.test(url.hostname) || url.port) throw badSignature();
    try {
      const { status, body } = await this.egress.fetch(url.href, { purpose: 'hook', maxRedirects: 0, maxBytes: MAX_CERTIFICATE_BYTES });
      if (status !== 200) throw unreachable();
      return body;
    } catch (error) {
      if (error instanceof EgressError) throw error.refused ? badSignature() : unreachable(error);
      throw error;
    }
  }
}

/** A field as it is signed; one that is not there is not. */
const lineOf = (name: string, value: string | null | undefined): string => (typeof value === 'string' ? `${name}\n${value}\n` : '');

const unreachable = (cause?: Error): DomainError => new DomainError('upstream_unavailable', 'Amazon SNS does not answer.', { cause });
