import { countTokens as count, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';

/** What looks like a token of a model's own is text in a source. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
// With its own 100,000, words that never come again take 40 times as long, since each pushes another out.
setMergeCacheSize(2_000);

/**
 * Tokens of `o200k_base`. Takes time by the square of the longest word or gap, so it is asked for stretches of some thousand characters, and
 * not where others wait: its tables alone take half a second to load.
 */
export const countTokens = (text: string): number => count(text, AS_TEXT);
