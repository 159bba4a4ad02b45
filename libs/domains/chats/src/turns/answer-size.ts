import { InferenceError, type ChatResult, type ResolvedModel } from '@aps/inference';

/** Of an answer, in characters, with its reasoning and its calls, and of what its provider wants back: more than any model gives, and as much as many turns can hold at once. */
const MAX_ANSWER = 1_000_000;
/** So many characters a call counts for beside its own: each is a step, with a transaction and an event. */
const CALL_SIZE = 1_000;

/**
 * @param heard characters that have come while it was streamed
 * @throws InferenceError `provider_bad_response` for more than {@link MAX_ANSWER}
 */
export function refuseLong(model: ResolvedModel, heard: number, { toolCalls, providerState }: Partial<ChatResult> = {}): void {
  const called = (toolCalls ?? []).reduce((sum, call) => sum + CALL_SIZE + call.id.length + call.name.length + call.arguments.length, 0);
  const kept = providerState ? JSON.stringify(providerState).length : 0;
  if (Math.max(heard + called, kept) <= MAX_ANSWER) return;
  throw new InferenceError('provider_bad_response', `The answer has more than ${MAX_ANSWER} characters.`, {
    isOfOrganization: model.endpoint.tenantAddress,
  });
}
