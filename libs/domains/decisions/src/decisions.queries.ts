import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { DomainError, isSlug, isUuid, notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, type Listed, type Slice } from '@aps/platform/database';
import { DecisionsRepository } from './decisions.repository';
import type { DecisionFilter, DecisionGroup, DecisionRow } from './decisions.types';

/** Reads decisions of chats that the caller may open, whether the log is on or off. Never writes. */
@Injectable()
export class DecisionsQueries {
  constructor(
    private readonly db: Database,
    private readonly decisions: DecisionsRepository,
    private readonly agents: AgentsQueries,
  ) {}

  /**
   * Newest first.
   *
   * @param agentRef an id or a slug
   * @param query `agent_id` repeats the agent; it is refused when it means another one, and ignored when it means none
   */
  async list(scope: OrgScope, agentRef: string, query: DecisionFilter & Slice & { agent_id?: string }): Promise<Listed<DecisionRow>> {
    return this.decisions.list(this.db, scope, await this.agentOf(scope, agentRef, query.agent_id), query, query);
  }

  /** Grouped by the basis that they cite, the largest group first. The total counts groups. */
  async groups(scope: OrgScope, agentRef: string, query: DecisionFilter & Slice & { agent_id?: string }): Promise<Listed<DecisionGroup>> {
    return this.decisions.groups(this.db, scope, await this.agentOf(scope, agentRef, query.agent_id), query, query);
  }

  /** Oldest first, archived ones included. @throws DomainError `not_found` for a chat that the caller may not open */
  async ofChat(scope: OrgScope, chatId: string, page: Slice): Promise<Listed<DecisionRow>> {
    if (!(await this.decisions.isChatSeen(this.db, scope, chatId))) throw notFound('Chat');
    return this.decisions.ofChat(this.db, scope, chatId, page);
  }

  private async agentOf(scope: OrgScope, agentRef: string, repeated: string | undefined): Promise<string> {
    const agentId = await this.agents.idOf(scope, agentRef);
    if (repeated === undefined || repeated === agentRef) return agentId;
    const other = await this.meant(scope, repeated);
    if (other === null || other === agentId) return agentId;
    const problem = { loc: ['query', 'agent_id'], msg: 'This is another agent than the one in the path', type: 'value_error' };
    throw new DomainError('validation_error', 'The request is not valid.', { problems: [problem] });
  }

  private async meant(scope: OrgScope, ref: string): Promise<string | null> {
    if (!isUuid(ref) && !isSlug(ref)) return null;
    try {
      return await this.agents.idOf(scope, ref);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'not_found') return null;
      throw error;
    }
  }
}
