import { charactersOfPrompt, tokensOf, type ChatRequest } from '../client';
import type { ModelChoice } from '../inference.types';
import { priceOf, type Prices } from '../pricing';

/** Output tokens of a call that has no cap. */
const UNCAPPED_OUTPUT = 4_096;

type Call = Pick<ChatRequest, 'system' | 'messages' | 'tools' | 'maxOutputTokens'>;

/** The lower one of the caller's cap on output tokens and the model's; undefined where there is neither. */
export function outputCapOf(model: Pick<ModelChoice, 'max_output_tokens'>, call: Pick<Call, 'maxOutputTokens'>): number | undefined {
  const caps = [call.maxOutputTokens, model.max_output_tokens].filter((n): n is number => typeof n === 'number');
  return caps.length ? Math.min(...caps) : undefined;
}

/**
 * What a call may cost, in US dollars: its prompt as it is counted before any provider has, and all the output that it may have. 0 for a
 * model without a price in dollars.
 */
export function estimateOf(model: { entry: Prices; max_output_tokens: number | null }, call: Call): string {
  const usage = {
    input: tokensOf(charactersOfPrompt(call) + (call.tools?.length ? JSON.stringify(call.tools).length : 0)),
    cached_input: 0,
    cache_write: 0,
    output: outputCapOf(model, call) ?? UNCAPPED_OUTPUT,
    reasoning: 0,
  };
  return priceOf(model.entry, usage).usd ?? '0';
}
