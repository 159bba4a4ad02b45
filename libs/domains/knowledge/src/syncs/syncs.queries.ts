import { Injectable } from '@nestjs/common';
import type { NamedConnection } from '@aps/connections';
import { KnowledgeBase, type KnowledgeSync } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgListing, OrgTable, type Db, type Listed, type Slice } from '@aps/platform/database';
import { OF_CONNECTIONS, pausedBy } from './syncs.sql';

export type SyncState = 'PENDING' | 'SYNCING' | 'OK' | 'FAILED' | 'PAUSED';

/** A synchronisation as it is shown: one whose connection is not asked at the moment is paused, whatever became of its newest run. */
export interface SyncView extends KnowledgeSync {
  state: SyncState;
  problem: string | null;
}

const SYNCS = new OrgListing<SyncView, { kb_id: string }>({
  key: 's.id',
  org: 's.org_id',
  select: `s.*, CASE WHEN p.reason IS NOT NULL THEN 'PAUSED' WHEN s.status = 'running' THEN 'SYNCING' WHEN s.status = 'ok' THEN 'OK' WHEN s.status = 'failed' THEN 'FAILED' ELSE 'PENDING' END AS state,
    coalesce(p.reason, s.error->>'code') AS problem`,
  from: `knowledge_syncs s JOIN connections c ON c.id = s.connection_id CROSS JOIN LATERAL (SELECT ${pausedBy('c', 's')} AS reason) p`,
  found: 'knowledge_syncs s',
  always: 's.deleted_at IS NULL',
  where: { kb_id: 's.kb_id = $' },
  order: 's.created_at DESC, s.id DESC',
  what: 'Synchronisation',
});

/** Reads synchronisations. Never writes. */
@Injectable()
export class SyncsQueries {
  private readonly bases = new OrgTable(KnowledgeBase, 'Knowledge base');

  constructor(private readonly db: Database) {}

  /** Of a base, newest first. @throws DomainError `not_found` */
  async list(scope: OrgScope, kbId: string, page: Slice): Promise<Listed<SyncView>> {
    await this.bases.get(this.db, scope, kbId);
    return SYNCS.page(this.db, scope, { kb_id: kbId }, page);
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, kbId: string, id: string, db: Db = this.db): Promise<SyncView> {
    await this.bases.get(db, scope, kbId);
    return SYNCS.get(db, scope, id, { kb_id: kbId });
  }

  /** By id of the connection, those that go by it. */
  async ofConnections(
    db: Db,
    scope: OrgScope,
    connections: readonly NamedConnection[],
  ): Promise<Map<string, { sync_config_ids: string[] }>> {
    const found = new Map<string, { sync_config_ids: string[] }>();
    const ids = connections.map(({ id }) => id);
    for (const { id, connection_id } of await db.query(OF_CONNECTIONS, [scope.orgId, ids])) {
      const known = found.get(connection_id);
      if (known) known.sync_config_ids.push(id);
      else found.set(connection_id, { sync_config_ids: [id] });
    }
    return found;
  }
}
