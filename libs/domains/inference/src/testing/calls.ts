import type { ResolvedModel } from '../choice/model-resolver.service';
import type { Usage } from '../client';
import type { WorkHold } from '../holds/holds.service';
import type { ModelCall } from '../model-calls.service';

/** A call whose prompt is nothing. */
export const CALL: ModelCall = { messages: [], feature: 'turn' };

/** A call that is made and breaks off: what it may cost stays held, and no receipt tells of it. */
export async function askInVain(hold: WorkHold, model: ResolvedModel): Promise<void> {
  const brokenOff = new Error('The answer broke off.');
  const called = hold.metered(model, CALL, () => Promise.reject(brokenOff));
  await called.catch((error: unknown) => {
    if (error !== brokenOff) throw error;
  });
}

/** A call that is answered, and has used so much. */
export async function askFor(hold: WorkHold, model: ResolvedModel, usage: Usage, meanwhile?: () => void): Promise<void> {
  await hold.metered(model, CALL, () => {
    meanwhile?.();
    return Promise.resolve({ usage, durationMs: 10 });
  });
}
