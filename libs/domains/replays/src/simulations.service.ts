import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { invalid, notFound, refuseField, type Problem } from '@aps/contracts';
import type { Replay, ReplayEstimate } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, mapListed, type Listed, type Slice } from '@aps/platform/database';
import { chosen } from '@aps/rollouts';
import { uuidv7 } from 'uuidv7';
import type { Difference, Doings } from './replay.policy';
import { ReplayStarts, type NewReplay } from './replay-starts.service';
import { ReplaysRepository } from './replays.repository';
import { CHATS, SAMPLE, SIMULATIONS, TOTALS, type DoneItem, type ShownReplay, type SimulationTotals } from './replays.sql';

const SAMPLED = 20;

export interface SimulationInput {
  version?: number | null;
  revision_id?: string | null;
  use_draft?: boolean;
  chat_ids?: string[];
  sample?: number;
  within_hours?: number;
  budget?: string | null;
}

type Done = Doings & { cost: string | null; tokens: number };

/** A chat that is played again. */
export interface SimulatedChat {
  chat_id: string;
  before: Done | null;
  /** Null while it has not been played again, and where it could not be. */
  after: Done | null;
  differences: Difference[];
  tool_call_misses: number;
  error: { code: string; message: string } | null;
}

/** Of chats that the reader may open. */
export type Simulation = ShownReplay & { totals: Omit<SimulationTotals, 'replay_id'> };

interface StoredResult {
  before: Doings | null;
  after: Doings | null;
  error: SimulatedChat['error'];
}

/** Past chats of an agent on another configuration of it. */
@Injectable()
export class Simulations {
  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly starts: ReplayStarts,
    private readonly replays: ReplaysRepository,
  ) {}

  /** @throws DomainError as {@link ReplayStarts.start}; 404 for chats that the caller may not open */
  async start(scope: OrgScope, agentRef: string, input: SimulationInput): Promise<Replay> {
    return this.starts.start(scope, await this.found(scope, agentRef, input));
  }

  /** @throws DomainError as {@link start} */
  async quote(scope: OrgScope, agentRef: string, input: SimulationInput): Promise<ReplayEstimate> {
    return this.starts.estimate(scope, await this.found(scope, agentRef, input));
  }

  async cancel(scope: OrgScope, agentRef: string, id: string) {
    return this.starts.cancel(scope, await this.agents.idOf(scope, agentRef), 'simulation', id);
  }

  /** Newest first. */
  async list(scope: OrgScope, agentRef: string, page: Slice): Promise<Listed<Simulation>> {
    const agent_id = await this.agents.idOf(scope, agentRef);
    const replays = await SIMULATIONS.page(this.db, scope, { agent_id, kind: 'simulation' }, page);
    return mapListed(replays, (some) => this.totalled(scope, some));
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, agentRef: string, id: string): Promise<{ simulation: Simulation; chats: Listed<SimulatedChat> }> {
    const agent_id = await this.agents.idOf(scope, agentRef);
    const [simulation] = await this.totalled(scope, [await SIMULATIONS.get(this.db, scope, id, { agent_id, kind: 'simulation' })]);
    const items = await this.replays.items(scope, id, 'large');
    return { simulation, chats: await mapListed(items, (some) => some.map(chatOf)) };
  }

  private async totalled(scope: OrgScope, replays: ShownReplay[]): Promise<Simulation[]> {
    const ids = replays.map(({ id }) => id);
    const totals = await this.db.query(TOTALS, [scope.orgId, ids, scope.actor.userId]);
    return replays.map((replay) => ({ ...replay, totals: totals.find(({ replay_id }) => replay_id === replay.id) ?? NO_TOTALS }));
  }

  private async found(scope: OrgScope, agentRef: string, input: SimulationInput): Promise<NewReplay> {
    requireChoice(input);
    const { version, revision_id, budget } = input;
    const of = await this.starts.configOf(scope, agentRef, { version: version ?? undefined, revision_id: revision_id ?? undefined });
    if (!of) throw refuseField('unknown_revision', [version ? 'version' : 'revision_id'], 'The agent has no such revision.');
    const chatIds = await this.chatsOf(scope, of.agent.id, input);
    const items = chatIds.map((chat_id) => ({ chat_id, decision: null }));
    return { kind: 'simulation', ...of, items, turnIds: null, furtherCalls: 0, budget };
  }

  private async chatsOf(
    scope: OrgScope,
    agentId: string,
    { chat_ids, sample = SAMPLED, within_hours }: SimulationInput,
  ): Promise<string[]> {
    const reader = [scope.orgId, agentId, scope.userId];
    if (!chat_ids) return (await this.db.query(SAMPLE, [...reader, within_hours ?? null, sample, uuidv7()])).map(({ id }) => id);
    const ids = [...new Set(chat_ids)];
    const found = await this.db.query(CHATS, [...reader, ids]);
    if (found.length < ids.length) throw notFound('Chat');
    return found.filter(({ has_words }) => has_words).map(({ id }) => id);
  }
}

function chatOf({ chat_id, result, differences, misses, ...took }: DoneItem): SimulatedChat {
  const { before = null, after = null, error = null } = (result ?? {}) as Partial<StoredResult>;
  return {
    chat_id,
    before: before && { ...before, cost: took.cost_before, tokens: Number(took.tokens_before) },
    after: after && { ...after, cost: took.cost, tokens: Number(took.tokens) },
    differences: (differences ?? []) as Difference[],
    tool_call_misses: misses ?? 0,
    error,
  };
}

const NO_TOTALS: Simulation['totals'] = {
  ...{ chats: 0, same_tools: 0, same_decisions: 0, tool_call_misses: 0 },
  ...{ cost_before: '0', cost_after: '0', tokens_before: 0, tokens_after: 0 },
};

function requireChoice(input: SimulationInput): void {
  const problem = (msg: string, ...loc: string[]): Problem => ({ loc: ['body', ...loc], msg, type: 'value_error' });
  const problems = [
    ...(chosen(input).length === 1 ? [] : [problem('Exactly one of version, revision_id and use_draft should say what is simulated')]),
    ...(input.chat_ids && (input.sample ?? input.within_hours) !== undefined
      ? [problem('Chats should be named, or sampled, and not both', 'chat_ids')]
      : []),
  ];
  if (problems.length) throw invalid(...problems);
}
