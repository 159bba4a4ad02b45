import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte; taking more would favour the first characters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

function checksum(body: string): string {
  let n = crc32(body);
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = BASE62[n % 62] + text;
    n = Math.floor(n / 62);
  }
  return text;
}

/** A session: `aps_` and 32 random bytes. */
export function newSessionToken(): string {
  return `aps_${randomBytes(32).toString('base64url')}`;
}

/** What a daemon proves itself by: `aed_` and 32 random bytes. */
export function newDaemonToken(): string {
  return `aed_${randomBytes(32).toString('base64url')}`;
}

/** An API token: `apt_`, 32 random characters, `_`, their checksum; scanners for leaked secrets tell real ones by it. */
export function newApiToken(): string {
  const body = randomBase62(32);
  return `apt_${body}_${checksum(body)}`;
}

/** What a link carries (invitation, password reset): 32 random bytes, safe in a path. */
export function newOpaqueToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What kind of bearer a text can be. Undefined: it was never issued here, and nothing needs to be looked up. */
export function tokenKind(token: string): 'session' | 'api' | undefined {
  if (/^aps_[A-Za-z0-9_-]{43}$/.test(token)) return 'session';
  const [, body, sum] = /^apt_([A-Za-z0-9]{32})_([A-Za-z0-9]{6})$/.exec(token) ?? [];
  return body && checksum(body) === sum ? 'api' : undefined;
}

/**
 * SHA-256, the form in which tokens are stored and found. A fast hash is right here: the input has 190 random bits or more, so
 * there is nothing to guess.
 */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** What may be shown of a token ever after. */
export function tokenHint(token: string): { prefix: string; last4: string } {
  return { prefix: token.slice(0, 8), last4: token.slice(-4) };
}
