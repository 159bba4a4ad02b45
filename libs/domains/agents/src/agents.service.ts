import { Injectable } from '@nestjs/common';
import { slugsFor } from '@aps/contracts';
import { Entitlements } from '@aps/billing';
import { Agent, Rollout } from '@aps/entities';
import { EnvironmentsQueries } from '@aps/environments';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog } from '@aps/inference';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, Database, Deletions, now, OrgTable, refusingTakenSlug, type Statement, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { AgentReferences } from './agent-references';
import { columnsOf, editsOf, isSet, requireEntitled, requireStorable, type AgentInput } from './agents.policy';
import { AgentsQueries, NAMING_AGENT, NAMING_SLUG, type AgentName, type AgentView } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { InstructionsService } from './instructions.service';
import { RevisionsService } from './revisions.service';
import { GRANTING, isHeld } from './sharing/blocks.sql';
import { refuseUse } from './sharing/use.policy';

/** Makes, edits and deletes agents. */
@Injectable()
export class AgentsService {
  private readonly rows = new OrgTable(Agent);
  private readonly rollouts = new OrgTable(Rollout);

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
    private readonly queries: AgentsQueries,
    private readonly references: AgentReferences,
    private readonly instructions: InstructionsService,
    private readonly revisions: RevisionsService,
    private readonly environments: EnvironmentsQueries,
    private readonly entitlements: Entitlements,
    private readonly catalog: ModelCatalog,
    private readonly outbox: Outbox,
    private readonly deletions: Deletions,
    private readonly audit: Audit,
  ) {}

  /** Makes an agent, sealed and deployed as version 1. */
  async create(scope: OrgScope, input: AgentInput & { name: string }): Promise<AgentView> {
    requireStorable(input);
    requireEntitled(await this.entitlements.of(scope.orgId), input);
    return this.db.transaction(scope, async (tx) => {
      // Counting, and finding a free slug, hold for as long as nobody else creates or renames one.
      await this.lockNames(tx, scope);
      await this.entitlements.requireRoom(scope.orgId, 'max_agents', await this.rows.count(tx, scope), tx);
      const columns = columnsOf<Agent>(input);
      await this.requireResolvable(tx, scope, columns);

      const slugs = slugsFor(input.name, input.slug, 'agent');
      const agent = await this.rows.insertUnder(tx, scope, slugs, { created_by: scope.actor.userId, ...columns });
      await this.audit.record(tx, scope, 'agent.created', agent.id, { slug: agent.slug });
      await this.revisions.release(tx, scope, await this.instructions.publishContent(tx, scope, agent, input.instruction ?? ''));
      return this.queries.get(scope, agent.id, tx);
    });
  }

  /**
   * Edits the draft. What runs stays as it is, unless `deploy` seals and deploys the draft at once.
   *
   * @throws DomainError `agent_in_use` when the slug changes while others grant, share or deny it as a tool
   */
  async update(scope: OrgScope, ref: string, input: AgentInput, options: { deploy?: boolean } = {}): Promise<AgentView> {
    requireStorable(input);
    const id = await this.queries.idOf(scope, ref);
    return this.db.transaction(scope, async (tx) => {
      if (isSet(input.slug)) await this.lockNames(tx, scope);
      // Before the agent, as of whoever deletes them. Whether they are there is found out below.
      if (isSet(input.team_id)) await isHeld(tx, scope, 'team', input.team_id);
      if (isSet(input.project_id)) await isHeld(tx, scope, 'project', input.project_id);
      if (isSet(input.environment_id)) await this.environments.holds(tx, scope, input.environment_id);
      const before = isSet(input.slug) ? await this.agents.lockIdentity(tx, scope, id) : await this.agents.lock(tx, scope, id);
      requireEntitled(await this.entitlements.of(scope.orgId, tx), input, before);
      const columns = columnsOf<Agent>(input);
      await this.requireResolvable(tx, scope, columns, before);
      const changes = editsOf(before, { ...columns, slug: input.slug ?? undefined });
      // The tool scope of an agent is its slug: what others grant or deny must not silently end, or pass to another agent.
      if (changes.slug !== undefined) await this.requireUnused(tx, scope, before, NAMING_SLUG);
      const fields = Object.keys(changes);
      let agent = before;
      if (fields.length) {
        agent = await refusingTakenSlug('agents_slug', this.agents.update(tx, scope, id, changes));
        await this.audit.record(tx, scope, 'agent.updated', id, { fields });
      }
      if (input.instruction !== undefined) agent = await this.instructions.publishContent(tx, scope, agent, input.instruction ?? '');
      agent = await this.revisions.refreshDraft(tx, scope, agent);
      if (options.deploy) await this.revisions.release(tx, scope, agent);
      return this.queries.get(scope, id, tx);
    });
  }

  /**
   * Deletes an agent; its slug is free again. From the commit on its chats take no turn, and what they do is ended by a job; they stay
   * readable.
   *
   * @throws DomainError `agent_in_use` while other live agents, teams or projects name it
   */
  async delete(scope: OrgScope, ref: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lockIdentity(tx, scope, ref);
      await this.requireUnused(tx, scope, agent, NAMING_AGENT);
      await this.rollouts.update(tx, scope, { agent_id: agent.id, status: 'running' }, { status: 'stopped', ended_at: now });
      await this.rows.delete(tx, scope, agent.id);
      const { orgId: org_id, requestId, traceparent } = scope;
      await this.outbox.enqueue(tx, 'agent.end_chats', { org_id, agent_id: agent.id }, { requestId, traceparent });
      await this.deletions.tell(tx, { kind: 'agent', orgId: org_id, id: agent.id, slug: agent.slug });
      await this.audit.record(tx, scope, 'agent.deleted', agent.id, { slug: agent.slug });
    });
  }

  private lockNames(tx: Tx, scope: OrgScope): Promise<void> {
    return advisoryLock(tx, `cap:max_agents:${scope.orgId}`);
  }

  private async requireResolvable(tx: Tx, scope: OrgScope, columns: Partial<Agent>, self?: Agent): Promise<void> {
    if (isSet(columns.model) && columns.model !== self?.model) await this.catalog.holdChatModel(tx, scope, columns.model, 'agent');
    await this.references.require(tx, scope, columns, { self, basesBefore: self?.knowledge_base_ids, deniedMayBeGone: self?.denied_tools });
  }

  private async requireUnused(tx: Tx, scope: OrgScope, { id, slug }: Agent, naming: Statement<AgentName>): Promise<void> {
    const tool = `agent:${slug}`;
    const agents = await tx.query(naming, [scope.orgId, id, tool]);
    refuseUse('agent_in_use', 'this agent', agents, await tx.query(GRANTING, [scope.orgId, tool]));
  }
}
