import { Injectable } from '@nestjs/common';
import { AgentsRepository, RevisionsService, type SealedAgentConfig } from '@aps/agents';
import { Blockers, refusalOf } from '@aps/billing';
import { DomainError, notFound } from '@aps/contracts';
import type { Agent, Replay, ReplayEstimate, ReplayStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Holds, ModelResolver } from '@aps/inference';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, Database, type Tx } from '@aps/platform/database';
import { ReplaysRepository, type NewItem } from './replays.repository';
import { TOOK } from './replays.sql';

/** Which configuration of an agent; none of the two is its draft, with the instruction that is being written. */
export interface Chosen {
  version?: number;
  revision_id?: string;
}

/** What is to be replayed, once it has been found. */
export interface NewReplay {
  kind: Replay['kind'];
  agent: Agent;
  config: SealedAgentConfig;
  revision_id: string | null;
  items: NewItem[];
  /** Of checks: the turns that are played again; else all of the chats. */
  turnIds: string[] | null;
  /** Calls beside those that were made then. */
  furtherCalls: number;
  judge_model?: string | null;
  budget?: string | null;
}

/** So many replays of an organization wait or are under way at most. */
const MAX_UNFINISHED = 20;

const NAMES = { draft_check: 'Check', simulation: 'Simulation' } as const;
const STARTED = { draft_check: 'draft_check.started', simulation: 'simulation.started' } as const;

/** Begins replays and ends them. */
@Injectable()
export class ReplayStarts {
  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
    private readonly revisions: RevisionsService,
    private readonly repository: ReplaysRepository,
    private readonly resolver: ModelResolver,
    private readonly holds: Holds,
    private readonly blockers: Blockers,
    private readonly audit: Audit,
  ) {}

  /** Null for a revision that the agent has not. @throws DomainError 404 */
  configOf(scope: OrgScope, agentRef: string, chosen: Chosen): Promise<Pick<NewReplay, 'agent' | 'config' | 'revision_id'> | null> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      const candidate = await this.revisions.candidate(tx, scope, agent, { version: chosen.version, id: chosen.revision_id });
      return candidate && { agent, config: candidate.config, revision_id: candidate.sealed?.id ?? null };
    });
  }

  /**
   * What it would take, judged by what it took then. Nothing is stored or asked.
   *
   * @throws DomainError 422 `nothing_to_check`, `model_not_callable`, `model_not_priced`
   */
  async estimate(scope: OrgScope, { kind, config, items, turnIds, furtherCalls, budget }: NewReplay): Promise<ReplayEstimate> {
    if (items.length === 0) throw new DomainError('nothing_to_check', 'There is nothing that could be played again.');
    const [took] = await this.db.query(TOOK, [scope.orgId, items.map(({ chat_id }) => chat_id), turnIds]);
    const model_calls = Math.max(took.calls, items.length) + furtherCalls;
    const { model: agentModel, model_mode: agentMode, reasoning_effort: agentReasoningEffort } = config;
    const requested = { agentModel, agentMode, agentReasoningEffort };
    const model = await this.resolver.requireCallable({ orgId: scope.orgId, scope: 'chat', requested });
    const cost = await this.holds.priced(scope.orgId, kind, model, took, model_calls);
    if (budget && 'usd' in cost && cost.usd === null)
      throw new DomainError('model_not_priced', 'The model has no price that a budget could be held to by.');
    return { model_calls, credits: null, usd: null, ...cost };
  }

  /** @throws DomainError as {@link estimate}; 402 `credits_exhausted`; 429 `queue_full` */
  async start(scope: OrgScope, replay: NewReplay): Promise<Replay> {
    const { kind, agent, config, revision_id, items, judge_model = null, budget = null } = replay;
    const estimate = await this.estimate(scope, replay);
    const blocker = await this.blockers.of(scope.orgId);
    // The organization's budget is of what chats spend.
    if (blocker?.code === 'credits_exhausted') throw refusalOf(blocker);
    const billing_unit = estimate.credits === null ? ('usd' as const) : ('credits' as const);
    return this.db.transaction(scope, async (tx) => {
      await this.requireRoom(tx, scope);
      const columns = { agent_id: agent.id, kind, config: { ...config }, revision_id, judge_model, budget, billing_unit, estimate };
      const started = await this.repository.add(tx, scope, { ...columns, created_by: scope.userId }, items);
      const facts = { replay_id: started.id, items: items.length, revision_id, budget };
      await this.audit.record(tx, scope, STARTED[kind], { kind: 'agent', id: agent.id }, facts);
      return started;
    });
  }

  /** Of one that is over nothing changes. @returns whether it did. @throws DomainError 404; 403 `insufficient_role` for another one's */
  cancel(scope: OrgScope, agentId: string, kind: Replay['kind'], id: string): Promise<{ cancelled: boolean; status: ReplayStatus }> {
    return this.db.transaction(scope, async (tx) => {
      const found = await this.repository.lock(tx, scope, agentId, kind, id);
      if (!found) throw notFound(NAMES[kind]);
      if (!scope.isAdmin && found.created_by !== scope.userId)
        throw new DomainError('insufficient_role', 'Only who began it and administrators may do this.', {
          context: { required: ['ADMIN', 'OWNER'] },
        });
      if (found.status !== 'queued' && found.status !== 'running') return { cancelled: false, status: found.status };
      await this.repository.cancel(tx, id);
      await this.audit.record(tx, scope, `${kind}.cancelled`, { kind: 'agent', id: agentId }, { replay_id: id });
      return { cancelled: true, status: 'cancelled' };
    });
  }

  /** Who begins one waits for who does so just now. */
  private async requireRoom(tx: Tx, { orgId }: OrgScope): Promise<void> {
    await advisoryLock(tx, `cap:replays:${orgId}`);
    const current = await this.repository.unfinished(tx, orgId);
    if (current >= MAX_UNFINISHED)
      throw new DomainError('queue_full', 'Too many checks and simulations of this organization wait already.', {
        retryAfterS: 60,
        context: { limit: MAX_UNFINISHED, current },
      });
  }
}
