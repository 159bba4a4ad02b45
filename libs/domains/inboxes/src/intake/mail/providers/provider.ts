import type { IncomingHttpHeaders } from 'node:http';
import { DomainError, invalid } from '@aps/contracts';
import type { z } from 'zod';
import { MAX_RECIPIENTS } from '../mail-door';

/** A request of a provider. */
export interface ProviderRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A mail that a provider has taken in for us. */
export interface DeliveredMail {
  raw: Buffer;
  /** Empty is the null sender; null: the provider does not say. */
  mail_from: string | null;
  recipients: string[];
}

/**
 * Opens what a provider delivers.
 *
 * @returns null where it brings no mail
 * @throws DomainError 401 `bad_signature`, 422 `validation_error`
 */
export type OpenDelivery = (request: ProviderRequest, secret: string, now: Date) => Promise<DeliveredMail | null>;

export const badSignature = (): DomainError => new DomainError('bad_signature', 'The delivery is not signed as it must be.');

/** What a delivery must have. @throws DomainError 422, which names the fields and no values */
export function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.slice(0, 20).map(({ path }) => ({
    loc: ['body', ...path.map((part) => (typeof part === 'symbol' ? String(part) : part))],
    msg: `This is not what it must be; at most ${MAX_RECIPIENTS} recipients`,
    type: 'value_error',
  }));
  throw invalid(...problems);
}

/** A reverse-path, which some write in brackets. */
export const reversePath = (written: string | null | undefined): string | null => written?.replace(/^<(.*)>$/, '$1').trim() ?? null;
