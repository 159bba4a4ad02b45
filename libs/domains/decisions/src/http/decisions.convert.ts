import { DecisionGroupItem, DecisionResponse, type RevisionDraftResponse } from '@aps/dtos';
import type { CorrectionDraft, DecisionGroup, DecisionRow } from '@aps/decisions';
import { answer } from '@aps/platform/http';

export function toDecision(d: DecisionRow): DecisionResponse {
  return answer(DecisionResponse, d, {
    archived: d.archived_at !== null,
  });
}

export function toDecisionGroup(g: DecisionGroup): DecisionGroupItem {
  return answer(DecisionGroupItem, g);
}

export function toRevisionDraft({
  draft_id,
  base_revision_id,
  content,
  appended,
  already_appended,
}: CorrectionDraft): RevisionDraftResponse {
  return { draft_id, base_revision_id, content, appended, already_appended };
}
