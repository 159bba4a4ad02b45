/**
 * Where a step of a run has its effect, and so what happens to it when its run is cut off.
 *
 * - `inside`: in our database, in the transaction of its result. Both are there or neither; then it is done again.
 * - `repeatable`: elsewhere. Its result is written afterwards; without one it is done again, under the same key.
 * - `once`: elsewhere, and never to be done twice. That it goes out is written before, its result afterwards.
 */
export type Effect = 'inside' | 'repeatable' | 'once';

/**
 * How far the journal says a step has come that has no result: it is meant to be done, or has gone out. The latter is written of effects
 * that may not be repeated alone, so it says enough for whoever knows nothing else of the step, such as who stops its run.
 */
export type Noted = 'intent' | 'sent';

/**
 * What the owner of a run does about a step that has no result.
 *
 * - `make`: the effect; under its key this may be the second time
 * - `send`: notes it as sent, under the fence, and then makes it
 * - `unknown`: somebody has sent it and was cut off; that its outcome is not known is its result
 */
export function onFound(effect: Effect, noted: Noted): 'make' | 'send' | 'unknown' {
  if (noted === 'sent') return 'unknown';
  return effect === 'once' ? 'send' : 'make';
}

/**
 * What is known of a step's effect after something else than an answer: it failed, broke off or took too long.
 *
 * @param sent it may have reached the other side
 * @returns `none`: it had none; `possible`: it may have had one, and doing it again does no harm; `unknown`: nobody knows, or may try
 */
export function onFailure(effect: Effect, sent: boolean): 'none' | 'possible' | 'unknown' {
  if (effect === 'inside' || !sent) return 'none';
  return effect === 'once' ? 'unknown' : 'possible';
}
