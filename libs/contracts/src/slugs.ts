import { isUuid } from './ids';

export const MAX_SLUG = 64;

/** Lower-case letters and digits, joined by single hyphens. */
export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export const isSlug = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_SLUG && SLUG.test(value);

/** Whether a slug may be given to something: where ids and slugs are both taken, the form of a UUID would be read as an id. */
export const isUsableSlug = (slug: string): boolean => isSlug(slug) && !isUuid(slug);

/**
 * A slug made from a name, e.g. `Zürich Büro` → `zurich-buro`; always a usable one.
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

/** The first of `base`, `base-2`, `base-3` … that is not taken. */
export function freeSlug(base: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const slug = numberedSlug(base, n);
    if (!taken.has(slug)) return slug;
  }
}

const cut = (slug: string, length: number) => slug.slice(0, length).replace(/-$/, '');
