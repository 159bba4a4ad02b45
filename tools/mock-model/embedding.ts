/**
 * A deterministic vector of length 1 from the words of a text: every word adds its damped frequency at two hashed places.
 * Texts that share words are near each other, whatever the order; a text without words points along the first axis.
 */
export function embed(text: string, dimensions: number): number[] {
  const frequency = new Map<string, number>();
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const vector = new Array<number>(dimensions).fill(0);
  for (const [word, times] of frequency) {
    const weight = 1 + Math.log(times);
    for (const seed of [0x811c9dc5, 0x9747b28c]) {
      const hash = fnv1a(word, seed);
      vector[(hash >>> 1) % dimensions] += hash & 1 ? weight : -weight;
    }
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (length === 0) vector[0] = 1;
  else for (let i = 0; i < dimensions; i++) vector[i] /= length;
  return vector;
}

function fnv1a(word: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  // A last mix: the low bits of FNV alone are too regular for short words.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
