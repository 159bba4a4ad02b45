import { linesOf, type Line } from './lines';
import { countTokens } from './tokens';

/** A stretch that is not divided: a row, a fence, a line, or a sentence or less of a long line. */
export interface Atom {
  /** Code units. */
  start: number;
  end: number;
  tokens: number;
  /** Whether a text may well be divided before it. */
  beginsBlock: boolean;
  /** A heading stays with what it is above. */
  isHeading: boolean;
}

/** Of a piece of prose, so that some of them are what two chunks have in common. */
const PIECE_TOKENS = 50;
const PIECE_CHARS = 200;
/** Of a row or a fence that stays whole, and of a chunk: what has more with so few tokens is gaps and rules, which take long to count. */
export const MAX_CHARS = 12_000;
/** Blank lines up to here stay with what they are behind. */
const MAX_GAP_CHARS = 16;
const SENTENCE_END = /(?:[.!?…]["'”’)\]]*\s+|[。！？]\s*)(?=\S)/g;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** @param max tokens of a row or a fence that stays whole */
export function atomsOf(text: string, max: number): Atom[] {
  const atoms: Atom[] = [];
  for (const block of blocksOf(linesOf(text))) {
    const [{ kind, start, goesOn }] = block;
    const { end } = block.at(-1)!;
    const tokens = kind === 'fence' || kind === 'row' ? tokensUpTo(max, text, start, end) : null;
    const pieces = tokens === null ? block.flatMap((line) => [...piecesOf(text, line.start, line.end)]) : [{ start, end, tokens }];
    for (const piece of pieces) atoms.push({ ...piece, beginsBlock: piece.start === start && !goesOn, isHeading: kind === 'heading' });
  }
  return atoms;
}

/** Lines that stay together if they can: a fence, or a single line, each with a few blank lines behind it. */
function blocksOf(lines: Line[]): Line[][] {
  const blocks: Line[][] = [];
  let gap = 0;
  for (const line of lines) {
    const before = blocks.at(-1);
    gap = line.kind === 'blank' ? gap + line.end - line.start : 0;
    const belongs = line.kind === 'fence' ? line.goesOn : gap > 0 && gap <= MAX_GAP_CHARS;
    if (before && belongs) before.push(line);
    else blocks.push([line]);
  }
  return blocks;
}

/** Counted piece by piece, so that an endless one is given up early; null where there are more. */
function tokensUpTo(max: number, text: string, start: number, end: number): number | null {
  if (end - start > MAX_CHARS) return null;
  let sum = 0;
  for (const piece of piecesOf(text, start, end)) {
    sum += piece.tokens;
    if (sum > max) return null;
  }
  const tokens = countTokens(text.slice(start, end));
  return tokens > max ? null : tokens;
}

/** Divides prose where sentences end, or else words, or else anywhere but within what is read as one character. */
function* piecesOf(text: string, start: number, end: number): Generator<{ start: number; end: number; tokens: number }> {
  for (let at = start; at < end;) {
    let to = end - at > PIECE_CHARS ? cut(text, at, at + PIECE_CHARS) : end;
    let tokens = countTokens(text.slice(at, to));
    while (tokens > PIECE_TOKENS && to - at > 2) {
      to = cut(text, at, at + Math.ceil((to - at) / 2));
      tokens = countTokens(text.slice(at, to));
    }
    yield { start: at, end: to, tokens };
    at = to;
  }
}

/** @returns a place after `start`, and not behind `limit` unless that is within a pair */
function cut(text: string, start: number, limit: number): number {
  const window = text.slice(start, limit);
  const sentence = [...window.matchAll(SENTENCE_END)].at(-1);
  if (sentence) return start + sentence.index + sentence[0].length;
  const word = window.search(/\s\S*$/) + 1;
  if (word) return start + word;
  // The last character may go on behind the limit.
  const character = [...GRAPHEMES.segment(window)].at(-1)!.index;
  if (character) return start + character;
  return text.codePointAt(limit - 1)! > 0xffff ? limit + 1 : limit;
}
