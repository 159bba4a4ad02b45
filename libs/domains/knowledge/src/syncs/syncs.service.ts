import { Injectable } from '@nestjs/common';
import { ConnectionCalls, ConnectionsQueries, ServerFailed, Unauthorized, type Calling, type ConnectionRow } from '@aps/connections';
import { DomainError, notFound, refuseField } from '@aps/contracts';
import { KnowledgeBase, KnowledgeSync } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, OrgTable } from '@aps/platform/database';
import { SourcesRepository } from '../sources.repository';
import { collectionsOf, type Collection } from './collections.policy';
import { SyncsQueries, type SyncView } from './syncs.queries';
import { SyncsRepository } from './syncs.repository';

/** What a server has for its list while somebody waits for it, milliseconds. */
const LIST_MS = 10_000;

/** A collection of a connection, for a base to have sources of. */
export interface NewSync {
  integration_id: string;
  collection_id: string;
  collection_name: string;
}

/** Keeps bases what collections of connections have. */
@Injectable()
export class KnowledgeSyncs {
  private readonly rows = new OrgTable(KnowledgeSync, 'Synchronisation');
  private readonly bases = new OrgTable(KnowledgeBase, 'Knowledge base');

  constructor(
    private readonly db: Database,
    private readonly syncs: SyncsRepository,
    private readonly queries: SyncsQueries,
    private readonly sources: SourcesRepository,
    private readonly connections: ConnectionsQueries,
    private readonly calls: ConnectionCalls,
    private readonly audit: Audit,
  ) {}

  /**
   * What a connection has for bases to be kept up with, in the order of their ids.
   *
   * @throws DomainError `not_found`; 422 `not_knowledge_capable`, `reconnect_required`; 502 `upstream_unavailable` where its server does not list it
   */
  async collections(scope: OrgScope, connectionId: string): Promise<Collection[]> {
    return this.listed(scope, await this.connections.get(scope, connectionId));
  }

  /**
   * Has a base keep up with a collection, and begins to.
   *
   * @throws DomainError `not_found` of base and connection; 409 `already_synced`; 422 `unknown_reference` for the collection; as {@link collections}
   */
  async create(scope: OrgScope, kbId: string, { integration_id, collection_id, collection_name }: NewSync): Promise<SyncView> {
    await this.bases.get(this.db, scope, kbId);
    const connection = await this.connections.get(scope, integration_id);
    const collections = await this.listed(scope, connection);
    if (!collections.some(({ id }) => id === collection_id))
      throw refuseField('unknown_reference', ['collection_id'], 'The connection has no such collection.');
    const principal_id = connection.scope === 'private' ? scope.userId : null;
    return this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      const what = { kb_id: kbId, connection_id: connection.id, collection_id };
      const made = await this.rows.insertOrNothing(tx, scope, {
        ...what,
        ...{ collection_name, principal_id, status: 'queued', created_by: scope.actor.userId },
      });
      if (!made) throw new DomainError('already_synced', 'The base has this collection already.');
      await this.syncs.dispatch(tx, scope.orgId, made.id);
      await this.audit.record(tx, scope, 'knowledge_sync.created', made.id, what);
      return this.queries.get(scope, kbId, made.id, tx);
    });
  }

  /** Begins to look at the collection now. One that does so already, and one whose connection is not asked, is left as it is. @throws DomainError `not_found` */
  sync(scope: OrgScope, kbId: string, id: string): Promise<SyncView> {
    return this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      await this.queries.get(scope, kbId, id, tx);
      if (await this.syncs.begin(tx, scope, id)) await this.audit.record(tx, scope, 'knowledge_sync.started', id, { kb_id: kbId });
      return this.queries.get(scope, kbId, id, tx);
    });
  }

  /** Ends it, and deletes what came by it. @throws DomainError `not_found` */
  async delete(scope: OrgScope, kbId: string, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      const collection_id = await this.syncs.leave(tx, scope, kbId, id);
      if (collection_id === null) throw notFound('Synchronisation');
      await this.audit.record(tx, scope, 'knowledge_sync.deleted', id, { kb_id: kbId, collection_id });
      // It is deleted for its readers by now: what cannot be done at once, maintenance does.
      tx.afterCommit(() => this.syncs.forget(id));
    });
  }

  private async listed(scope: OrgScope, connection: ConnectionRow): Promise<Collection[]> {
    if (connection.status !== 'active') throw new DomainError('reconnect_required', 'The connection is switched off, or not let in.');
    if (!connection.knowledge_capable)
      throw new DomainError('not_knowledge_capable', 'The connection has nothing that knowledge could be made of.');
    const calling: Calling = { orgId: scope.orgId, connectionId: connection.id, principalId: scope.userId };
    try {
      return collectionsOf(await this.calls.resources(calling, AbortSignal.timeout(LIST_MS)));
    } catch (error) {
      if (error instanceof ServerFailed || error instanceof Unauthorized)
        throw new DomainError('upstream_unavailable', 'The server of the connection does not list what it has.');
      throw error;
    }
  }
}
