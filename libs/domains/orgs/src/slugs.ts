const MAX = 64;

/** The slug that a name suggests; a name without a Latin letter or digit suggests none of its own. */
export function slugOf(name: string, fallback = 'org'): string {
  const slug = name
    // Long names are cut before the work, not after it.
    .slice(0, 4 * MAX)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return cut(slug.replace(/^-/, ''), MAX) || fallback;
}

/** `base`, or `base-2`, `base-3`, … , still within the length of a slug. */
export function numbered(base: string, n: number): string {
  if (n === 1) return base;
  const suffix = `-${n}`;
  return cut(base, MAX - suffix.length) + suffix;
}

const cut = (slug: string, length: number) => slug.slice(0, length).replace(/-$/, '');
