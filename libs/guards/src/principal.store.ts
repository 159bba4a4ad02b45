import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { hashToken, tokenKind } from '@aps/platform/crypto';
import { Database, statement, type Db } from '@aps/platform/database';
import { TtlCache } from './ttl-cache';
import type { OrgRole } from './org-scope';
import type { Principal } from './principal';

/** How long an answer is believed: a revocation holds within this time. */
const TTL_MS = 1_000;
/** A session that is not used for so long is over. */
export const SESSION_IDLE_DAYS = 7;
/** Last use is written at most this often, to keep reads free of writes. */
const TOUCH_S = 300;

// The sessions of a deactivated user have ended, and their bearers are told why.
const session = (by: string) =>
  statement(`
  SELECT s.id, s.user_id, u.email, u.name, u.deactivated_at IS NOT NULL AS deactivated, p.user_id IS NOT NULL AS is_admin,
         s.last_used_at < now() - interval '${TOUCH_S} seconds' AS stale
  FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN platform_admins p ON p.user_id = u.id
  WHERE ${by} = $1
    AND (u.deactivated_at IS NOT NULL OR (s.revoked_at IS NULL AND s.expires_at > now() AND s.last_used_at > now() - interval '${SESSION_IDLE_DAYS} days'))`);

const apiToken = (by: string) =>
  statement(`
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

// Asked at the end of a transaction. What it finds cannot change until that is over, so whoever takes a right away comes before the
// write, which then is refused, or after it. The order is that of a deactivation: the user, then what they hold.
const STANDING = statement(`
  WITH u AS (SELECT deactivated_at FROM users WHERE id = $1 FOR SHARE),
       s AS (SELECT FROM sessions WHERE id = $2 AND user_id = $1 AND revoked_at IS NULL AND expires_at > now() FOR SHARE),
       t AS (SELECT FROM api_tokens WHERE id = $2 AND user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) FOR SHARE),
       o AS (SELECT suspended_at FROM organizations WHERE id = $3 AND deleted_at IS NULL FOR SHARE),
       m AS (SELECT role FROM memberships WHERE org_id = $3 AND user_id = $1 FOR SHARE),
       p AS (SELECT FROM platform_admins WHERE user_id = $1 FOR SHARE)
  SELECT u.deactivated_at IS NOT NULL AS deactivated, EXISTS (SELECT FROM s) OR EXISTS (SELECT FROM t) AS alive,
         (SELECT m.role FROM o, m) AS role, (SELECT o.suspended_at IS NOT NULL FROM o) AS suspended, EXISTS (SELECT FROM p) AS is_admin
  FROM u`);

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

interface StandingRow {
  deactivated: boolean;
  alive: boolean;
  role: OrgRole | null;
  suspended: boolean | null;
  is_admin: boolean;
}

export interface Membership {
  role: OrgRole;
  suspended: boolean;
}

/** What of a caller can end while a request is under way. */
export interface Standing {
  isPlatformAdmin: boolean;
  /** In the organization that the request is about; null when they are no member of it, or it is about none. */
  membership: Membership | null;
}

/**
 * Looks up who a bearer token belongs to and what they are in an organization, and remembers both for one second. What would refuse is
 * not remembered, and not believed of a question that was put before the caller came: who has just been let in is in.
 */
@Injectable()
export class PrincipalStore {
  private readonly principals = new TtlCache<string, Principal>(TTL_MS, 20_000);
  private readonly asking = new Map<string, Promise<unknown>>();
  private readonly memberships = new TtlCache<string, Membership>(TTL_MS, 50_000);

  constructor(private readonly db: Database) {}

  /**
   * @param anew leaves what is remembered aside
   * @throws DomainError `not_authenticated` for an unknown, expired or revoked token; `user_deactivated`
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
    if (row.deactivated) throw userDeactivated();
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
      const [row] = await this.db.query<Membership>(MEMBERSHIP, [orgId, userId]);
      if (row && !row.suspended) this.memberships.set(key, row);
      return row ?? null;
    });
  }

  /**
   * What a caller is in the moment in which a transaction ends, asked inside of it.
   *
   * @throws DomainError as {@link byToken}
   */
  async standing(tx: Db, { userId, credentialId }: Principal, orgId: string | null): Promise<Standing> {
    const [row] = await tx.query<StandingRow>(STANDING, [userId, credentialId, orgId]);
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

const userDeactivated = () => new DomainError('user_deactivated', 'This user is deactivated.');
export const notAuthenticated = () => new DomainError('not_authenticated', 'Not authenticated');
