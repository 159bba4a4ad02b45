import { AgentMemoryResponse, InstructionResponse, InstructionRevisionResponse, SkillResponse } from '@aps/dtos';
import type { InstructionRevision, Memory, Skill } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { InstructionView } from '../instructions.service';

export function toInstructionRevision(r: InstructionRevision): InstructionRevisionResponse {
  return answer(InstructionRevisionResponse, r);
}

export function toInstruction(view: InstructionView): InstructionResponse {
  return answer(InstructionResponse, view, {
    active: view.active && toInstructionRevision(view.active),
    draft: view.draft && toInstructionRevision(view.draft),
  });
}

export function toSkill(s: Skill): SkillResponse {
  return answer(SkillResponse, s, { is_system: s.org_id === null });
}

export function toMemory(m: Memory): AgentMemoryResponse {
  const created_at = m.created_at.toISOString();
  return answer(AgentMemoryResponse, m, { owner: { kind: m.owner_kind, id: m.owner_id }, created_at, updated_at: created_at });
}
