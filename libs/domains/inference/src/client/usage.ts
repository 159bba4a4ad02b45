import type { ChatRequest, ToolCall, Usage } from './types';

/** A count off the wire: a whole number ≥ 0, whatever a provider (or a tenant's own endpoint) sends. */
export function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/** One token per four characters, for providers that report no usage: a call that was made is never free. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}

/** What an image counts for, in characters: about 1,000 tokens, as providers count one of common size. */
const IMAGE_CHARACTERS = 4_000;

export function estimateUsage(request: ChatRequest, text: string, reasoning: string, toolCalls: ToolCall[]): Usage {
  let prompt = request.system?.length ?? 0;
  for (const message of request.messages) {
    if (message.role === 'tool') prompt += message.content.length;
    else if (message.role === 'assistant') prompt += (message.text?.length ?? 0) + charactersOf(message.toolCalls ?? []);
    else if (typeof message.content === 'string') prompt += message.content.length;
    else for (const part of message.content) prompt += part.type === 'text' ? part.text.length : IMAGE_CHARACTERS;
  }
  return {
    input: tokensOf(prompt),
    cached_input: 0,
    cache_write: 0,
    output: tokensOf(text.length + charactersOf(toolCalls)),
    reasoning: tokensOf(reasoning.length),
  };
}

function charactersOf(calls: ToolCall[]): number {
  return calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
}
