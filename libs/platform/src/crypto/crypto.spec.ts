import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigError, loadConfig } from '@aps/platform/config';
import { cryptoConfig, requireInternalTokenSecrets, requireMasterKeys } from './crypto.config';
import { InternalTokens } from './internal-token';
import { isMasked, isMaskedKey, mask, maskEnd } from './mask';
import { hashPassword, needsRehash, verifyPassword } from './passwords';
import { hashToken, newApiToken, newOpaqueToken, newSessionToken, tokenHint, tokenKind } from './tokens';

const key = () => randomBytes(32).toString('base64');

describe('master keys', () => {
  it('come from the setting or from a file, which wins', () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'keys-')), 'keys');
    writeFileSync(file, `1:${key()}\n3:${key()}\n`);
    loadConfig({ MASTER_KEYS: `2:${key()}` });
    expect([...requireMasterKeys().keys()]).toEqual([2]);
    loadConfig({ MASTER_KEYS: `2:${key()}`, MASTER_KEYS_FILE: file });
    expect([...requireMasterKeys().keys()]).toEqual([1, 3]);
  });

  it.each([
    'x',
    `1:${randomBytes(31).toString('base64')}`,
    `1:${randomBytes(33).toString('base64')}`,
    key(),
    `0:${key()}`,
    `1:${key()},1:${key()}`,
    ',',
  ])('refuses %p without naming the value', (bad) => {
    expect(() => loadConfig({ MASTER_KEYS: bad })).toThrow(ConfigError);
    expect(() => loadConfig({ MASTER_KEYS: bad })).not.toThrow(bad.length > 2 ? bad : 'never');
  });

  it('are demanded only by those who use them', () => {
    loadConfig({});
    expect(cryptoConfig.value.masterKeys).toBeUndefined();
    expect(requireMasterKeys).toThrow(ConfigError);
    expect(requireInternalTokenSecrets).toThrow(ConfigError);
    expect(() => loadConfig({ MASTER_KEYS_FILE: '/nowhere' })).toThrow('MASTER_KEYS_FILE: cannot be read');
  });
});

describe('masks', () => {
  it('show the ends of long secrets and nothing of short ones', () => {
    expect(mask('sk-abcdefghijkl4f2a')).toBe('sk-…4f2a');
    expect(mask('sk-ab4567890123')).toBe('…');
    expect(mask('')).toBe('…');
    expect(mask('0123456789abcdef')).toBe('012…cdef');
    expect(maskEnd('sk-abcdefghijkl4f2a')).toBe('…4f2a');
    expect(maskEnd('short')).toBe('…');
    expect(mask('\u{1F511}'.repeat(16)).isWellFormed()).toBe(true);
  });

  it('are told from secrets', () => {
    for (const secret of ['sk-abcdefghijkl4f2a', 'short', '\u{1F511}'.repeat(20)]) {
      expect(isMasked(mask(secret))).toBe(true);
      expect(isMasked(maskEnd(secret))).toBe(true);
      expect(isMasked(secret)).toBe(false);
    }
    expect(isMasked(' sk-…4f2a\n')).toBe(true);
    for (const secret of ['', 'a…b', 'pass…word-that-has-dots', 'sk-...4f2a']) expect(isMasked(secret)).toBe(false);
  });

  it('of keys are told from keys, whoever made them', () => {
    for (const masked of [
      mask('sk-abcdefghijkl4f2a'),
      mask('short'),
      maskEnd('sk-abcdefghijkl4f2a'),
      'sk-...4f2a',
      'sk-...',
      '********',
      'sk-***4f2a',
      '••••4f2a',
      'sk-●●●●',
      'sk-proj…',
      '··········',
    ])
      expect(isMaskedKey(masked)).toBe(true);
    for (const key of ['sk-abcdefghijkl4f2a', 'a.b.c', 'AIza*x', 'eyJhbGciOi.eyJzdWIi.x_-', 'xxxxxxxx', ''])
      expect(isMaskedKey(key)).toBe(false);
  });
});

