import { Injectable } from '@nestjs/common';
import { DomainError, type Broadcasts } from '@aps/contracts';
import { hashToken, tokenKind } from '@aps/platform/crypto';
import { Database, type Db, type Statement } from '@aps/platform/database';
import { TtlCache } from './ttl-cache';

import type { Principal } from './principal';
import { BY_HASH, BY_ID, MEMBERSHIP, STANDING, TOUCH, type CredentialRow, type Membership } from './principal.sql';
import { SignInRules } from './sign-in-rules';

/** How long an answer is believed: a revocation that nobody was told of holds within this time. */
const TTL_MS = 1_000;

/** A session or API token by its id. */
export interface CredentialRef {
  via: 'session' | 'api_token';
  id: string;
}

/** What of a caller can end while a request is under way. */
export interface Standing {
  isPlatformAdmin: boolean;
  /** In the organization that the request is about; null when they are no member of it, or it is about none. */
  membership: Membership | null;
}

/**
 * Looks up who a bearer token belongs to and what they are in an organization, and remembers both for one second, or until it is told that
 * they are less. What would refuse is not remembered, and not believed of a question that was put before the caller came: who has just
 * been let in is in.
 */
@Injectable()
export class PrincipalStore {
  private readonly principals = new TtlCache<string, Principal>(TTL_MS, 20_000);
  private readonly asking = new Map<string, Promise<unknown>>();
  private readonly memberships = new TtlCache<string, Membership>(TTL_MS, 50_000);
  /** How often it was told: what was asked before is not remembered after. */
  private told = 0;

  constructor(
    private readonly db: Database,
    private readonly signIns: SignInRules,
  ) {}

  /**
   * @param anew leaves what is remembered aside
   * @throws DomainError `not_authenticated` for an unknown, expired or revoked token, and for one of an identity provider that is none any more; `user_deactivated`
   */
  async byToken(token: string, anew = false): Promise<Principal> {
    return (!anew && this.principals.get(token)) || this.shared(token, () => this.findPrincipal(token));
  }

  /**
   * Who a credential belongs to now, for what outlives its request: streams and tickets keep ids, and no tokens.
   *
   * @param anew leaves what is remembered aside
   * @throws DomainError as {@link byToken}
   */
  async byCredential({ via, id }: CredentialRef, anew = false): Promise<Principal> {
    const key = `${via}:${id}`;
    return (!anew && this.principals.get(key)) || this.shared(key, () => this.find(key, via, BY_ID[via], id));
  }

  /** Asks anew about a user, or about all of an organization. */
  drop({ user_id, org_id }: Broadcasts['access.changed']): void {
    this.told++;
    this.principals.drop(({ userId }) => userId === user_id);
    this.memberships.drop((_, key) => key.startsWith(`${org_id}:`) || key.endsWith(`:${user_id}`));
  }

  private async findPrincipal(token: string): Promise<Principal> {
    // The checksum of an API token is in the token itself: a mistyped one never reaches the database.
    const kind = tokenKind(token);
    if (!kind) throw notAuthenticated();
    const via = kind === 'api' ? 'api_token' : 'session';
    return this.find(token, via, BY_HASH[via], hashToken(token));
  }

  private async find(key: string, via: CredentialRef['via'], question: Statement<CredentialRow>, value: unknown): Promise<Principal> {
    const { told } = this;
    const [row] = await this.db.query(question, [value]);
    if (!row) throw notAuthenticated();
    if (row.deactivated) throw userDeactivated();
    const provider = row.provider ?? null;
    if (!this.signIns.trusts(provider)) throw notAuthenticated();
    const scopes = row.scope === undefined || row.scope === '*' ? null : new Set(row.scope.split(' '));
    const principal: Principal = {
      userId: row.user_id,
      email: row.email,
      name: row.name,
      isPlatformAdmin: row.is_admin,
      via,
      credentialId: row.id,
      provider,
      scopes,
      orgPin: row.org_id ?? null,
    };
    if (row.stale) void this.db.execute(TOUCH[via], [row.id]).catch(() => undefined);
    if (told === this.told) this.principals.set(key, principal);
    return principal;
  }

  /**
   * What a user is in a live organization; null when nothing.
   *
   * @param anew leaves what is remembered aside
   */
  async membership(orgId: string, userId: string, anew = false): Promise<Membership | null> {
    const key = `${orgId}:${userId}`;
    const cached = anew ? undefined : this.memberships.get(key);
    if (cached) return cached;
    return this.shared(key, async () => {
      const { told } = this;
      const [row] = await this.db.query(MEMBERSHIP, [orgId, userId]);
      if (row && !row.suspended && told === this.told) this.memberships.set(key, row);
      return row ?? null;
    });
  }

  /**
   * What a caller is now; or in the moment in which a transaction ends, asked inside of it.
   *
   * @throws DomainError as {@link byToken}
   */
  async standing({ userId, credentialId }: Principal, orgId: string | null, tx: Db = this.db): Promise<Standing> {
    const [row] = await tx.query(STANDING, [userId, credentialId, orgId]);
    if (row?.deactivated) throw userDeactivated();
    if (!row?.alive) throw notAuthenticated();
    return { isPlatformAdmin: row.is_admin, membership: row.role && { role: row.role, suspended: row.suspended === true } };
  }

  /** Callers who miss together share one question: a thousand messages of one token at once must not ask a thousand times. */
  private async shared<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const running = this.asking.get(key) as Promise<T> | undefined;
    if (running) {
      const answer = await running.catch(() => null);
      if (answer) return answer;
      // It was put before this caller came. One that somebody has put since is as good as an own one.
      const next = this.asking.get(key) as Promise<T> | undefined;
      if (next) return next;
    }
    const asked = ask().finally(() => this.asking.delete(key));
    this.asking.set(key, asked);
    return asked;
  }
}

export const userDeactivated = () => new DomainError('user_deactivated', 'This user is deactivated.');
export const notAuthenticated = () => new DomainError('not_authenticated', 'Not authenticated');
