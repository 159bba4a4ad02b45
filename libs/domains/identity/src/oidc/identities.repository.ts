import { Injectable } from '@nestjs/common';
import { SignInRequest, UserIdentity } from '@aps/entities';
import { hashToken } from '@aps/platform/crypto';
import { now, statement, Table, type Db, type Tx } from '@aps/platform/database';
import { AWAY_S } from '@aps/platform/oauth';

// A state is good once, with the provider that it was sent to, and in the browser that was sent.
const TAKE = statement(`
  DELETE FROM sign_in_requests WHERE state_hash = $1 AND provider = $2 AND browser_hash = $3 AND expires_at > now()`);
const ANY_IDENTITY = statement('SELECT 1 FROM user_identities LIMIT 1');
/** Removes some that nobody comes back with any more. Values: how many. */
export const PURGE_SIGN_IN_REQUESTS = statement(
  `DELETE FROM sign_in_requests WHERE id IN (SELECT id FROM sign_in_requests WHERE expires_at <= now() LIMIT $1)`,
);

/** Who users are to identity providers, and who is at one right now. */
@Injectable()
export class IdentitiesRepository {
  private readonly identities = new Table(UserIdentity);
  private readonly requests = new Table(SignInRequest);

  /** Keeps what somebody is sent to a provider with. */
  async send(tx: Tx, provider: string, { state, browser }: { state: string; browser: string }): Promise<void> {
    await this.requests.insert(tx, {
      provider,
      state_hash: hashToken(state),
      browser_hash: hashToken(browser),
      expires_at: () => `${now()} + interval '${AWAY_S} seconds'`,
    });
  }

  /** Uses it up. Of several that come back with it, one does. */
  async take(db: Db, provider: string, { state, browser }: { state: string; browser: string }): Promise<boolean> {
    return (await db.execute(TAKE, [hashToken(state), provider, hashToken(browser)])) > 0;
  }

  async ownerOf(db: Db, { issuer, subject }: Pick<UserIdentity, 'issuer' | 'subject'>): Promise<string | null> {
    return (await this.identities.find(db, { issuer, subject }))?.user_id ?? null;
  }

  /** @returns false where it is somebody's already, or the user is another one at the issuer */
  async link(tx: Tx, userId: string, { issuer, subject }: Pick<UserIdentity, 'issuer' | 'subject'>): Promise<boolean> {
    return (await this.identities.insertOrNothing(tx, { user_id: userId, issuer, subject })) !== null;
  }

  async hasAny(db: Db): Promise<boolean> {
    return (await db.query(ANY_IDENTITY, [])).length > 0;
  }
}
