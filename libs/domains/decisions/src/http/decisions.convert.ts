import type { DecisionGroupItem, DecisionResponse, RevisionDraftResponse } from '@aps/dtos';
import type { CorrectionDraft, DecisionGroup, DecisionRow } from '@aps/decisions';
import { decimalText } from '@aps/platform/http';

export function toDecision(d: DecisionRow): DecisionResponse {
  return {
    id: d.id,
    chat_id: d.chat_id,
    agent_id: d.agent_id,
    agent_revision_id: d.agent_revision_id,
    turn_id: d.turn_id,
    tool_call_id: d.tool_call_id,
    tool_slug: d.tool_slug,
    connection_id: d.connection_id,
    arguments_digest: d.arguments_digest,
    kind: d.kind,
    summary: d.summary,
    basis: d.basis,
    rationale: d.rationale,
    deviation: d.deviation,
    determination: d.determination,
    confidence: d.confidence === null ? null : decimalText(d.confidence),
    review_status: d.review_status,
    review_note: d.review_note,
    should_have: d.should_have,
    reviewed_by: d.reviewed_by,
    reviewed_at: d.reviewed_at?.toISOString() ?? null,
    archived: d.archived_at !== null,
    archived_at: d.archived_at?.toISOString() ?? null,
    created_at: d.created_at.toISOString(),
  };
}

export function toDecisionGroup(g: DecisionGroup): DecisionGroupItem {
  return {
    basis: g.basis,
    count: g.count,
    unreviewed: g.unreviewed,
    disputed: g.disputed,
    latest_at: g.latest_at.toISOString(),
    sample_decision_ids: g.sample_decision_ids,
  };
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
