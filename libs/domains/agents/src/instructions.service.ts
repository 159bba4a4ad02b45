import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { Agent, InstructionRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { instructionTooLong, noDraft, versionConflict } from './agents.errors';
import { AgentsQueries } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { Audit } from '@aps/platform/audit';
import { InstructionsRepository } from './instructions.repository';
import { RevisionsService } from './revisions.service';

/** Characters of an instruction. */
const MAX_INSTRUCTION = 100_000;

/** An agent's instruction: what is published, and what is being written. */
export interface InstructionView {
  agent_id: string;
  active: InstructionRevision | null;
  draft: InstructionRevision | null;
  /** Changes with every change of either. */
  base_version: string;
}

const versionOf = (agent: Agent): string => `v${agent.instruction_edit}`;

/**
 * Writes instructions. Every change is made under the agent's row lock and raises its `instruction_edit`, so two savers that read the
 * same version can never both win, and a version is never met again.
 */
@Injectable()
export class InstructionsService {
  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
    private readonly queries: AgentsQueries,
    private readonly instructions: InstructionsRepository,
    private readonly revisions: RevisionsService,
    private readonly audit: Audit,
  ) {}

  async get(scope: OrgScope, agentRef: string): Promise<InstructionView> {
    const agent = await this.queries.get(scope, agentRef);
    return { agent_id: agent.id, ...(await this.instructions.current(this.db, scope, agent.id)), base_version: versionOf(agent) };
  }

  async list(scope: OrgScope, agentRef: string, page: Slice): Promise<Listed<InstructionRevision>> {
    return this.instructions.list(this.db, scope, await this.queries.idOf(scope, agentRef), page);
  }

  /**
   * Saves the draft, or begins one.
   *
   * @param input.base_version what the author had read; without it the last save wins
   * @throws DomainError `version_conflict`
   */
  saveDraft(scope: OrgScope, agentRef: string, input: { content: string; base_version?: string | null }): Promise<InstructionView> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      const given = input.base_version ?? null;
      if (given !== null && given !== versionOf(agent)) throw versionConflict(versionOf(agent));
      const { active } = await this.instructions.current(tx, scope, agent.id);
      await this.instructions.writeDraft(tx, scope, agent.id, input.content, active?.id ?? null);
      return this.noted(tx, scope, agent, 'agent.instruction_draft_saved');
    });
  }

  /**
   * Writes the next draft from the text as it stands: the draft's, or without one the published. Nothing goes live. Whatever is saved
   * at the same time comes before or after it, and a save that was read before it is refused for its `base_version`.
   *
   * @param amend the new text, or null when there is nothing to write
   * @throws DomainError 422 `instruction_too_long`
   */
  async amendDraft(
    tx: Tx,
    scope: OrgScope,
    agentId: string,
    amend: (content: string) => string | null,
  ): Promise<InstructionView & { amended: boolean }> {
    const agent = await this.agents.lock(tx, scope, agentId);
    const current = await this.instructions.current(tx, scope, agent.id);
    const content = amend(current.draft?.content ?? current.active?.content ?? '');
    if (content === null) return { agent_id: agent.id, ...current, base_version: versionOf(agent), amended: false };
    if (content.length > MAX_INSTRUCTION) throw instructionTooLong(MAX_INSTRUCTION);
    await this.instructions.writeDraft(tx, scope, agent.id, content, current.active?.id ?? null);
    return { ...(await this.noted(tx, scope, agent, 'agent.instruction_draft_saved')), amended: true };
  }

  /** Makes the draft the published instruction. It goes live with the next revision that is sealed and deployed. */
  publish(scope: OrgScope, agentRef: string): Promise<InstructionView> {
    return this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      const version = agent.last_instruction_version + 1;
      if (!(await this.instructions.publishDraft(tx, scope, agent.id, version))) throw noDraft();
      return this.noted(tx, scope, agent, 'agent.instruction_published', version);
    });
  }

  /** Throws the draft away. */
  async discard(scope: OrgScope, agentRef: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const agent = await this.agents.lock(tx, scope, agentRef);
      if (!(await this.instructions.deleteDraft(tx, scope, agent.id))) throw notFound('Instruction draft');
      await this.noted(tx, scope, agent, 'agent.instruction_draft_discarded');
    });
  }

  /**
   * Publishes a text past the draft, which stays as it is. For whoever may publish and edits the agent as a whole.
   *
   * @param agent whose row is locked, as it is now
   */
  async publishContent(tx: Tx, scope: OrgScope, agent: Agent, content: string): Promise<Agent> {
    const { active } = await this.instructions.current(tx, scope, agent.id);
    if (content === (active?.content ?? '')) return agent;
    const version = agent.last_instruction_version + 1;
    await this.instructions.insertActive(tx, scope, agent.id, version, content, active?.id ?? null);
    await this.noted(tx, scope, agent, 'agent.instruction_published', version);
    return this.agents.lock(tx, scope, agent.id);
  }

  /** What every change ends with: the next version, the hash of what sealing would now give, the audit row. */
  private async noted(tx: Tx, scope: OrgScope, agent: Agent, action: string, published?: number): Promise<InstructionView> {
    const edited = await this.agents.update(tx, scope, agent.id, {
      instruction_edit: agent.instruction_edit + 1,
      ...(published !== undefined && { last_instruction_version: published }),
    });
    if (published !== undefined) await this.revisions.refreshDraft(tx, scope, edited);
    await this.audit.record(tx, scope, action, { kind: 'agent', id: agent.id }, published === undefined ? {} : { version: published });
    return { agent_id: agent.id, ...(await this.instructions.current(tx, scope, agent.id)), base_version: versionOf(edited) };
  }
}
