import type { HitlAnswer, HitlRequest } from '@aps/dtos';
import type { HitlRequest as HitlRow } from '@aps/entities';

export function toHitlRequest(row: HitlRow): HitlRequest {
  return {
    id: row.id,
    chat_id: row.chat_id,
    run_id: row.run_id,
    agent_id: row.agent_id,
    step_id: row.step_id,
    kind: row.kind,
    prompt: row.prompt,
    options: row.options ?? [],
    schema: row.schema,
    tool_call: row.tool_call,
    status: row.status,
    assignee_user_id: row.assignee_user_id,
    expires_at: row.expires_at.toISOString(),
    answered_by: row.answered_by,
    answered_at: row.answered_at && row.answered_at.toISOString(),
    answer: row.answer as HitlAnswer | null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
