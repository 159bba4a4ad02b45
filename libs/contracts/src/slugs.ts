import { randomBytes } from 'node:crypto';
import { isUuid } from './ids';

export const MAX_SLUG = 64;

/** Lower-case letters and digits, joined by single hyphens. */
export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export const isSlug = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_SLUG && SLUG.test(value);

/**
 * A slug made from a name, e.g. `Zürich Büro` → `zurich-buro`; never of the form of a UUID, which would be read as an id.
 *
 * @param fallback for names without a Latin letter or digit
 */
export function slugFrom(name: string, fallback: string): string {
  const slug = name
    // Long names are cut before the work, not after it.
    .slice(0, 4 * MAX_SLUG)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');
  return isUuid(cut(slug, MAX_SLUG)) ? cut(`${fallback}-${slug}`, MAX_SLUG) : cut(slug, MAX_SLUG) || fallback;
}

/** `base`, or `base-2`, `base-3`, … , still within the length of a slug. */
export function numberedSlug(base: string, n: number): string {
  if (n === 1) return base;
  const suffix = `-${n}`;
  return cut(base, MAX_SLUG - suffix.length) + suffix;
}

/**
 * What something may be called, in this order: as was wished; else after its name, where namesakes get a number, and the ones after a
 * hundred of them something random.
 */
export function slugsFor(name: string, wished: string | null | undefined, fallback: string): string[] {
  if (typeof wished === 'string') return [wished];
  const base = slugFrom(name, fallback);
  const numbered = Array.from({ length: 100 }, (_, i) => numberedSlug(base, i + 1));
  return [...numbered, `${cut(base, 50)}-${randomBytes(6).toString('hex')}`];
}

const cut = (slug: string, length: number) => slug.slice(0, length).replace(/-$/, '');
