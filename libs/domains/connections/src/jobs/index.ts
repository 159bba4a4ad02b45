import { Injectable, Module } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { Maintenance } from '@aps/platform/maintenance';
import { OAuthFailed } from '@aps/platform/oauth';
import { JobHandler, PutOff } from '@aps/platform/queues';
import { ConnectionsModule } from '../connections.module';
import { AccessTokens } from '../consents/access-tokens';
import { ManagedAccounts } from '../managed/managed-accounts';
import { ServerFailed } from '../mcp/tool-server';

/** A provider may be away for days, and nobody else would have its accounts forgotten: it is asked again after so many seconds, for ever. */
const AGAIN_S = 600;
/** A server that is away when its tokens are to be revoked is asked again after so many seconds. */
const REVOKE_AGAIN_S = 600;
/** Revocations at a time: servers that do not answer must not take the places of mails. The others are tried again after {@link REVOKE_SOON_S}. */
const REVOKES_AT_ONCE = 2;
const REVOKE_SOON_S = 60;
/** A provider that has just failed is asked about no other account for so long: jobs that wait for its answer take the places of mails. */
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

/** Has what somebody has consented to revoked once its connection is deleted. */
@Injectable()
export class RevocationsProcessor {
  private underWay = 0;

  constructor(private readonly tokens: AccessTokens) {}

  /** @throws PutOff while the server is away, or others are asked */
  @JobHandler('connection.revoke')
  async revoke({ org_id, connection_id }: JobPayload<'connection.revoke'>): Promise<void> {
    if (this.underWay >= REVOKES_AT_ONCE) throw new PutOff(REVOKE_SOON_S * Math.random(), 'Others are being revoked.');
    this.underWay++;
    try {
      await this.tokens.revoke(org_id, connection_id);
    } catch (error) {
      throw error instanceof OAuthFailed ? new PutOff(REVOKE_AGAIN_S, error.message) : error;
    } finally {
      this.underWay--;
    }
  }
}

/** For a worker application that has the maintenance. */
@Module({ imports: [ConnectionsModule], providers: [AccountsProcessor, RevocationsProcessor] })
export class ConnectionsJobsModule {}
