import type { AgentMemoryResponse, InstructionResponse, InstructionRevisionResponse, SkillResponse } from '@aps/dtos';
import type { InstructionRevision, Memory, Skill } from '@aps/entities';
import type { InstructionView } from '../instructions.service';

export function toInstructionRevision(r: InstructionRevision): InstructionRevisionResponse {
  return {
    id: r.id,
    agent_id: r.agent_id,
    version: r.version,
    state: r.state,
    content: r.content,
    base_revision_id: r.base_revision_id,
    created_by: r.created_by,
    published_at: r.published_at?.toISOString() ?? null,
    created_at: r.created_at.toISOString(),
    updated_at: r.updated_at.toISOString(),
  };
}

export function toInstruction(view: InstructionView): InstructionResponse {
  return {
    agent_id: view.agent_id,
    active: view.active && toInstructionRevision(view.active),
    draft: view.draft && toInstructionRevision(view.draft),
    base_version: view.base_version,
  };
}

export function toSkill(s: Skill): SkillResponse {
  return {
    id: s.id,
    slug: s.slug,
    name: s.name,
    description: s.description,
    content: s.content,
    files: s.files,
    is_system: s.org_id === null,
    created_by: s.created_by,
    created_at: s.created_at.toISOString(),
    updated_at: s.updated_at.toISOString(),
  };
}

export function toMemory(m: Memory): AgentMemoryResponse {
  const created_at = m.created_at.toISOString();
  return {
    id: m.id,
    content: m.content,
    owner: { kind: m.owner_kind, id: m.owner_id },
    source: m.source,
    created_by: m.created_by,
    created_at,
    updated_at: created_at,
  };
}
