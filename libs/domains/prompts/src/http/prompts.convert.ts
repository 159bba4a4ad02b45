import { PromptDoneFrame, PromptTemplateResponse, PromptTemplateRunResponse } from '@aps/dtos';
import type { PromptRun } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { PromptFrame } from '../prompt-runner';
import type { PromptTemplateView } from '../prompts.queries';

export const toPromptTemplate = (t: PromptTemplateView): PromptTemplateResponse =>
  answer(PromptTemplateResponse, t, {
    kind: t.fields.length ? 'structured' : 'plain',
    current_revision: { id: t.revision_id, version: t.version },
  });

/** @param hideDollars the organization pays in credits */
export const toRun = (run: PromptRun, hideDollars: boolean): PromptTemplateRunResponse =>
  answer(PromptTemplateRunResponse, run, hideDollars ? { cost_usd: null } : {});

/** The `data:` line of a frame. */
export const toFrame = ({ event, data }: PromptFrame, hideDollars: boolean): object =>
  event === 'done'
    ? answer(PromptDoneFrame, toRun(data, hideDollars), { run_id: data.id, output: data.output ?? '', duration_ms: data.duration_ms ?? 0 })
    : data;
