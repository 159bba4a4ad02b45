import { Injectable } from '@nestjs/common';
import { AgentRevision, InstructionRevision, Rollout, type Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, now, OrgTable, type Tx } from '@aps/platform/database';
import { hashOf } from '@aps/platform/definitions';
import { In } from 'typeorm';
import { AgentReferences } from './agent-references';
import { ALL_WEIGHTS } from './assignment.policy';
import { AgentsRepository } from './agents.repository';
import { AgentRevisions, type RevisionView } from './revisions.queries';
import { configOf, type SealedAgentConfig } from './sealed-config';

/** A revision that is sealed, by its number, too. */
type Numbered = Pick<AgentRevision, 'id' | 'version'>;

/** What may be sealed. */
interface Sealable {
  config: SealedAgentConfig;
  hash: string;
}

/** A revision that may be, or is, sealed. */
export interface Candidate extends Sealable {
  sealed: Numbered | null;
  /** Its instruction is one that is being written, and not published. */
  isOfDraft?: boolean;
}

const sealable = (config: SealedAgentConfig): Sealable => ({ config, hash: hashOf(config) });

/** One at most is in force: a deployment, or an experiment. */
const inForce = (agent: Agent) => ({ agent_id: agent.id, status: In<Rollout['status']>(['live', 'running']) });

