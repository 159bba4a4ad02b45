import type { Memory, SharedBlock } from '@aps/entities';
import { tokensOf } from '@aps/inference';
import { hashOf } from '@aps/platform/definitions';
import type { NamedBase } from '@aps/knowledge';
import type { RunnablePrompt } from '@aps/prompts';
import { covers } from '@aps/tools';
import type { NamedAgent } from '../delegates.queries';
import type { SealedAgentConfig } from '../sealed-config';
import type { ToldSkill } from '../skills.repository';
import { parseToolScope } from '../tool-scopes';

/** What a team or a project shares with the agents in it. */
export interface Share extends Readonly<Pick<SharedBlock, 'id' | 'shared_instruction' | 'shared_allowed_tools' | 'shared_mounted_skills'>> {
  readonly kind: 'project' | 'team';
}

/** What an agent has in a turn: the configuration that was sealed, with what its project and team share now. */
export interface AgentContext extends SealedAgentConfig {
  readonly sealed: SealedAgentConfig;
  /** The project's first. */
  readonly shares: readonly Share[];
}

/** What a context is made of. */
type Layers = Pick<AgentContext, 'sealed' | 'shares'>;

export interface Source {
  kind: 'platform' | 'project' | 'team' | 'agent';
  id: string | null;
}

/** What a turn is told and may use, beside its chat, and where each of it comes from. */
export interface EffectiveContext {
  instruction: { source: Source; text: string }[];
  tools: { scope: string; sources: Source[]; denied: boolean }[];
  skills: { slug: string; source: Source }[];
  memories: { id: string; owner: { kind: Memory['owner_kind']; id: string } }[];
  memory_tokens: number;
}

/** What a turn is told beside its chat and its instructions. */
export interface Told {
  /** Those that are mounted and there. */
  skills: ToldSkill[];
  /** Those that it may delegate to. */
  agents: NamedAgent[];
  /** Those that it may run. */
  prompts: RunnablePrompt[];
  /** Those that it may read. */
  bases: NamedBase[];
  /** The agent's first, and then what is shared. */
  memories: Memory[];
}

/** Of memories, in tokens. */
const MEMORY_TOKENS = 8_000;
const tokensOfMemory = ({ content }: Pick<Memory, 'content'>): number => Math.ceil(tokensOf(content));

/** Tools are the union of all grants; skills are the project's, the team's and the agent's, each once. */
export function withShares(sealed: SealedAgentConfig, shares: readonly Share[]): AgentContext {
  const allowed = [...sealed.allowed_tools, ...shares.flatMap((share) => share.shared_allowed_tools)];
  const skills = [...shares.flatMap((share) => share.shared_mounted_skills), ...sealed.mounted_skills];
  return { ...sealed, allowed_tools: [...new Set(allowed)], mounted_skills: [...new Set(skills)], sealed, shares };
}

/** Those of the memories that a turn is told, in their order, until they come to too much. */
export function toldMemories<M extends Pick<Memory, 'content'>>(memories: readonly M[]): M[] {
  let left = MEMORY_TOKENS;
  const end = memories.findIndex((memory) => (left -= tokensOfMemory(memory)) < 0);
  return end < 0 ? [...memories] : memories.slice(0, end);
}

const agentOf = ({ agent_id }: SealedAgentConfig): Source => ({ kind: 'agent', id: agent_id });
const sourceOf = ({ kind, id }: Share): Source => ({ kind, id });

/** Who says what, in the order in which it is said. */
export function instructionsOf({ sealed, shares }: Layers): EffectiveContext['instruction'] {
  const shared = shares.map((share) => ({ source: sourceOf(share), text: share.shared_instruction?.trim() ?? '' }));
  return [...shared, { source: agentOf(sealed), text: sealed.instruction.trim() }].filter(({ text }) => text !== '');
}

/** An exact tool is denied with its connection, too. */
function isDenied(denied: readonly string[], scope: string): boolean {
  const tool = parseToolScope(scope);
  return covers(denied, scope, ...(tool?.kind === 'tool' ? [`con:${tool.connection}`] : []));
}

export function effectiveContext({ sealed, shares }: Layers, { skills, memories }: Pick<Told, 'skills' | 'memories'>): EffectiveContext {
  const there = new Set(skills.map(({ slug }) => slug));
  const owners = [
    ...shares.map((share) => ({ source: sourceOf(share), tools: share.shared_allowed_tools, mounts: share.shared_mounted_skills })),
    { source: agentOf(sealed), tools: sealed.allowed_tools, mounts: sealed.mounted_skills },
  ];
  const tools = new Map<string, Source[]>([['core', [{ kind: 'platform', id: null }]]]);
  const mounted = new Map<string, Source>();
  for (const { source, tools: granted, mounts } of owners) {
    for (const scope of granted) tools.set(scope, [...(tools.get(scope) ?? []), source]);
    for (const slug of mounts) if (there.has(slug) && !mounted.has(slug)) mounted.set(slug, source);
  }
  return {
    instruction: instructionsOf({ sealed, shares }),
    tools: [...tools].map(([scope, sources]) => ({ scope, sources, denied: isDenied(sealed.denied_tools, scope) })),
    skills: [...mounted].map(([slug, source]) => ({ slug, source })),
    memories: memories.map(({ id, owner_kind, owner_id }) => ({ id, owner: { kind: owner_kind, id: owner_id } })),
    memory_tokens: memories.reduce((sum, memory) => sum + tokensOfMemory(memory), 0),
  };
}

/**
 * Tells one context from another, in hex: all that a model is told beside its chat, and what it may use. A memory never changes, so its id
 * stands for what it says.
 */
export function contextHash(context: Layers, { skills, agents, prompts, bases, memories }: Told): string {
  const { instruction, tools, ...effective } = effectiveContext(context, { skills, memories });
  const scopes = tools.map(({ scope, denied }) => ({ scope, denied })).sort((a, b) => (a.scope < b.scope ? -1 : 1));
  const named = (all: (NamedAgent | NamedBase)[]) => all.map(({ slug, name, description }) => ({ slug, name, description }));
  const told = { told: skills, memories: effective.memories, agents: named(agents), prompts, bases: named(bases) };
  return hashOf({ instruction, tools: scopes, ...told });
}
