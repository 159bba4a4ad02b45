import type { AmendedInstruction } from '@aps/agents';
import { DecisionResponse, type RevisionDraftResponse } from '@aps/dtos';
import type { Decision } from '@aps/entities';
import { answer } from '@aps/platform/http';

export const toDecision = (d: Decision): DecisionResponse => answer(DecisionResponse, d, { archived: d.archived_at !== null });

export const toRevisionDraft = ({ draft, active, amended }: AmendedInstruction): RevisionDraftResponse => ({
  draft_id: draft?.id ?? null,
  base_revision_id: draft ? draft.base_revision_id : (active?.id ?? null),
  content: (draft ?? active)?.content ?? '',
  appended: amended,
  already_appended: !amended,
});
