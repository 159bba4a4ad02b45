import { Injectable, Module } from '@nestjs/common';
import { Departures, DeparturesModule, type Departure } from '@aps/identity';
import { Audit } from '@aps/platform/audit';
import type { Tx } from '@aps/platform/database';
import { ConnectionsRepository } from './connections.repository';

/**
 * Takes connections from those who are no longer there. What was the organization's goes on; what was theirs alone is switched off, and waits
 * for an administrator to give it to somebody or to delete it.
 */
@Injectable()
export class OwnersWhoLeft {
  constructor(
    private readonly connections: ConnectionsRepository,
    private readonly audit: Audit,
    departures: Departures,
  ) {
    departures.listen((tx, departure) => this.leave(tx, departure));
  }

  private async leave(tx: Tx, { userId, orgId, author }: Departure): Promise<void> {
    for (const { id, org_id, slug, scope } of await this.connections.leave(tx, userId, orgId)) {
      const facts = { slug, owner: userId, ...(scope === 'private' && { status: 'disabled' }) };
      await this.audit.record(tx, { orgId: org_id, actor: author }, 'connection.owner_left', id, facts);
    }
  }
}

/** For every application in which somebody's membership can end. */
@Module({ imports: [DeparturesModule], providers: [ConnectionsRepository, OwnersWhoLeft] })
export class ConnectionOwnersModule {}
