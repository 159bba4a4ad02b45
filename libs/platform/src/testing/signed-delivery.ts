import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** What deliveries of specs are signed with, unless they say otherwise. */
export const WEBHOOK_SECRET = `whsec_${Buffer.from('thirty-two bytes that nobody has').toString('base64')}`;

export interface SignedDelivery {
  body: string;
  headers: Record<string, string>;
}

export interface SigningOptions {
  id?: string;
  secret?: string;
  /** Of older secrets: all their characters are the key. */
  wholeSecret?: boolean;
  at?: Date;
}

/** A delivery signed as Standard Webhooks has it, by the Standard Webhooks library and none of our code. */
export function signed(event: unknown, options: SigningOptions = {}): SignedDelivery {
  const { id = `msg_${randomUUID()}`, secret = WEBHOOK_SECRET, wholeSecret = false, at = new Date() } = options;
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(wholeSecret ? Buffer.from(secret) : secret, {
      format: wholeSecret ? 'raw' : undefined,
    } as object).sign(id, at, body),
  };
  return { body, headers };
}
