import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { InstructionRevision, listTally, type Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, now, OrgTable, type Db, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { In } from 'typeorm';
import { isSet } from './agents.policy';
import { AgentsQueries } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { RevisionsService } from './revisions.service';

const MAX_INSTRUCTION_CHARS = 100_000;

/** An agent's instruction: what is published, and what is being written. */
export interface InstructionView {
  agent_id: string;
  active: InstructionRevision | null;
  draft: InstructionRevision | null;
  /** Changes with every change of either. */
  base_version: string;
}

/** What the author of a change had read; without it they take whatever is there. */
interface Read {
  base_version?: string | null;
}

/** An instruction as an amendment leaves it; `amended` is false where there was nothing to write. */
export type AmendedInstruction = InstructionView & { amended: boolean };

/**
 * Writes instructions. Every change is made under the agent's row lock and raises its `instruction_edit`, so two savers that read the
 * same version can never both win, and a version is never met again.
 */
@Injectable()
export class InstructionsService {
  /** An agent has one active and one draft at most; whoever writes them holds the agent's lock. */
  private readonly texts = new OrgTable(InstructionRevision, 'Instruction revision', {
    from: listTally('instruction_revisions'),
    where: { agent_id: 't.of_id = $' },
  });

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
    private readonly queries: AgentsQueries,
    private readonly revisions: RevisionsService,
    private readonly audit: Audit,
  ) {}

  async get(scope: OrgScope, agentRef: string): Promise<InstructionView> {
    return this.view(this.db, scope, await this.queries.get(scope, agentRef));
  }

  /** The draft, then the newest first. */
  async list(scope: OrgScope, agentRef: string, page: Slice): Promise<Listed<InstructionRevision>> {
    const agent_id = await this.queries.idOf(scope, agentRef);
    // NULLs, which drafts have, come first where the order is descending.
    return this.texts.page(this.db, scope, { agent_id }, { version: 'DESC' }, page);
  }

  /**
   * Saves the draft, or begins one.
   *
   * @param input without `base_version` the last save wins
   * @throws DomainError `version_conflict`
   */
  saveDraft(scope: OrgScope, agentRef: string, input: { content: string } & Read): Promise<InstructionView> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      refuseStale(agent, input);
      const current = await this.view(tx, scope, agent);
      return this.writeDraft(tx, scope, agent, current, input.content);
    });
  }

  /**
   * Writes the next draft from the text as it stands: the draft's, or without one the published. Nothing goes live. Whatever is saved
   * at the same time comes before or after it, and a save that was read before it is refused for its `base_version`.
   *
   * @param amend the new text, or null when there is nothing to write
   * @throws DomainError 422 `instruction_too_long`
   */
  async amendDraft(tx: Tx, scope: OrgScope, agentId: string, amend: (content: string) => string | null): Promise<AmendedInstruction> {
    const agent = await this.agents.lock(tx, scope, agentId);
    const current = await this.view(tx, scope, agent);
    const content = amend((current.draft ?? current.active)?.content ?? '');
    if (content === null) return { ...current, amended: false };
    if (content.length > MAX_INSTRUCTION_CHARS)
      throw new DomainError('instruction_too_long', `An instruction may have ${MAX_INSTRUCTION_CHARS} characters.`);
    return { ...(await this.writeDraft(tx, scope, agent, current, content)), amended: true };
  }

  /**
   * Makes the draft the published instruction. It goes live with the next revision that is sealed and deployed.
   *
   * @throws DomainError `version_conflict`, `no_draft`
   */
  publish(scope: OrgScope, agentRef: string, read: Read): Promise<InstructionView> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      refuseStale(agent, read);
      const published = await this.supersede(tx, scope, agent);
      if (!(await this.texts.update(tx, scope, { agent_id: agent.id, state: 'draft' }, published)))
        throw new DomainError('no_draft', 'There is no instruction draft.');
      return this.noted(tx, scope, agent, 'agent.instruction_published', published.version);
    });
  }

  /** Throws the draft away. @throws DomainError 404, `version_conflict` */
  async discard(scope: OrgScope, agentRef: string, read: Read): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      refuseStale(agent, read);
      if (!(await this.texts.delete(tx, scope, { agent_id: agent.id, state: 'draft' }))) throw notFound('Instruction draft');
      await this.noted(tx, scope, agent, 'agent.instruction_draft_discarded');
    });
  }

  /**
   * Publishes a text past the draft, which stays as it is. For whoever may publish and edits the agent as a whole.
   *
   * @param agent whose row is locked, as it is now
   */
  async publishContent(tx: Tx, scope: OrgScope, agent: Agent, content: string): Promise<Agent> {
    const active = await this.texts.find(tx, scope, { agent_id: agent.id, state: 'active' });
    if (content === (active?.content ?? '')) return agent;
    const published = await this.supersede(tx, scope, agent);
    const written = { agent_id: agent.id, content, base_revision_id: active?.id ?? null, created_by: scope.actor.userId };
    await this.texts.insert(tx, scope, { ...published, ...written });
    await this.noted(tx, scope, agent, 'agent.instruction_published', published.version);
    return this.agents.lock(tx, scope, agent.id);
  }

  /**
   * Publishes what an experiment has tried. The draft goes where it still says the same.
   *
   * @param agent whose row is locked, as it is now
   * @returns the number under which it is published; 0 where nothing is
   */
  async publishTried(tx: Tx, scope: OrgScope, agent: Agent, content: string): Promise<number> {
    const published = await this.publishContent(tx, scope, agent, content);
    const told = await this.texts.delete(tx, scope, { agent_id: agent.id, state: 'draft', content });
    if (told) await this.noted(tx, scope, published, 'agent.instruction_draft_discarded');
    return (await this.texts.find(tx, scope, { agent_id: agent.id, state: 'active' }))?.version ?? 0;
  }

  private async view(db: Db, scope: OrgScope, agent: Agent): Promise<InstructionView> {
    const rows = await this.texts.list(db, scope, { agent_id: agent.id, state: In(['active', 'draft']) }, {});
    const [active, draft] = ['active', 'draft'].map((state) => rows.find((r) => r.state === state) ?? null);
    return { agent_id: agent.id, active, draft, base_version: versionOf(agent) };
  }

  private async writeDraft(tx: Tx, scope: OrgScope, agent: Agent, current: InstructionView, content: string): Promise<InstructionView> {
    const draft = { agent_id: agent.id, state: 'draft' } as const;
    const begun = { ...draft, content, base_revision_id: current.active?.id ?? null, created_by: scope.actor.userId };
    if (current.draft) await this.texts.update(tx, scope, draft, { content });
    else await this.texts.insert(tx, scope, begun);
    return this.noted(tx, scope, agent, 'agent.instruction_draft_saved');
  }

  /** Ends what is active. @returns what the text that takes its place has of its own */
  private async supersede(tx: Tx, scope: OrgScope, agent: Agent) {
    await this.texts.update(tx, scope, { agent_id: agent.id, state: 'active' }, { state: 'superseded' });
    return { state: 'active', published_at: now, version: agent.last_instruction_version + 1 } as const;
  }

  /** What every change ends with: the next version, the hash of what sealing would now give, the audit row. */
  private async noted(tx: Tx, scope: OrgScope, agent: Agent, action: string, published?: number): Promise<InstructionView> {
    const edited = await this.agents.update(tx, scope, agent.id, {
      instruction_edit: agent.instruction_edit + 1,
      last_instruction_version: published,
    });
    if (published !== undefined) await this.revisions.refreshDraft(tx, scope, edited);
    await this.audit.record(tx, scope, action, agent.id, published === undefined ? {} : { version: published });
    return this.view(tx, scope, edited);
  }
}

const versionOf = (agent: Agent): string => `v${agent.instruction_edit}`;

/** @param agent whose row is locked @throws DomainError `version_conflict` */
export function refuseStale(agent: Agent, { base_version: read }: Read): void {
  const current_version = versionOf(agent);
  if (isSet(read) && read !== current_version)
    throw new DomainError('version_conflict', 'Someone else has changed this since you read it.', { context: { current_version } });
}
