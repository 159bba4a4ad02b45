import {
  type AuthResponse,
  type CreateTokenResponse,
  type IdentityProviderInfo,
  type MeResponse,
  SessionDetails,
  TokenInfo,
  UserInfo,
  type VerifyEmailResponse,
} from '@aps/dtos';
import type { ApiToken, Session } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { Provider } from '../oidc';
import type { SignIn } from '../sessions.service';
import type { UserInOrgs, UserRow } from '../users.service';

export const toUserInfo = (user: UserRow): UserInfo => answer(UserInfo, user, { email_verified: user.email_verified_at !== null });

export const toVerified = ({ user, memberships }: UserInOrgs): VerifyEmailResponse => ({ user: toUserInfo(user), memberships });

export const toAuth = ({ session: { token, expires_at }, ...who }: SignIn): AuthResponse => ({
  ...toVerified(who),
  session: { token, token_type: 'bearer', expires_at: expires_at.toISOString() },
});

export const toIdentityProvider = ({ name, label }: Provider): IdentityProviderInfo => ({ name, label: label ?? name });

export const toSession = (row: Session, currentId: string): SessionDetails =>
  answer(SessionDetails, row, { current: row.id === currentId });

export const toMe = (who: UserInOrgs, is_platform_admin: boolean): MeResponse => ({ ...toVerified(who), is_platform_admin });

export const toTokenInfo = (row: ApiToken): TokenInfo => answer(TokenInfo, row, { updated_at: row.created_at.toISOString() });

export const toCreatedToken = ({ row, token }: { row: ApiToken; token: string }): CreateTokenResponse => ({
  token_info: toTokenInfo(row),
  token,
});
