import { createHash } from 'node:crypto';
import { DomainError } from '@aps/contracts';
import { canonicalJson } from '@aps/platform/definitions';
import type { Request } from 'express';
import type { Attempt } from './store';

/** A request as the access guard leaves it. */
export type OwnedRequest = Request & { principal?: { credentialId?: string }; requestId?: string; idempotencyAttempt?: Attempt };

/**
 * The `Idempotency-Key` of a request: 1 to 255 visible ASCII characters. Undefined when there is none.
 *
 * @throws DomainError `idempotency_key_invalid`
 */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new DomainError('idempotency_key_invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  }
  return key;
}

/** SHA-256 of method, path with query, and body: a client that builds it anew may order its keys differently and still means the same. */
export function requestHash(request: Request): Buffer {
  // With and without a closing slash is one route.
  const [path, query = ''] = request.originalUrl.split(/\?(.*)/s);
  return createHash('sha256')
    .update(`${request.method}\n${path.replace(/\/+$/, '')}\n${query}\n`)
    .update(request.body === undefined ? '' : canonicalJson(request.body))
    .digest();
}
