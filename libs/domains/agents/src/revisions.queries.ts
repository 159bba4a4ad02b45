import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, type Db, type Listed, type Slice } from '@aps/platform/database';
import { AgentsQueries } from './agents.queries';
import { WeightedLru } from './lru';
import { RevisionsRepository, type RevisionView } from './revisions.repository';
import { deepFreeze, type SealedAgentConfig } from './sealed-config';

/** Text of configurations that one process keeps, in bytes of JSON. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** Reads sealed revisions. */
@Injectable()
export class AgentRevisions {
  private readonly configs = new WeightedLru<SealedAgentConfig>(CACHE_BYTES);

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly revisions: RevisionsRepository,
  ) {}

  /**
   * What a revision seals. Remembered, since a revision never changes; frozen, since all who ask get the same object.
   *
   * @param db the open transaction, if any
   * @throws DomainError `not_found`
   */
  async config(revisionId: string, db: Db = this.db): Promise<SealedAgentConfig> {
    const known = this.configs.get(revisionId);
    if (known) return known;
    const row = await this.revisions.config(db, revisionId);
    if (!row) throw notFound('Revision');
    const config = deepFreeze(row.config);
    this.configs.set(revisionId, config, row.size);
    return config;
  }

  async list(scope: OrgScope, agentRef: string, page: Slice): Promise<Listed<RevisionView>> {
    return this.revisions.list(this.db, scope, await this.agents.idOf(scope, agentRef), page);
  }

  async get(scope: OrgScope, agentRef: string, id: string): Promise<RevisionView> {
    return this.revisions.get(this.db, scope, await this.agents.idOf(scope, agentRef), id);
  }
}