/** Seals drafts and deploys what is sealed. Both happen under the agent's row lock. */
@Injectable()
export class RevisionsService {
  private readonly instructions = new OrgTable(InstructionRevision);
  private readonly sealed = new OrgTable(AgentRevision);
  private readonly rollouts = new OrgTable(Rollout);

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
    private readonly revisions: AgentRevisions,
    private readonly references: AgentReferences,
    private readonly audit: Audit,
  ) {}

  /** Seals the draft. Sealing what is sealed already makes nothing and returns the latest revision. */
  seal(scope: OrgScope, agentRef: string): Promise<{ revision: RevisionView; created: boolean }> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      const { id, created } = await this.sealLocked(tx, scope, agent);
      return { revision: await this.revisions.of(tx, scope, agent.id, id), created };
    });
  }

  /** Makes a revision the live one; deploying the live one again changes nothing, unless an experiment has to end. */
  deploy(scope: OrgScope, agentRef: string, revisionId: string): Promise<Rollout> {
    return this.db.transaction(scope, async (tx) => this.deployLocked(tx, scope, await this.agents.lock(tx, scope, agentRef), revisionId));
  }

  /** Seals and deploys an agent whose row this transaction has locked. */
  async release(tx: Tx, scope: OrgScope, agent: Agent): Promise<Rollout> {
    const { id } = await this.sealLocked(tx, scope, agent);
    return this.deployLocked(tx, scope, agent, id);
  }

  /**
   * A revision of an agent whose row is locked: one that is sealed, or what its draft would be, with the instruction that is being written
   * in place of the published one, where there is one.
   *
   * @returns null where there is no such revision
   */
  async candidate(tx: Tx, scope: OrgScope, agent: Agent, { version, id }: Partial<Numbered>): Promise<Candidate | null> {
    if (version === undefined && id === undefined) {
      const [published, draft] = await Promise.all(
        (['active', 'draft'] as const).map((state) => this.instructions.find(tx, scope, { agent_id: agent.id, state })),
      );
      const isOther = draft && draft.content !== (published?.content ?? '');
      const config = configOf(agent, isOther ? { content: draft.content, version: agent.last_instruction_version + 1 } : published);
      return { sealed: null, isOfDraft: Boolean(isOther), ...sealable(config) };
    }
    const sealed = await this.sealed.find(tx, scope, { agent_id: agent.id, ...(id === undefined ? { version } : { id }) });
    return sealed && { sealed, config: sealed.config as unknown as SealedAgentConfig, hash: sealed.hash };
  }

  /** Seals a candidate that is not sealed yet. @param agent whose row is locked, as it is now */
  async sealCandidate(tx: Tx, scope: OrgScope, agent: Agent, candidate: Candidate): Promise<Numbered> {
    return candidate.sealed ?? this.sealOnce(tx, scope, agent, candidate);
  }

  /** The revision whose instruction has this number: other texts may have been published since it was sealed with the next one. */
  async renumbered(tx: Tx, scope: OrgScope, agent: Agent, id: string, instruction_version: number): Promise<Numbered> {
    const sealed = await this.revisions.of(tx, scope, agent.id, id);
    if (sealed.config.instruction_version === instruction_version) return sealed;
    return this.sealOnce(tx, scope, agent, sealable({ ...sealed.config, instruction_version }));
  }

  /**
   * Ends what is in force of an agent whose row is locked, and has new chats run on a revision, unless something else says so.
   *
   * @returns ids of what has ended
   */
  async supersede(tx: Tx, scope: OrgScope, agent: Agent, liveRevisionId: string): Promise<string[]> {
    const ending = await this.rollouts.list(tx, scope, inForce(agent), {});
    await this.rollouts.update(tx, scope, inForce(agent), { status: 'superseded', ended_at: now });
    await this.agents.update(tx, scope, agent.id, { live_revision_id: liveRevisionId });
    return ending.map(({ id }) => id);
  }

  /** Notes what sealing now would give. Every change of a draft or of the published instruction ends with this. */
  async refreshDraft(tx: Tx, scope: OrgScope, agent: Agent): Promise<Agent> {
    const { hash } = await this.draftOf(tx, scope, agent);
    return hash === agent.draft_hash ? agent : this.agents.update(tx, scope, agent.id, { draft_hash: hash });
  }

  /** Of all that named an environment which is gone. */
  async leaveEnvironment(tx: Tx, scope: OrgScope, environmentId: string): Promise<void> {
    for (const id of await this.agents.leaveEnvironment(tx, scope, environmentId)) {
      await this.refreshDraft(tx, scope, await this.agents.lock(tx, scope, id));
    }
  }

  /** @param agent whose row is locked, as it is now */
  private async sealLocked(tx: Tx, scope: OrgScope, agent: Agent): Promise<{ id: string; created: boolean }> {
    const draft = await this.draftOf(tx, scope, agent);
    const sealed = await this.sealOnce(tx, scope, agent, draft);
    if (sealed.created) await this.agents.update(tx, scope, agent.id, { draft_hash: draft.hash });
    return sealed;
  }

  private async sealOnce(tx: Tx, scope: OrgScope, agent: Agent, { config, hash }: Sealable): Promise<Numbered & { created: boolean }> {
    const latest = await this.sealed.find(tx, scope, { agent_id: agent.id, version: agent.last_revision_version });
    if (latest?.hash === hash) return { ...latest, created: false };

    const version = agent.last_revision_version + 1;
    const revision = { agent_id: agent.id, version, hash, config: { ...config }, created_by: scope.actor.userId };
    const { id } = await this.sealed.insert(tx, scope, revision);
    await this.agents.update(tx, scope, agent.id, { last_revision_version: version });
    await this.audit.record(tx, scope, 'agent.revision_sealed', agent.id, { revision_id: id, version });
    return { id, version, created: true };
  }

  /** @param agent whose row is locked, as it is now */
  private async deployLocked(tx: Tx, scope: OrgScope, agent: Agent, revisionId: string): Promise<Rollout> {
    const revision = await this.revisions.of(tx, scope, agent.id, revisionId);
    const ending = await this.rollouts.list(tx, scope, inForce(agent), {});
    if (revision.is_live && ending.length === 1 && ending[0].status === 'live') return ending[0];

    // What a revision names was there when it was sealed; an old one may outlive it. Older ones tell where their agent belonged, which is not sealed any more.
    // Knowledge bases and environments that have gone are lost silently, as they are to what is live.
    const config = { ...revision.config, team_id: null, project_id: null, knowledge_base_ids: [], environment_id: null };
    await this.references.require(tx, scope, config, { self: agent, loc: ['path', 'revision_id'], deniedMayBeGone: true, modelToo: true });
    return this.putLive(tx, scope, agent, revision);
  }

  /** Deploys a revision, whatever has become of what it names. @param agent whose row is locked, as it is now */
  async putLive(tx: Tx, scope: OrgScope, agent: Agent, { id, version }: Numbered): Promise<Rollout> {
    const superseded_rollout_ids = await this.supersede(tx, scope, agent, id);
    const rollout = await this.rollouts.insert(tx, scope, {
      agent_id: agent.id,
      kind: 'deploy',
      status: 'live',
      arms: [{ label: `v${version}`, revision_id: id, version, weight: ALL_WEIGHTS }],
      started_by: scope.actor.userId,
      started_at: now,
    });
    const facts = { rollout_id: rollout.id, revision_id: id, version, superseded_rollout_ids };
    await this.audit.record(tx, scope, 'agent.deployed', agent.id, facts);
    return rollout;
  }

  private async draftOf(tx: Tx, scope: OrgScope, agent: Agent): Promise<Sealable> {
    return sealable(configOf(agent, await this.instructions.find(tx, scope, { agent_id: agent.id, state: 'active' })));
  }
}
