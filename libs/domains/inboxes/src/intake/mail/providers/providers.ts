import { createHmac } from 'node:crypto';
import { isSame, isSignedWebhook, isTimely, webhookHeaders } from '@aps/platform/crypto';
import { readJson } from '@aps/platform/http';
import { z } from 'zod';
import { readByteFields } from '../../webhooks/body.policy';
import { MAX_RECIPIENTS } from '../mail-door';
import { badSignature, parsed, reversePath, type OpenDelivery } from './provider';

const BASE64 = /^[A-Za-z0-9+/_=\s-]*$/;

const GENERIC = z.object({
  raw: z.string().regex(BASE64),
  recipients: z.array(z.string()).min(1).max(MAX_RECIPIENTS),
  mail_from: z.string().nullish(),
});

/** `{raw, recipients, mail_from}`, signed as Standard Webhooks has it. */
export const openGeneric: OpenDelivery = async ({ headers, body }, secret, now) => {
  const signed = webhookHeaders(headers);
  if (!signed || !isTimely(signed, now) || !isSignedWebhook(signed, body, [secret])) throw badSignature();
  const { raw, recipients, mail_from } = parsed(GENERIC, readJson(body));
  return Promise.resolve({ raw: Buffer.from(raw, 'base64'), mail_from: reversePath(mail_from), recipients });
};

const MAILGUN_SIGNATURE = z.object({ timestamp: z.string().regex(/^\d{1,12}$/), token: z.string().max(256), signature: z.string() });
/** Mailgun signs when it makes a delivery, and tries for eight hours from then on. A mail that comes twice is a duplicate. */
const MAILGUN_TOLERANCE_S = 12 * 3_600;
const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();
const MAILGUN = z.object({ 'body-mime': z.string(), recipient: z.string(), sender: z.string().optional() });

/** A form of a route whose address ends in `mime`; its signature is over time and token alone. The mail stands in it as its bytes came, whatever they are in. */
export const openMailgun: OpenDelivery = async ({ headers, body }, secret, now) => {
  const fields = await readByteFields(headers['content-type'] ?? '', body);
  const given = MAILGUN_SIGNATURE.safeParse(fields);
  if (!given.success || !isTimely(given.data, now, MAILGUN_TOLERANCE_S)) throw badSignature();
  const { timestamp, token, signature } = given.data;
  if (
    !isSame(
      createHmac('sha256', secret)
        .update(timestamp + token)
        .digest('hex'),
      signature,
    )
  )
    throw badSignature();
  const { 'body-mime': mime, recipient, sender } = parsed(MAILGUN, fields);
  const recipients = textOf(recipient)
    .split(',', MAX_RECIPIENTS)
    .map((each) => each.trim());
  return { raw: Buffer.from(mime, 'latin1'), mail_from: reversePath(sender && textOf(sender)), recipients };
};

const POSTMARK = z.object({ RawEmail: z.string(), OriginalRecipient: z.string() });

/** An inbound message with its raw mail, posted with the user and the password of our address. */
export const openPostmark: OpenDelivery = async ({ headers, body }, secret) => {
  const [, credentials = ''] = /^Basic ([A-Za-z0-9+/=]{1,2000})$/i.exec(headers.authorization ?? '') ?? [];
  if (!isSame(secret, Buffer.from(credentials, 'base64').toString())) throw badSignature();
  const { RawEmail, OriginalRecipient } = parsed(POSTMARK, readJson(body));
  return Promise.resolve({ raw: Buffer.from(RawEmail), mail_from: null, recipients: [OriginalRecipient] });
};
