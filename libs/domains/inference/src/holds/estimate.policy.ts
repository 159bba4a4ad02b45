import { tokensOf, tokensOfPrompt, type ChatRequest, type Usage } from '../client';
import type { ModelChoice } from '../inference.types';

/** Output tokens of a call that has no cap. */
const UNCAPPED_OUTPUT = 4_096;

/** What the use of a call is estimated by. */
export type EstimatedCall = Pick<ChatRequest, 'system' | 'messages' | 'tools' | 'maxOutputTokens'>;

/** The lower one of the caller's cap on output tokens and the model's; undefined where there is neither. */
export function outputCapOf(
  model: Pick<ModelChoice, 'max_output_tokens'>,
  call: Pick<EstimatedCall, 'maxOutputTokens'>,
): number | undefined {
  const caps = [call.maxOutputTokens, model.max_output_tokens].filter((n): n is number => typeof n === 'number');
  return caps.length ? Math.min(...caps) : undefined;
}

/** Seconds that a call is thought to take, for rules that charge by them. */
export const ESTIMATED_SECONDS = 60;

/** What a call may use: its prompt as it is counted before any provider has, and all the output that it may have. */
export function estimateOf(model: Pick<ModelChoice, 'max_output_tokens'>, call: EstimatedCall): Usage {
  return {
    input: Math.ceil(tokensOfPrompt(call) + (call.tools?.length ? tokensOf(JSON.stringify(call.tools)) : 0)),
    cached_input: 0,
    cache_write: 0,
    output: outputCapOf(model, call) ?? UNCAPPED_OUTPUT,
    reasoning: 0,
  };
}
