import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Database, type Db, type Slice } from '@aps/platform/database';
import { AgentsRepository, type AgentFilter, type AgentView, type NewChatBasis } from './agents.repository';

/** Reads agents. */
@Injectable()
export class AgentsQueries {
  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
  ) {}

  list(scope: OrgScope, filter: AgentFilter, page: Slice): Promise<{ items: AgentView[]; total: number }> {
    return this.agents.list(this.db, scope, filter, page);
  }

  /** @param ref an id or a slug */
  get(scope: OrgScope, ref: string): Promise<AgentView> {
    return this.agents.view(this.db, scope, ref);
  }

  /**
   * @param ref an id or a slug
   * @throws DomainError `not_found`
   */
  idOf(scope: OrgScope, ref: string): Promise<string> {
    return this.agents.idOf(this.db, scope, ref);
  }

  /** What a chat that begins now runs on; null when there is no such agent. One prepared statement: every new chat asks. */
  forNewChat(db: Db, scope: OrgScope, agentId: string): Promise<NewChatBasis | null> {
    return this.agents.forNewChat(db, scope, agentId);
  }
}
