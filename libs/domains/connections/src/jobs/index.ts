import { Injectable, Module } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { Maintenance } from '@aps/platform/maintenance';
import { JobHandler, PutOff } from '@aps/platform/queues';
import { ConnectionsModule } from '../connections.module';
import { ManagedAccounts } from '../managed/managed-accounts';
import { ServerFailed } from '../mcp/tool-server';

/** A provider may be away for days, and nobody else would have its accounts forgotten: it is asked again after so many seconds, for ever. */
const AGAIN_S = 600;
/** It is not asked for the next one either, so that those that wait for its answer leave places to mails. */
const AWAY_MS = 60_000;
const EVERY_S = 3_600;
const BATCH = 100;

@Injectable()
export class AccountsProcessor {
  private awayUntil = 0;

  constructor(
    private readonly accounts: ManagedAccounts,
    maintenance: Maintenance,
  ) {
    const run = () => accounts.leaveDeletedOrgs(BATCH);
    maintenance.register({ name: 'accounts_of_deleted_organizations', everyS: EVERY_S, batch: Infinity, run });
  }

  /** @throws PutOff while the provider does not do it */
  @JobHandler('connection.forget_account')
  async forget({ org_id, connection_id, account_id }: JobPayload<'connection.forget_account'>): Promise<void> {
    if (performance.now() < this.awayUntil) throw new PutOff(AGAIN_S, 'The provider has just failed.');
    await this.accounts.forget(org_id, connection_id, account_id).catch((error: unknown) => {
      if (!(error instanceof ServerFailed)) throw error;
      this.awayUntil = performance.now() + AWAY_MS;
      throw new PutOff(AGAIN_S, error.message);
    });
  }
}

/** For a worker application that has the maintenance. */
@Module({ imports: [ConnectionsModule], providers: [AccountsProcessor] })
export class ConnectionsJobsModule {}
