import { PromptDoneFrame, PromptRunError, PromptTemplateResponse, PromptTemplateRunResponse } from '@aps/dtos';
import type { PromptRun } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { PromptFrame } from '../prompt-runner';
import type { PromptTemplateView } from '../prompts.queries';

export const toPromptTemplate = (t: PromptTemplateView): PromptTemplateResponse =>
  answer(PromptTemplateResponse, t, {
    kind: t.fields.length ? 'structured' : 'plain',
    current_revision: { id: t.revision_id, version: t.version },
  });

const toError = (error: NonNullable<PromptRun['error']>): PromptRunError => answer(PromptRunError, error);

/** @param hideDollars the organization pays in credits */
export const toRun = (run: PromptRun, hideDollars: boolean): PromptTemplateRunResponse =>
  answer(PromptTemplateRunResponse, run, { error: run.error && toError(run.error), ...(hideDollars && { cost_usd: null }) });

/** The `data:` line of a frame. */
export const toFrame = ({ event, data }: PromptFrame, hideDollars: boolean): object => {
  if (event === 'error') return toError(data);
  if (event !== 'done') return data;
  const { id: run_id, output, duration_ms } = data;
  return answer(PromptDoneFrame, toRun(data, hideDollars), { run_id, output: output ?? '', duration_ms: duration_ms ?? 0 });
};
