import type { AuthResponse, CreateTokenResponse, MeResponse, SessionDetails, TokenInfo, UserInfo, VerifyEmailResponse } from '@aps/dtos';
import type { ApiTokenRow } from '../api-tokens.repository';
import type { MembershipSummary } from '../organization-door';
import type { SessionRow } from '../sessions.repository';
import type { SignIn } from '../sessions.service';
import type { UserRow } from '../users.repository';

const toMembership = ({ org_id, org_name, slug, role }: MembershipSummary) => ({ org_id, org_name, slug, role });

export const toUserInfo = (user: UserRow): UserInfo => ({
  id: user.id,
  email: user.email,
  name: user.name,
  avatar_url: user.avatar_url,
  email_verified: user.email_verified_at !== null,
  created_at: user.created_at.toISOString(),
  updated_at: user.updated_at.toISOString(),
});

export const toVerified = ({ user, memberships }: { user: UserRow; memberships: MembershipSummary[] }): VerifyEmailResponse => ({
  user: toUserInfo(user),
  memberships: memberships.map(toMembership),
});

export const toAuth = ({ user, session, memberships }: SignIn): AuthResponse => ({
  user: toUserInfo(user),
  session: { token: session.token, token_type: 'bearer', expires_at: session.expires_at.toISOString() },
  memberships: memberships.map(toMembership),
});

export const toSession = (row: SessionRow, currentId: string): SessionDetails => ({
  id: row.id,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  user_agent: row.user_agent,
  ip: row.ip,
  current: row.id === currentId,
});

export const toMe = ({ user, memberships }: { user: UserRow; memberships: MembershipSummary[] }, isPlatformAdmin: boolean): MeResponse => ({
  user: toUserInfo(user),
  is_platform_admin: isPlatformAdmin,
  memberships: memberships.map(toMembership),
});

export const toTokenInfo = (row: ApiTokenRow): TokenInfo => ({
  id: row.id,
  name: row.name,
  description: row.description,
  scope: row.scope,
  org_id: row.org_id,
  prefix: row.prefix,
  last4: row.last4,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  expires_at: row.expires_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.created_at.toISOString(),
});

export const toCreatedToken = ({ row, token }: { row: ApiTokenRow; token: string }): CreateTokenResponse => ({
  token_info: toTokenInfo(row),
  token,
});
