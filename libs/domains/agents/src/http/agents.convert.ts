import type { AgentResponse, AgentRevisionResponse, RolloutDetailResponse } from '@aps/dtos';
import type { AgentView } from '../agents.repository';
import type { RevisionView } from '../revisions.repository';
import type { RolloutView } from '../rollouts.queries';

export function toAgent(a: AgentView): AgentResponse {
  return {
    id: a.id,
    name: a.name,
    slug: a.slug,
    description: a.description,
    avatar_seed: a.avatar_seed,
    team_id: a.team_id,
    project_id: a.project_id,
    instruction: a.instruction,
    instruction_version: a.instruction_version,
    has_instruction_draft: a.has_instruction_draft,
    model: a.model,
    model_mode: a.model_mode as AgentResponse['model_mode'],
    reasoning_effort: a.reasoning_effort as AgentResponse['reasoning_effort'],
    allowed_tools: a.allowed_tools,
    denied_tools: a.denied_tools,
    mounted_skills: a.mounted_skills,
    knowledge_base_ids: a.knowledge_base_ids,
    environment_id: a.environment_id,
    child_agent_ids: a.child_agent_ids,
    max_steps: a.max_steps,
    max_child_depth: a.max_child_depth,
    budget_credits_per_period: a.budget_credits_per_period,
    memory_enabled: a.memory_enabled,
    metadata: a.metadata,
    live_revision: a.live_revision_id !== null && a.live_version !== null ? { id: a.live_revision_id, version: a.live_version } : null,
    draft_dirty: a.draft_dirty,
    running_rollout_id: a.running_rollout_id,
    created_by: a.created_by,
    created_at: a.created_at.toISOString(),
    updated_at: a.updated_at.toISOString(),
  };
}

export function toRevision(r: RevisionView): AgentRevisionResponse {
  const created_at = r.created_at.toISOString();
  return {
    id: r.id,
    agent_id: r.agent_id,
    version: r.version,
    hash: r.hash,
    config: r.config as AgentRevisionResponse['config'],
    is_live: r.is_live,
    created_by: r.created_by,
    created_at,
    updated_at: created_at,
  };
}

export function toRollout(r: RolloutView): RolloutDetailResponse {
  return {
    id: r.id,
    agent_id: r.agent_id,
    kind: r.kind,
    status: r.status,
    label: r.label,
    hypothesis: r.hypothesis,
    unit: r.unit,
    control: r.control,
    min_sample: r.min_sample,
    billing_unit: r.billing_unit,
    arms: r.arms.map((arm) => ({
      label: arm.label,
      revision_id: arm.revision_id,
      version: arm.version,
      weight: arm.weight,
      chat_count: arm.chat_count,
      is_control: arm.label === r.control,
    })),
    promoted_arm: r.promoted_arm,
    started_by: r.started_by,
    started_at: r.started_at.toISOString(),
    ended_at: r.ended_at?.toISOString() ?? null,
    created_at: r.started_at.toISOString(),
    updated_at: (r.ended_at ?? r.started_at).toISOString(),
  };
}
