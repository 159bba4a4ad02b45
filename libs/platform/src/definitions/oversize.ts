import type { Problem } from '@aps/contracts';

/**
 * What keeps a definition of which nothing is known from being read at all.
 *
 * @param maxBytes of its JSON, which has as many as the canonical one: that only orders keys otherwise
 */
export function oversize(definition: unknown, maxBytes: number): Omit<Problem, 'loc'> | null {
  try {
    const bytes = Buffer.byteLength(JSON.stringify(definition) ?? '');
    return bytes > maxBytes ? { msg: `Definition should have at most ${maxBytes} bytes`, type: 'too_long' } : null;
  } catch {
    // The stack does not reach to its ground.
    return { msg: 'Definition nests too deeply', type: 'value_error' };
  }
}
