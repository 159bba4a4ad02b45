import { statement } from '@aps/platform/database';
import type { OrgRole } from './org-scope';

/** A session that is not used for so long is over. */
export const SESSION_IDLE_DAYS = 7;
/** Last use is written at most this often, to keep reads free of writes. */
const TOUCH_S = 300;

export interface CredentialRow {
  id: string;
  user_id: string;
  email: string;
  name: string;
  deactivated: boolean;
  is_admin: boolean;
  stale: boolean;
  provider?: string | null;
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

// The sessions of a deactivated user have ended, and their bearers are told why.
const session = (by: string) =>
  statement<Omit<CredentialRow, 'scope' | 'org_id'>>(`
  SELECT s.id, s.user_id, s.provider, u.email, u.name, u.deactivated_at IS NOT NULL AS deactivated, p.user_id IS NOT NULL AS is_admin,
         s.last_used_at < now() - interval '${TOUCH_S} seconds' AS stale
  FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN platform_admins p ON p.user_id = u.id
  WHERE ${by} = $1
    AND (u.deactivated_at IS NOT NULL OR (s.revoked_at IS NULL AND s.expires_at > now() AND s.last_used_at > now() - interval '${SESSION_IDLE_DAYS} days'))`);

const apiToken = (by: string) =>
  statement<Required<Omit<CredentialRow, 'provider'>>>(`
  SELECT t.id, t.user_id, u.email, u.name, u.deactivated_at IS NOT NULL AS deactivated, p.user_id IS NOT NULL AS is_admin, t.scope, t.org_id,
         t.last_used_at IS NULL OR t.last_used_at < now() - interval '${TOUCH_S} seconds' AS stale
  FROM api_tokens t JOIN users u ON u.id = t.user_id LEFT JOIN platform_admins p ON p.user_id = u.id
  WHERE ${by} = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`);

export const BY_HASH = { session: session('s.token_hash'), api_token: apiToken('t.token_hash') };
export const BY_ID = { session: session('s.id'), api_token: apiToken('t.id') };

export const MEMBERSHIP = statement<Membership>(`
  SELECT m.role, o.suspended_at IS NOT NULL AS suspended
  FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.org_id = $1 AND m.user_id = $2 AND o.deleted_at IS NULL`);

// Asked at the end of a transaction. What it finds cannot change until that is over, so whoever takes a right away comes before the
// write, which then is refused, or after it. The order is that of a deactivation: the user, then what they hold.
export const STANDING = statement<StandingRow>(`
  WITH u AS (SELECT deactivated_at FROM users WHERE id = $1 FOR SHARE),
       s AS (SELECT FROM sessions WHERE id = $2 AND user_id = $1 AND revoked_at IS NULL AND expires_at > now() FOR SHARE),
       t AS (SELECT FROM api_tokens WHERE id = $2 AND user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) FOR SHARE),
       o AS (SELECT suspended_at FROM organizations WHERE id = $3 AND deleted_at IS NULL FOR SHARE),
       m AS (SELECT role FROM memberships WHERE org_id = $3 AND user_id = $1 FOR SHARE),
       p AS (SELECT FROM platform_admins WHERE user_id = $1 FOR SHARE)
  SELECT u.deactivated_at IS NOT NULL AS deactivated, EXISTS (SELECT FROM s) OR EXISTS (SELECT FROM t) AS alive,
         (SELECT m.role FROM o, m) AS role, (SELECT o.suspended_at IS NOT NULL FROM o) AS suspended, EXISTS (SELECT FROM p) AS is_admin
  FROM u`);

export const TOUCH = {
  session: statement('UPDATE sessions SET last_used_at = now() WHERE id = $1'),
  api_token: statement('UPDATE api_tokens SET last_used_at = now() WHERE id = $1'),
};
