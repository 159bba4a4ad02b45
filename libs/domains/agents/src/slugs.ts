import { isId, isSlug } from './values';

const MAX = 64;

/**
 * A slug made from a name, e.g. `Zürich Büro` → `zurich-buro`. Never the form of a UUID: where ids and slugs are both taken, that
 * would be read as an id.
 *
 * @param fallback for names without a Latin letter or digit
 */
export function slugFrom(name: string, fallback: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX)
    .replace(/^-+|-+$/g, '');
  if (!slug) return fallback;
  return isId(slug) ? `${fallback}-${slug}` : slug;
}

/** The first of `base`, `base-2`, `base-3` … that is not taken. */
export function freeSlug(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  for (let n = 2; ; n++) {
    const suffix = `-${n}`;
    const slug = `${base.slice(0, MAX - suffix.length).replace(/-+$/, '')}${suffix}`;
    if (!taken.has(slug)) return slug;
  }
}

/** Whether a given slug may be taken at all. */
export const isUsableSlug = (slug: string): boolean => isSlug(slug) && !isId(slug);
