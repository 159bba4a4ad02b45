import { Injectable } from '@nestjs/common';
import type { Agent, Rollout } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, type Tx } from '@aps/platform/database';
import { AgentReferences } from './agent-references';
import { AgentsRepository } from './agents.repository';
import { Audit } from '@aps/platform/audit';
import { InstructionsRepository } from './instructions.repository';
import { RevisionsRepository, type RevisionView } from './revisions.repository';
import { RolloutsRepository } from './rollouts.repository';
import { configOf, hashOf, type SealedAgentConfig } from './sealed-config';

/** Weights are basis points: a deployment gets every chat. */
const ALL = 10_000;

/** Seals drafts and deploys what is sealed. Both happen under the agent's row lock. */
@Injectable()
export class RevisionsService {
  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
    private readonly instructions: InstructionsRepository,
    private readonly revisions: RevisionsRepository,
    private readonly rollouts: RolloutsRepository,
    private readonly references: AgentReferences,
    private readonly audit: Audit,
  ) {}

  /** Seals the draft. Sealing what is sealed already makes nothing and returns the latest revision. */
  seal(scope: OrgScope, agentRef: string): Promise<{ revision: RevisionView; created: boolean }> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      const { id, created } = await this.sealLocked(tx, scope, agent);
      return { revision: await this.revisions.get(tx, scope, agent.id, id), created };
    });
  }

  /** Makes a revision the live one; deploying the live one again changes nothing, unless an experiment has to end. */
  deploy(scope: OrgScope, agentRef: string, revisionId: string): Promise<Rollout> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      return this.deployLocked(tx, scope, agent, revisionId);
    });
  }

  /** Seals and deploys an agent whose row this transaction has locked. */
  async release(tx: Tx, scope: OrgScope, agent: Agent): Promise<Rollout> {
    const { id } = await this.sealLocked(tx, scope, agent);
    return this.deployLocked(tx, scope, agent, id);
  }

  /** Notes what sealing now would give. Every change of a draft or of the published instruction ends with this. */
  async refreshDraft(tx: Tx, scope: OrgScope, agent: Agent): Promise<Agent> {
    const { hash } = await this.draftOf(tx, scope, agent);
    return hash === agent.draft_hash ? agent : this.agents.update(tx, scope, agent.id, { draft_hash: hash });
  }

  /** @param agent whose row is locked, as it is now */
  async sealLocked(tx: Tx, scope: OrgScope, agent: Agent): Promise<{ id: string; created: boolean }> {
    const { config, hash } = await this.draftOf(tx, scope, agent);
    const latest = await this.revisions.latest(tx, scope, agent.id);
    if (latest?.hash === hash) return { id: latest.id, created: false };

    const version = agent.last_revision_version + 1;
    const { id } = await this.revisions.insert(tx, scope, { agent_id: agent.id, version, hash, config });
    await this.agents.update(tx, scope, agent.id, { last_revision_version: version, draft_hash: hash });
    await this.audit.record(tx, scope, 'agent.revision_sealed', { kind: 'agent', id: agent.id }, { revision_id: id, version });
    return { id, created: true };
  }

  /** @param agent whose row is locked, as it is now */
  async deployLocked(tx: Tx, scope: OrgScope, agent: Agent, revisionId: string): Promise<Rollout> {
    const revision = await this.revisions.get(tx, scope, agent.id, revisionId);
    const live = await this.rollouts.live(tx, scope, agent.id);
    if (live && revision.is_live && !(await this.rollouts.running(tx, scope, agent.id))) return live;

    // What a revision names was there when it was sealed; an old one may outlive it.
    await this.references.require(tx, scope, revision.config, { self: agent, loc: ['path', 'revision_id'] });
    const ended = await this.rollouts.endCurrent(tx, scope, agent.id);
    const arms = [{ label: `v${revision.version}`, revision_id: revision.id, version: revision.version, weight: ALL }];
    const rollout = await this.rollouts.insertDeploy(tx, scope, agent.id, arms);
    await this.agents.update(tx, scope, agent.id, { live_revision_id: revision.id });
    await this.audit.record(
      tx,
      scope,
      'agent.deployed',
      { kind: 'agent', id: agent.id },
      {
        rollout_id: rollout.id,
        revision_id: revision.id,
        version: revision.version,
        superseded_rollout_ids: ended.map((r) => r.id),
      },
    );
    return rollout;
  }

  private async draftOf(tx: Tx, scope: OrgScope, agent: Agent): Promise<{ config: SealedAgentConfig; hash: string }> {
    const { active } = await this.instructions.current(tx, scope, agent.id);
    const config = configOf(agent, { content: active?.content ?? '', version: active?.version ?? 0 });
    return { config, hash: hashOf(config) };
  }
}
