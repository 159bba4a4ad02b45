import { AgentResponse, AgentRevisionResponse, RolloutDetailResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { AgentView } from '../agents.queries';
import type { RevisionView } from '../revisions.repository';
import type { RolloutView } from '../rollouts.queries';

export function toAgent(a: AgentView): AgentResponse {
  return answer(AgentResponse, a, {
    model_mode: a.model_mode as AgentResponse['model_mode'],
    reasoning_effort: a.reasoning_effort as AgentResponse['reasoning_effort'],
    live_revision: a.live_revision_id !== null && a.live_version !== null ? { id: a.live_revision_id, version: a.live_version } : null,
  });
}

/** The configuration goes as it was sealed: its hash is over that. */
export function toRevision(r: RevisionView): AgentRevisionResponse {
  const created_at = r.created_at.toISOString();
  return answer(AgentRevisionResponse, r, {
    config: r.config as AgentRevisionResponse['config'],
    created_at,
    updated_at: created_at,
  });
}

export function toRollout(r: RolloutView): RolloutDetailResponse {
  return answer(RolloutDetailResponse, r, {
    arms: r.arms.map((arm) => ({
      label: arm.label,
      revision_id: arm.revision_id,
      version: arm.version,
      weight: arm.weight,
      chat_count: arm.chat_count,
      is_control: arm.label === r.control,
    })),
    created_at: r.started_at.toISOString(),
    updated_at: (r.ended_at ?? r.started_at).toISOString(),
  });
}
