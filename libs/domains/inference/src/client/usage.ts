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

/** One token per four characters, for providers that report no usage: a call that was made is never free. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}

/** What an image counts for, in characters: about 1,000 tokens, as providers count one of common size. */
const IMAGE_CHARACTERS = 4_000;
/** Providers count 1,500 to 3,000 tokens a page; pages are not counted here, and of this many base64 characters one is assumed. */
const PAGE_BASE64 = 50_000;
const PAGE_CHARACTERS = 8_000;

/** Characters of what a model is told. */
export function charactersOfPrompt({ system, messages }: Pick<ChatRequest, 'system' | 'messages'>): number {
  let prompt = system?.length ?? 0;
  for (const message of messages) {
    if (message.role === 'tool') prompt += message.content.length;
    else if (message.role === 'assistant') prompt += (message.text?.length ?? 0) + charactersOf(message.toolCalls ?? []);
    else if (typeof message.content === 'string') prompt += message.content.length;
    else for (const part of message.content) prompt += charactersOfPart(part);
  }
  return prompt;
}

export function estimateUsage(request: ChatRequest, text: string, reasoning: string, toolCalls: ToolCall[]): Usage {
  return {
    input: tokensOf(charactersOfPrompt(request)),
    cached_input: 0,
    cache_write: 0,
    output: tokensOf(text.length + charactersOf(toolCalls)),
    reasoning: tokensOf(reasoning.length),
  };
}

function charactersOfPart(part: ContentPart): number {
  if (part.type === 'text') return part.text.length;
  return part.type === 'image' ? IMAGE_CHARACTERS : Math.ceil(part.base64.length / PAGE_BASE64) * PAGE_CHARACTERS;
}

function charactersOf(calls: ToolCall[]): number {
  return calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
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
