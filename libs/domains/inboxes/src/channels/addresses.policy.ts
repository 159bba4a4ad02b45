import { randomInt } from 'node:crypto';
import { refuseValue } from '@aps/contracts';
import { inboundConfig } from './inbound.config';

/** Without those that are taken for each other. */
const CODE_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const CODE_LENGTH = 6;

/** What tells the addresses of one inbox apart. */
export const newCode = (): string => Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');

/** What stands before the `@` of a channel of mail. @param code null for one that is public */
export const localPartOf = (inboxSlug: string, code: string | null): string => (code === null ? inboxSlug : `${inboxSlug}-${code}`);

/** The domain of an organization's channels. */
export const domainOf = (orgSlug: string): string => `${orgSlug}.${inboundConfig.value.emailDomain}`;

/**
 * Which channel an address names: its organization's slug, and what stands before the `@`, in lower case. Null for an
 * address of another domain.
 */
export function placeOf(address: string): { orgSlug: string; localPart: string } | null {
  const at = address.lastIndexOf('@');
  const [domain, suffix] = [address.slice(at + 1).toLowerCase(), `.${inboundConfig.value.emailDomain}`];
  if (at < 1 || !domain.endsWith(suffix)) return null;
  const localPart = address.slice(0, at).toLowerCase();
  const orgSlug = domain.slice(0, -suffix.length);
  return localPart && orgSlug ? { orgSlug, localPart } : null;
}

/**
 * Whether the address of a channel of mail has no code, as its maker said it in one of two ways, or in both.
 *
 * @returns undefined where nothing was said
 * @throws DomainError `validation_error` where the two disagree, or one is not a boolean
 */
export function publicOf(config: Record<string, unknown>, hasCode: boolean | undefined): boolean | undefined {
  const stated = config.public;
  if (stated !== undefined && stated !== null && typeof stated !== 'boolean')
    throw refuseValue(['body', 'config', 'public'], 'Input should be a valid boolean');
  if (typeof stated === 'boolean' && hasCode !== undefined && stated === hasCode)
    throw refuseValue(['body', 'has_code'], 'has_code is the opposite of config.public; the two disagree');
  return typeof stated === 'boolean' ? stated : hasCode === undefined ? undefined : !hasCode;
}
