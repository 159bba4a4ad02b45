import type { Agent, InstructionRevision } from '@aps/entities';
import { SETTINGS } from './agents.policy';

type SealedSettings = { readonly [S in (typeof SETTINGS)[number]]: Readonly<Agent[S]> };

/** Everything that an agent was when it was sealed. What a chat runs on; frozen, so it may be shared and kept. */
export interface SealedAgentConfig extends SealedSettings {
  readonly schema_version: 1;
  readonly agent_id: string;
  readonly slug: string;
  /** The published instruction; empty when there is none. */
  readonly instruction: string;
  /** 0 when no instruction was ever published. */
  readonly instruction_version: number;
}

/** What sealing this draft now would write. */
export function configOf(agent: Agent, published: Pick<InstructionRevision, 'content' | 'version'> | null): SealedAgentConfig {
  return {
    schema_version: 1,
    agent_id: agent.id,
    slug: agent.slug,
    instruction: published?.content ?? '',
    instruction_version: published?.version ?? 0,
    ...(Object.fromEntries<unknown>(SETTINGS.map((setting) => [setting, agent[setting]])) as SealedSettings),
  };
}

/** Freezes a value all the way down. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
