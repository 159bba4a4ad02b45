import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { hashToken, tokenKind } from '@aps/platform/crypto';
import { Database, statement } from '@aps/platform/database';
import { TtlCache } from './ttl-cache';
import type { OrgRole } from './org-scope';
import type { Principal } from './principal';

/** How long an answer is believed: a revocation holds within this time. */
const TTL_MS = 1_000;
const IDLE_DAYS = 7;
/** Last use is written at most this often, to keep reads free of writes. */
const TOUCH_S = 300;

// The sessions of a deactivated user have ended, and their bearers are told why.
const session = (by: string) => statement(`
  SELECT s.id, s.user_id, u.email, u.name, u.deactivated_at IS NOT NULL AS deactivated, p.user_id IS NOT NULL AS is_admin,
         s.last_used_at < now() - interval '${TOUCH_S} seconds' AS stale
  FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN platform_admins p ON p.user_id = u.id
  WHERE ${by} = $1
    AND (u.deactivated_at IS NOT NULL OR (s.revoked_at IS NULL AND s.expires_at > now() AND s.last_used_at > now() - interval '${IDLE_DAYS} days'))`);

const apiToken = (by: string) => statement(`
  SELECT t.id, t.user_id, u.email, u.name, u.deactivated_at IS NOT NULL AS deactivated, p.user_id IS NOT NULL AS is_admin, t.scope, t.org_id,
         t.last_used_at IS NULL OR t.last_used_at < now() - interval '${TOUCH_S} seconds' AS stale
  FROM api_tokens t JOIN users u ON u.id = t.user_id LEFT JOIN platform_admins p ON p.user_id = u.id
  WHERE ${by} = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`);

const BY_HASH = { session: session('s.token_hash'), api_token: apiToken('t.token_hash') };
const BY_ID = { session: session('s.id'), api_token: apiToken('t.id') };

const MEMBERSHIP = statement(`
  SELECT m.role, o.suspended_at IS NOT NULL AS suspended
  FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.org_id = $1 AND m.user_id = $2 AND o.deleted_at IS NULL`);

const TOUCH = {
  session: statement('UPDATE sessions SET last_used_at = now() WHERE id = $1'),
  api_token: statement('UPDATE api_tokens SET last_used_at = now() WHERE id = $1'),
};

/** A session or API token by its id. */
export interface CredentialRef {
  via: 'session' | 'api_token';
  id: string;
}

interface CredentialRow {
  id: string;
  user_id: string;
  email: string;
  name: string;
  deactivated: boolean;
  is_admin: boolean;
  stale: boolean;
  scope?: string;
  org_id?: string | null;
}

export interface Membership {
  role: OrgRole;
  suspended: boolean;
}

/** Looks up who a bearer token belongs to and what they are in an organization, and remembers both for one second. */
@Injectable()
export class PrincipalStore {
  private readonly principals = new TtlCache<string, Principal>(TTL_MS, 20_000);
  private readonly asking = new Map<string, Promise<unknown>>();
  private readonly memberships = new TtlCache<string, Membership | null>(TTL_MS, 50_000);

  constructor(private readonly db: Database) {}

  /**
   * @throws DomainError `not_authenticated` for an unknown, expired or revoked token; `user_deactivated`
   */
  async byToken(token: string): Promise<Principal> {
    return this.principals.get(token) ?? this.shared(token, () => this.findPrincipal(token));
  }

  /**
   * Who a credential belongs to now, for what outlives its request: streams and tickets keep ids, and no tokens.
   *
   * @throws DomainError as {@link byToken}
   */
  async byCredential({ via, id }: CredentialRef): Promise<Principal> {
    const key = `${via}:${id}`;
    return this.principals.get(key) ?? this.shared(key, () => this.find(key, via, BY_ID[via], id));
  }

  private async findPrincipal(token: string): Promise<Principal> {
    // The checksum of an API token is in the token itself: a mistyped one never reaches the database.
    const kind = tokenKind(token);
    if (!kind) throw notAuthenticated();
    const via = kind === 'api' ? 'api_token' : 'session';
    return this.find(token, via, BY_HASH[via], hashToken(token));
  }

  private async find(key: string, via: CredentialRef['via'], question: (typeof BY_ID)['session'], value: unknown): Promise<Principal> {
    const [row] = await this.db.query<CredentialRow>(question, [value]);
    if (!row) throw notAuthenticated();
    if (row.deactivated) throw new DomainError('user_deactivated', 'This user is deactivated.');
    const scopes = row.scope === undefined || row.scope === '*' ? null : new Set(row.scope.split(' '));
    const principal: Principal = {
      userId: row.user_id,
      email: row.email,
      name: row.name,
      isPlatformAdmin: row.is_admin,
      via,
      credentialId: row.id,
      scopes,
      orgPin: row.org_id ?? null,
    };
    if (row.stale) void this.db.execute(TOUCH[via], [row.id]).catch(() => undefined);
    this.principals.set(key, principal);
    return principal;
  }

  /** What a user is in a live organization; null when nothing. */
  async membership(orgId: string, userId: string): Promise<Membership | null> {
    const key = `${orgId}:${userId}`;
    const cached = this.memberships.get(key);
    if (cached !== undefined) return cached;
    return this.shared(key, async () => {
      const [row] = await this.db.query<Membership>(MEMBERSHIP, [orgId, userId]);
      this.memberships.set(key, row ?? null);
      return row ?? null;
    });
  }

  /** Callers who miss together share one question: a thousand messages of one token at once must not ask a thousand times. */
  private shared<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const running = this.asking.get(key) as Promise<T> | undefined;
    if (running) return running;
    const asked = ask().finally(() => this.asking.delete(key));
    this.asking.set(key, asked);
    return asked;
  }
}

export const notAuthenticated = () => new DomainError('not_authenticated', 'Not authenticated');
