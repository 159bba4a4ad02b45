import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { listTally, type AgentRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { WeightedLru } from '@aps/platform/cache';
import { Database, OrgListing, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import { AgentsQueries } from './agents.queries';
import { deepFreeze, type SealedAgentConfig } from './sealed-config';

/** Text of configurations that one process keeps, in bytes of JSON. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** A revision as it is shown. */
export interface RevisionView extends Omit<AgentRevision, 'config'> {
  config: SealedAgentConfig;
  is_live: boolean;
}

const VIEWS = new OrgListing<RevisionView, { agent_id: string }>({
  key: 'r.id',
  org: 'r.org_id',
  select: 'r.*, r.id = a.live_revision_id AS is_live',
  from: 'agent_revisions r JOIN agents a ON a.id = r.agent_id',
  found: 'agent_revisions r',
  where: { agent_id: 'r.agent_id = $' },
  tally: { from: listTally('agent_revisions'), where: { agent_id: 't.of_id = $' } },
  order: 'r.version DESC',
  what: 'Revision',
});
// By id alone: who holds the id of a revision got it from a row of the same organization.
const CONFIG = statement<{ config: SealedAgentConfig; size: number }>(
  'SELECT config, octet_length(config::text) AS size FROM agent_revisions WHERE id = $1',
);

/** Reads sealed revisions. */
@Injectable()
export class AgentRevisions {
  private readonly configs = new WeightedLru<SealedAgentConfig>(CACHE_BYTES);

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
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
    const [row] = await db.query(CONFIG, [revisionId]);
    if (!row) throw notFound('Revision');
    const config = deepFreeze(row.config);
    this.configs.set(revisionId, config, row.size);
    return config;
  }

  async list(scope: OrgScope, agentRef: string, page: Slice): Promise<Listed<RevisionView>> {
    return VIEWS.page(this.db, scope, { agent_id: await this.agents.idOf(scope, agentRef) }, page);
  }

  async get(scope: OrgScope, agentRef: string, id: string): Promise<RevisionView> {
    return this.of(this.db, scope, await this.agents.idOf(scope, agentRef), id);
  }

  /** @throws DomainError `not_found` when the agent has no such revision */
  of(db: Db, scope: OrgScope, agentId: string, id: string): Promise<RevisionView> {
    return VIEWS.get(db, scope, id, { agent_id: agentId });
  }
}