describe('tokens', () => {
  it('have their kinds and forms', () => {
    const session = newSessionToken();
    const api = newApiToken();
    expect(session).toMatch(/^aps_[A-Za-z0-9_-]{43}$/);
    expect(api).toMatch(/^apt_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(newOpaqueToken()).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(tokenKind(session)).toBe('session');
    expect(tokenKind(api)).toBe('api');
    expect(tokenHint(api)).toEqual({ prefix: api.slice(0, 8), last4: api.slice(-4) });
    expect(new Set(Array.from({ length: 1000 }, newApiToken)).size).toBe(1000);
  });

  it('use every character of the alphabet', () => {
    const seen = new Set(Array.from({ length: 200 }, () => newApiToken().slice(4, 36)).join(''));
    expect(seen.size).toBe(62);
  });

  it('are refused before any look-up when the checksum is wrong', () => {
    const api = newApiToken();
    for (let at = 4; at < api.length; at++) {
      if (api[at] === '_') continue;
      const wrong = api.slice(0, at) + (api[at] === 'A' ? 'B' : 'A') + api.slice(at + 1);
      expect(tokenKind(wrong)).toBeUndefined();
    }
    for (const wrong of ['', 'apt_', api.slice(0, -1), `${api}x`, ` ${api}`, `${api}\n`, 'aps_short', `${newSessionToken()}x`])
      expect(tokenKind(wrong)).toBeUndefined();
  });

  it('carry the checksum of their characters: CRC-32, base 62', () => {
    // CRC-32 of "123456789" is the algorithm's published check value; here: of 32 zeros, worked out by hand from the polynomial.
    let crc = 0xffffffff;
    for (const char of Buffer.from('0'.repeat(32))) {
      crc ^= char;
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
    let n = (crc ^ 0xffffffff) >>> 0;
    let sum = '';
    for (let i = 0; i < 6; i++, n = Math.floor(n / 62))
      sum = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'[n % 62] + sum;
    expect(tokenKind(`apt_${'0'.repeat(32)}_${sum}`)).toBe('api');
  });

  it('are stored as SHA-256', () => {
    const token = newApiToken();
    expect(hashToken(token).equals(createHash('sha256').update(token).digest())).toBe(true);
  });
});

describe('internal tokens', () => {
  const claims = { user_id: 'u', email: 'ä@example.com', credential_id: 'c', scope: '*', request_id: 'r', aud: 'admin-api' };
  const A = 'a'.repeat(32);
  const B = 'b'.repeat(32);
  const now = new Date(Date.UTC(2026, 0, 1));
  const later = (ms: number) => new Date(now.getTime() + ms);
  const tokens = (secrets: string) => {
    loadConfig({ INTERNAL_TOKEN_SECRET: secrets });
    return new InternalTokens();
  };

  it('tell the caller to the service they are for, for a minute', () => {
    const t = tokens(A);
    const token = t.sign(claims, now);
    expect(t.verify(token, 'admin-api', now)).toEqual(claims);
    expect(t.verify(token, 'admin-api', later(59_000))).toBeDefined();
    expect(t.verify(token, 'admin-api', later(60_000))).toBeUndefined();
    expect(t.verify(token, 'billing', now)).toBeUndefined();
  });

  it('are refused when forged', () => {
    const t = tokens(A);
    const token = t.sign(claims, now);
    const [body, signature] = token.split('.');
    const other = Buffer.from(JSON.stringify({ ...claims, user_id: 'admin', exp: 9e9 })).toString('base64url');
    for (const bad of [
      '',
      '.',
      body,
      `${body}.`,
      `.${signature}`,
      `${other}.${signature}`,
      `${token}.x`,
      `${body}.${signature}=`,
      tokens(B).sign(claims, now),
      `${body}.${'A'.repeat(43)}`,
    ]) {
      expect(t.verify(bad, 'admin-api', now)).toBeUndefined();
    }
  });

  it('outlive a change of the secret', () => {
    const old = tokens(A).sign(claims, now);
    const rotating = tokens(`${B},${A}`);
    expect(rotating.verify(old, 'admin-api', now)).toBeDefined();
    expect(tokens(B).verify(rotating.sign(claims, now), 'admin-api', now)).toBeDefined();
    expect(() => tokens('short')).toThrow('at least 32 characters');
  });
});

describe('passwords', () => {
  it('are kept as argon2id and verified', async () => {
    const stored = await hashPassword('correct horse battery');
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(needsRehash(stored)).toBe(false);
    expect(needsRehash(stored.replace('t=2', 't=1'))).toBe(true);
    await expect(verifyPassword(stored, 'correct horse battery')).resolves.toBe(true);
    await expect(verifyPassword(stored, 'correct horse batterz')).resolves.toBe(false);
  });

  it('say no for unknown users and broken hashes', async () => {
    await expect(verifyPassword(null, '')).resolves.toBe(false);
    await expect(verifyPassword(undefined, 'x')).resolves.toBe(false);
    await expect(verifyPassword('$argon2id$broken', 'x')).resolves.toBe(false);
  });

  it('are refused when a storm of them would wait too long', async () => {
    const storm = await Promise.allSettled(Array.from({ length: 300 }, () => verifyPassword(null, 'x')));
    const refused = storm.filter((r) => r.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every((r) => (r.reason as { code: string }).code === 'service_unavailable')).toBe(true);
    await expect(verifyPassword(await hashPassword('after'), 'after')).resolves.toBe(true);
  });
});
