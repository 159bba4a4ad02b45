import { PromptTemplateResponse, PromptTemplateRevisionSummary } from '@aps/dtos';
import type { PromptRevision } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { PromptTemplateView } from '../prompts.queries';

export const toPromptTemplate = (t: PromptTemplateView): PromptTemplateResponse =>
  answer(PromptTemplateResponse, t, {
    kind: t.fields.length ? 'structured' : 'plain',
    current_revision: { id: t.revision_id, version: t.version },
  });

export const toRevisionSummary = (r: PromptRevision): PromptTemplateRevisionSummary => answer(PromptTemplateRevisionSummary, r);
