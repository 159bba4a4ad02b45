import {
  type AuthResponse,
  type CreateTokenResponse,
  type MeResponse,
  SessionDetails,
  TokenInfo,
  UserInfo,
  type VerifyEmailResponse,
} from '@aps/dtos';
import type { ApiToken, Session } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { MembershipSummary } from '../organization-port';
import type { SignIn } from '../sessions.service';
import type { UserRow } from '../users.service';

const toMembership = ({ org_id, org_name, slug, role }: MembershipSummary) => ({ org_id, org_name, slug, role });

export const toUserInfo = (user: UserRow): UserInfo => answer(UserInfo, user, { email_verified: user.email_verified_at !== null });

export const toVerified = ({ user, memberships }: { user: UserRow; memberships: MembershipSummary[] }): VerifyEmailResponse => ({
  user: toUserInfo(user),
  memberships: memberships.map(toMembership),
});

export const toAuth = ({ user, session, memberships }: SignIn): AuthResponse => ({
  user: toUserInfo(user),
  session: { token: session.token, token_type: 'bearer', expires_at: session.expires_at.toISOString() },
  memberships: memberships.map(toMembership),
});

export const toSession = (row: Session, currentId: string): SessionDetails =>
  answer(SessionDetails, row, { current: row.id === currentId });

export const toMe = ({ user, memberships }: { user: UserRow; memberships: MembershipSummary[] }, isPlatformAdmin: boolean): MeResponse => ({
  user: toUserInfo(user),
  is_platform_admin: isPlatformAdmin,
  memberships: memberships.map(toMembership),
});

export const toTokenInfo = (row: ApiToken): TokenInfo => answer(TokenInfo, row, { updated_at: row.created_at.toISOString() });

export const toCreatedToken = ({ row, token }: { row: ApiToken; token: string }): CreateTokenResponse => ({
  token_info: toTokenInfo(row),
  token,
});
