/** How much the first places of a ranking count beside the later ones. */
const RRF_K = 60;

/** The signs of a vector, which tell roughly what it is near to: `1` for each that is positive. */
export const bitsOf = (vector: readonly number[]): string => vector.map((value) => (value > 0 ? '1' : '0')).join('');

/** As it is stored: single precision, the lowest byte first. */
export function packed(vector: readonly number[]): Buffer {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * 4));
  return bytes;
}

export const unpacked = (bytes: Buffer): number[] => Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));

export const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** What a place of a ranking counts for, the first being 0. */
export const scoreOf = (place: number): number => 1 / (RRF_K + place + 1);

/** Rankings in one: what stands high in several comes first. @returns ids with their scores, the best first */
export function fused(rankings: readonly (readonly string[])[]): [id: string, score: number][] {
  const scores = new Map<string, number>();
  for (const ranking of rankings) for (const [place, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + scoreOf(place));
  return [...scores].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}
