import type { Request } from 'express';
import { idempotencyKeyOf, requestHash } from './request';

const withKey = (key: unknown) => ({ headers: { 'idempotency-key': key } }) as unknown as Request;
const hashOf = (method: string, originalUrl: string, body?: unknown) =>
  requestHash({ method, originalUrl, body } as Request).toString('hex');

describe('idempotencyKeyOf', () => {
  it('takes visible ASCII', () => {
    for (const key of ['a', '"8e03978e-40d5-43e8-bc93-6894a57f9324"', '~!', 'x'.repeat(255)])
      expect(idempotencyKeyOf(withKey(key))).toBe(key);
    expect(idempotencyKeyOf(withKey(undefined))).toBeUndefined();
  });

  it.each(['', ' ', 'a b', 'a\tb', 'ü', 'x'.repeat(256), 'a\n', ['a', 'b']])('refuses %p', (key) => {
    expect(() => idempotencyKeyOf(withKey(key))).toThrow(expect.objectContaining({ code: 'idempotency_key_invalid', status: 400 }));
  });
});

describe('requestHash', () => {
  const base = hashOf('POST', '/api/x', { a: 1, b: { c: [1, 2], d: null } });

  it('is the same for the same request, in whatever order', () => {
    expect(hashOf('POST', '/api/x', { b: { d: null, c: [1, 2] }, a: 1 })).toBe(base);
    expect(hashOf('POST', '/api/x/', { a: 1, b: { c: [1, 2], d: null } })).toBe(base);
  });

  it('differs for another body, path, query or method', () => {
    const others = [
      hashOf('PUT', '/api/x', { a: 1, b: { c: [1, 2], d: null } }),
      hashOf('POST', '/api/y', { a: 1, b: { c: [1, 2], d: null } }),
      hashOf('POST', '/api/x?deploy=true', { a: 1, b: { c: [1, 2], d: null } }),
      hashOf('POST', '/api/x', { a: '1', b: { c: [1, 2], d: null } }),
      hashOf('POST', '/api/x', { a: 1, b: { c: [2, 1], d: null } }),
      hashOf('POST', '/api/x', { a: 1, b: { c: [1, 2] } }),
      hashOf('POST', '/api/x', { a: 1, b: { c: { 0: 1, 1: 2 }, d: null } }),
      hashOf('POST', '/api/x'),
    ];
    expect(new Set([base, ...others]).size).toBe(others.length + 1);
  });
});
