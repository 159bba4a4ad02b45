import { createHmac } from 'node:crypto';
import { isSame } from './same';

/** So far a delivery's time may be from ours. */
const TOLERANCE_S = 300;
const PREFIX = 'whsec_';
const VERSION = 'v1,';

/** What a delivery says of itself, in the headers of Standard Webhooks. */
export interface WebhookHeaders {
  id: string;
  /** Seconds since 1970, as it stands there: the signature is over it. */
  timestamp: string;
  signatures: string[];
}

type Header = string | string[] | undefined;

/** @returns null where one is missing, or is not what it should be */
export function webhookHeaders(headers: Record<string, Header>): WebhookHeaders | null {
  const [id, timestamp, signature] = [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']];
  if (typeof id !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(id)) return null;
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return null;
  if (typeof signature !== 'string') return null;
  const signatures = signature.split(' ').flatMap((each) => (each.startsWith(VERSION) ? [each.slice(VERSION.length)] : []));
  return signatures.length ? { id, timestamp, signatures } : null;
}

/** Whether the time of a delivery is near enough to now: an old one may be somebody's who has overheard it. @param withinS for senders that do not sign each try anew */
export const isTimely = ({ timestamp }: Pick<WebhookHeaders, 'timestamp'>, now: Date, withinS = TOLERANCE_S): boolean =>
  Math.abs(now.getTime() / 1_000 - Number(timestamp)) <= withinS;

/** Whether any of its signatures is one by any of the secrets. Takes as long for a wrong one as for a right one. */
export function isSignedWebhook({ id, timestamp, signatures }: WebhookHeaders, body: Buffer, secrets: readonly string[]): boolean {
  const expected = secrets
    .flatMap(keysOf)
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64'));
  let found = false;
  for (const wanted of expected) for (const given of signatures) found = isSame(wanted, given) || found;
  return found;
}

/** Both ways in which a key is made of a secret: of what follows `whsec_`, in base64, and, of older ones, of all its characters. */
function keysOf(secret: string): Buffer[] {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const decoded = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? [Buffer.from(encoded, 'base64')] : [];
  return [...decoded, Buffer.from(secret, 'utf8')].filter(({ length }) => length > 0);
}
