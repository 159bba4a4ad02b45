import type { FinishReason } from './client';

/** Levels, as of bodies of requests: whatever walks a value recurses. */
const MAX_DEPTH = 100;
const FENCE = '```';

/**
 * The JSON that a model was asked for: the text as it stands, or the first block of code in it that is JSON. By place and not by pattern: an
 * answer may be a million characters of anything, and no part of it is read more than three times.
 *
 * @returns the value, or why there is none, in words for the model
 */
export function jsonIn(text: string): { value: unknown } | { problem: string } {
  for (const candidate of candidatesIn(text)) {
    let value: unknown;
    try {
      value = JSON.parse(candidate);
    } catch {
      continue;
    }
    return nests(value, MAX_DEPTH) ? { problem: `The answer nests more than ${MAX_DEPTH} levels deep.` } : { value };
  }
  return { problem: 'The answer is no JSON.' };
}

function* candidatesIn(text: string): Generator<string> {
  yield text;
  const first = contentBegin(text, 0);
  // Texts within the JSON may have blocks of their own.
  if (first >= 0) yield text.slice(first, Math.max(first, text.lastIndexOf(FENCE)));
  for (let begin = first; begin >= 0;) {
    const end = text.indexOf(FENCE, begin);
    if (end < 0) return;
    yield text.slice(begin, end);
    begin = contentBegin(text, end + FENCE.length);
  }
}

/** Where the line ends that opens the next block; -1 where there is none. */
function contentBegin(text: string, from: number): number {
  const open = text.indexOf(FENCE, from);
  return open < 0 ? -1 : text.indexOf('\n', open);
}

const nests = (value: unknown, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((inner) => nests(inner, levels - 1)));

/** What a model is told whose answer does not fit, before it is asked once more. */
export const repairOf = (problem: string): string =>
  `That does not fit what was asked for: ${problem}\n\nAnswer again, with nothing but the corrected JSON.`;

/** Whether the model, or its provider's filter, would not answer. */
export const isRefusal = (reason: FinishReason): reason is 'refusal' | 'content_filter' =>
  reason === 'refusal' || reason === 'content_filter';
