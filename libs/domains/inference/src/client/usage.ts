import type { ChatRequest, ContentPart, ToolCall, Usage } from './types';

/** Tokens of one kind that a call can have: more than any window or answer there is, and far less than a column holds. */
const MAX_TOKENS = 100_000_000;

/** A count off the wire; 0 where there is none, NaN for what cannot be one, whatever a provider (or a tenant's own endpoint) sends. */
export function count(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS ? Math.round(value) : NaN;
}

/** The usage that a provider reports, where it can be true; of one number that cannot, nothing else is believed either. */
export function credible(usage: Usage | undefined): Usage | undefined {
  return usage && Object.values(usage).every((tokens: number) => tokens >= 0) ? usage : undefined;
}

/** Quarters of a token that a UTF-16 unit comes to: one for each byte of UTF-8, and two more for a digit. */
function quartersOf(unit: number): number {
  if (unit < 0x80) return unit >= 48 && unit <= 57 ? 3 : 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

/**
 * Tokens of a text, roughly and unrounded: what is counted before a provider has, and where it reports none, since a call that was made is
 * never free. Four letters of English are one; of numbers, and of scripts that take three bytes a character, a character is nearly one.
 */
export function tokensOf(text: string): number {
  let quarters = 0;
  for (let i = 0; i < text.length; i++) quarters += quartersOf(text.charCodeAt(i));
  return quarters / 4;
}

/** The beginning of a text, as much of it as comes to so many tokens. */
export function withinTokens(text: string, tokens: number): string {
  let left = tokens * 4;
  for (let i = 0; i < text.length; i++) if ((left -= quartersOf(text.charCodeAt(i))) < 0) return text.slice(0, i);
  return text;
}

/** What an image counts for in tokens, as providers count one of common size. */
const IMAGE_TOKENS = 1_000;
/** Providers count 1,500 to 3,000 tokens a page; pages are not counted here, and of this many base64 characters one is assumed. */
const PAGE_BASE64 = 50_000;
const PAGE_TOKENS = 2_000;

/** Tokens of what a model is told, tools aside. */
export function tokensOfPrompt({ system, messages }: Pick<ChatRequest, 'system' | 'messages'>): number {
  let prompt = tokensOf(system ?? '');
  for (const message of messages) {
    if (message.role === 'tool') prompt += tokensOf(message.content);
    else if (message.role === 'assistant') prompt += tokensOf(message.text ?? '') + tokensOfCalls(message.toolCalls ?? []);
    else if (typeof message.content === 'string') prompt += tokensOf(message.content);
    else for (const part of message.content) prompt += tokensOfPart(part);
  }
  return prompt;
}

export function estimateUsage(request: ChatRequest, text: string, reasoning: string, toolCalls: ToolCall[]): Usage {
  return {
    input: Math.ceil(tokensOfPrompt(request)),
    cached_input: 0,
    cache_write: 0,
    output: Math.ceil(tokensOf(text) + tokensOfCalls(toolCalls)),
    reasoning: Math.ceil(tokensOf(reasoning)),
  };
}

function tokensOfPart(part: ContentPart): number {
  if (part.type === 'text') return tokensOf(part.text);
  return part.type === 'image' ? IMAGE_TOKENS : Math.ceil(part.base64.length / PAGE_BASE64) * PAGE_TOKENS;
}

export function tokensOfCalls(calls: readonly Pick<ToolCall, 'name' | 'arguments'>[]): number {
  return calls.reduce((sum, call) => sum + tokensOf(call.name) + tokensOf(call.arguments), 0);
}

/** The tokens of two calls together. */
export function sumOf(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cached_input: a.cached_input + b.cached_input,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}
