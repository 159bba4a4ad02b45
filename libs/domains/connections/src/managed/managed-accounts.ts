import { Injectable } from '@nestjs/common';
import { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { ConnectionsRepository } from '../connections.repository';
import { AccessTokens } from '../consents/access-tokens';
import { ManagedApps } from './managed-apps';

/** Sees to it that accounts at the provider of managed apps go when no connection has them any more. */
@Injectable()
export class ManagedAccounts {
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

  /** Takes their accounts from connections of organizations that are deleted. @returns of how many */
  async leaveDeletedOrgs(limit: number): Promise<number> {
    const left = await this.connections.ofDeletedOrgs(this.db, limit);
    for (const { org_id, id } of left) {
      const scope = OrgScope.system(org_id, 'its organization is deleted');
      await this.db.transaction(scope, async (tx) => {
        await this.tokens.letGo(tx, await this.connections.lock(tx, scope, id));
        await this.connections.update(tx, scope, id, { consent: null });
      });
    }
    return left.length;
  }
}
