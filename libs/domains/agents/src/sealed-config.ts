import { createHash } from 'node:crypto';
import type { Agent } from '@aps/entities';

export const MODEL_MODES = ['trivial', 'normal', 'high_effort', 'x_high'] as const;
export type ModelMode = (typeof MODEL_MODES)[number];

/** Everything that an agent was when it was sealed. What a chat runs on; frozen, so it may be shared and kept. */
export interface SealedAgentConfig {
  readonly schema_version: 1;
  readonly agent_id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly avatar_seed: string | null;
  readonly team_id: string | null;
  readonly project_id: string | null;
  /** The published instruction; empty when there is none. */
  readonly instruction: string;
  /** 0 when no instruction was ever published. */
  readonly instruction_version: number;
  readonly model: string | null;
  readonly model_mode: ModelMode | null;
  readonly reasoning_effort: string | null;
  readonly allowed_tools: readonly string[];
  readonly denied_tools: readonly string[];
  readonly mounted_skills: readonly string[];
  readonly knowledge_base_ids: readonly string[];
  readonly environment_id: string | null;
  readonly child_agent_ids: readonly string[];
  readonly max_steps: number;
  readonly max_child_depth: number;
  readonly memory_enabled: boolean;
  /** Decimal. */
  readonly budget_credits_per_period: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What sealing this draft now would write. */
export function configOf(agent: Agent, instruction: { content: string; version: number }): SealedAgentConfig {
  return {
    schema_version: 1,
    agent_id: agent.id,
    name: agent.name,
    slug: agent.slug,
    description: agent.description,
    avatar_seed: agent.avatar_seed,
    team_id: agent.team_id,
    project_id: agent.project_id,
    instruction: instruction.content,
    instruction_version: instruction.version,
    model: agent.model,
    model_mode: agent.model_mode as ModelMode | null,
    reasoning_effort: agent.reasoning_effort,
    allowed_tools: agent.allowed_tools,
    denied_tools: agent.denied_tools,
    mounted_skills: agent.mounted_skills,
    knowledge_base_ids: agent.knowledge_base_ids,
    environment_id: agent.environment_id,
    child_agent_ids: agent.child_agent_ids,
    max_steps: agent.max_steps,
    max_child_depth: agent.max_child_depth,
    memory_enabled: agent.memory_enabled,
    budget_credits_per_period: agent.budget_credits_per_period,
    metadata: agent.metadata,
  };
}

/**
 * JSON with one text per value (RFC 8785): keys in the order of their UTF-16 code units, no white space, numbers and strings as
 * ECMAScript writes them. Equal values have equal hashes, however they were typed.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, v]) => v !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, v]) => `${JSON.stringify(key)}:${canonicalJson(v)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 over the canonical JSON, hex: what anyone can compute again from a revision's `config`. */
export const hashOf = (config: SealedAgentConfig): string => createHash('sha256').update(canonicalJson(config)).digest('hex');

/** Freezes a value all the way down. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
