import {
  AgentMemoryResponse,
  AgentResponse,
  AgentRevisionResponse,
  InstructionResponse,
  InstructionRevisionResponse,
  RolloutArmResponse,
  RolloutDetailResponse,
  SkillResponse,
} from '@aps/dtos';
import type { InstructionRevision, Memory, Skill } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { AgentView } from '../agents.queries';
import type { InstructionView } from '../instructions.service';
import type { RevisionView } from '../revisions.queries';
import type { RolloutView } from '../rollouts.queries';

export const toAgent = (a: AgentView): AgentResponse =>
  answer(AgentResponse, a, {
    live_revision: a.live_revision_id !== null && a.live_version !== null ? { id: a.live_revision_id, version: a.live_version } : null,
  });

/** The configuration goes as it was sealed: its hash is over that. */
export const toRevision = (r: RevisionView): AgentRevisionResponse =>
  answer(AgentRevisionResponse, r, { config: r.config as AgentRevisionResponse['config'], updated_at: r.created_at.toISOString() });

export const toRollout = (r: RolloutView): RolloutDetailResponse =>
  answer(RolloutDetailResponse, r, {
    arms: r.arms.map((arm) => answer(RolloutArmResponse, arm, { is_control: arm.label === r.control })),
    created_at: r.started_at.toISOString(),
    updated_at: (r.ended_at ?? r.started_at).toISOString(),
  });

export const toInstructionRevision = (r: InstructionRevision): InstructionRevisionResponse => answer(InstructionRevisionResponse, r);

export const toInstruction = (view: InstructionView): InstructionResponse =>
  answer(InstructionResponse, view, {
    active: view.active && toInstructionRevision(view.active),
    draft: view.draft && toInstructionRevision(view.draft),
  });

export const toSkill = (s: Skill): SkillResponse => answer(SkillResponse, s, { is_system: s.org_id === null });

export const toMemory = (m: Memory): AgentMemoryResponse =>
  answer(AgentMemoryResponse, m, { owner: { kind: m.owner_kind, id: m.owner_id }, updated_at: m.created_at.toISOString() });
