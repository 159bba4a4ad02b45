import { Injectable, Logger } from '@nestjs/common';
import { NIL_UUID, type Connection } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { ConnectionsRepository } from '../connections.repository';
import { AccessTokens } from '../consents/access-tokens';
import { ServerFailed } from '../mcp/tool-server';
import { ManagedApps } from './managed-apps';

/** Sees to it that accounts at the provider of managed apps go when no connection has them any more. */
@Injectable()
export class ManagedAccounts {
  private readonly logger = new Logger('ManagedAccounts');

  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly tokens: AccessTokens,
    private readonly managed: ManagedApps,
  ) {}

  /** Has the provider forget an account, unless the connection has it. Doing it twice does no harm. @throws ServerFailed to be asked again */
  async forget(orgId: string, connectionId: string, accountId: string): Promise<void> {
    const connection = await this.connections.find(this.db, OrgScope.system(orgId, 'an account of it may be over'), connectionId);
    const held = connection && (await this.tokens.heldBy(connection));
    if (held?.id !== accountId) await this.managed.forget(accountId);
  }

  /**
   * Takes their accounts from all connections of organizations that are deleted, but for those that cannot be read now.
   *
   * @param atOnce how many are looked for at a time
   * @returns of how many
   */
  async leaveDeletedOrgs(atOnce: number): Promise<number> {
    let left = 0;
    let found = await this.connections.ofDeletedOrgs(this.db, atOnce, NIL_UUID);
    for (; found.length; found = await this.connections.ofDeletedOrgs(this.db, atOnce, found.at(-1)!.id)) left += await this.leave(found);
    return left;
  }

  private async leave(found: readonly Pick<Connection, 'org_id' | 'id'>[]): Promise<number> {
    let left = 0;
    for (const { org_id, id } of found) {
      const scope = OrgScope.system(org_id, 'its organization is deleted');
      const leave = this.db.transaction(scope, async (tx) => {
        const connection = await this.connections.lock(tx, scope, id);
        const held = await this.tokens.heldBy(connection, tx);
        if (held) await this.tokens.forget(tx, connection, held);
        await this.connections.update(tx, scope, id, { consent: null });
        left++;
      });
      await leave.catch((error: unknown) => {
        if (!(error instanceof ServerFailed)) throw error;
        this.logger.warn({ msg: 'The account of a connection cannot be read', connection_id: id, error: error.message });
      });
    }
    return left;
  }
}
