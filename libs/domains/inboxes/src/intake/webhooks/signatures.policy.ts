import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isSame, isSignedWebhook, isTimely, webhookHeaders } from '@aps/platform/crypto';
import type { ChannelConfig, SignatureScheme } from '../intake.port';

/** What is verified: the bytes as they came, and the headers that came with them. */
export interface SignedRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

type Verify = (request: SignedRequest, secret: string, now: Date, header?: string) => boolean;

const SECONDS = /^\d{1,12}$/;
const SHA256 = /^[0-9a-f]{64}$/i;
/** So many signatures of one request are looked at: one for each secret while secrets are changed. */
const MAX_SIGNATURES = 10;

const headerOf = ({ headers }: SignedRequest, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

/** Whether one of the signatures is the HMAC of all parts, one after another. */
function isMac(secret: string, parts: (string | Buffer)[], signatures: string[]): boolean {
  const mac = createHmac('sha256', secret);
  for (const part of parts) mac.update(part);
  const wanted = mac.digest('hex');
  let found = false;
  for (const given of signatures.slice(0, MAX_SIGNATURES)) found = (SHA256.test(given) && isSame(wanted, given.toLowerCase())) || found;
  return found;
}

const afterPrefix = (text: string, prefix: string): string[] => (text.startsWith(prefix) ? [text.slice(prefix.length)] : []);

const SCHEMES: Record<Exclude<SignatureScheme, 'none'>, Verify> = {
  standard_webhooks: ({ headers, body }, secret, now) => {
    const signed = webhookHeaders(headers);
    return signed !== null && isTimely(signed, now) && isSignedWebhook(signed, body, [secret]);
  },

  github: (request, secret) => isMac(secret, [request.body], afterPrefix(headerOf(request, 'x-hub-signature-256'), 'sha256=')),

  stripe: (request, secret, now) => {
    const parts = headerOf(request, 'stripe-signature')
      .split(',')
      .map((part) => part.trim());
    const [timestamp = ''] = parts.flatMap((part) => afterPrefix(part, 't='));
    const signatures = parts.flatMap((part) => afterPrefix(part, 'v1='));
    return isWithinTime(timestamp, now) && isMac(secret, [`${timestamp}.`, request.body], signatures);
  },

  slack: (request, secret, now) => {
    const timestamp = headerOf(request, 'x-slack-request-timestamp');
    const signatures = afterPrefix(headerOf(request, 'x-slack-signature'), 'v0=');
    return isWithinTime(timestamp, now) && isMac(secret, [`v0:${timestamp}:`, request.body], signatures);
  },

  hmac_sha256_hex: (request, secret, _now, header = '') => {
    const value = headerOf(request, header.toLowerCase());
    return isMac(secret, [request.body], [value.replace(/^sha256=/, '')]);
  },
};

const isWithinTime = (timestamp: string, now: Date): boolean => SECONDS.test(timestamp) && isTimely({ timestamp }, now);

/** Whether a request is signed as its channel wants it. A channel that wants a signature and has no secret takes nothing. */
export function isAuthentic(
  { config, signature_secret }: { config: ChannelConfig; signature_secret: string | null },
  request: SignedRequest,
  now: Date,
): boolean {
  const { scheme = 'none', header } = config.signature ?? {};
  return scheme === 'none' || (!!signature_secret && SCHEMES[scheme](request, signature_secret, now, header));
}
