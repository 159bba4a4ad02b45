import { MAX_ORG_NAME } from '@aps/contracts';
import {
  BooleanField,
  DateTimeField,
  EmailField,
  EnumField,
  ListField,
  NestedField,
  StringField,
  UrlField,
  UuidField,
} from '@aps/platform/http';
import { RoleField, type OrgRoleName } from '../orgs/roles';
import { BlankableNameField, NameField } from './names';

/** Long enough for any pass phrase; the bound only keeps hashing cheap. */
const PASSWORD = { max: 512, format: 'password', example: 'correct horse battery staple' };
/** Shorter ones are not accepted any more. */
const NEW_PASSWORD = { ...PASSWORD, min: 12 };

export class SignupRequest {
  @EmailField({ description: 'The address to sign in with; compared without regard to case.', example: 'ada@example.com' }) email: string;

  @StringField({ ...NEW_PASSWORD, description: 'The password.' }) password: string;

  @BlankableNameField({ description: 'Name of the person. Omitted: what stands before the @.', example: 'Ada Lovelace' }) name?: string;

  @StringField({ optional: true, max: 256, description: 'Secret of the invitation link that led here.' }) invitation_token?: string;

  @BlankableNameField({
    max: MAX_ORG_NAME,
    description: 'Name of the organization that is made when no invitation waits.',
    example: 'Analytical Engines',
  })
  org_name?: string;
}

export class LoginRequest {
  @EmailField({ description: 'The address.', example: 'ada@example.com' }) email: string;
  @StringField({ ...PASSWORD, description: 'The password.' }) password: string;
}

export class UserInfo {
  @UuidField({ description: 'The user.' }) id: string;
  @StringField({ format: 'email', description: 'Their address.', example: 'ada@example.com' }) email: string;
  @StringField({ description: 'Their name.', example: 'Ada Lovelace' }) name: string;

  @StringField({ nullable: true, format: 'uri', description: 'Their picture.', example: 'https://example.com/ada.png' })
  avatar_url: string | null;

  @BooleanField({
    description:
      'Whether a mailed link or an identity provider has proven that the address is theirs. Until then no invitation to it is redeemed.',
    example: true,
  })
  email_verified: boolean;

  @DateTimeField({ description: 'When they signed up.' }) created_at: string;
  @DateTimeField({ description: 'When the profile was changed last.' }) updated_at: string;
}

export class SessionInfo {
  @StringField({
    credential: true,
    description: 'Send it as `Authorization: Bearer <token>`. Shown this once.',
    example: 'aps_3q2-7wEjRWeJq83vASNFZ4mrze8BI0Vniavz7wEjRWc',
  })
  token: string;

  @EnumField(['bearer'], { description: 'How to send it.', example: 'bearer' }) token_type: 'bearer';

  @DateTimeField({ description: 'When it ends in any case; unused for 7 days it ends earlier.', example: '2026-12-20T09:30:00.000Z' })
  expires_at: string;
}

export class SessionDetails {
  @UuidField({ description: 'The session.' }) id: string;
  @DateTimeField({ description: 'When somebody signed in.' }) created_at: string;
  @DateTimeField({ description: 'Last use, to within five minutes.' }) last_used_at: string;

  @DateTimeField({ description: 'When it ends in any case; unused for 7 days it ends earlier.', example: '2026-12-20T09:30:00.000Z' })
  expires_at: string;

  @StringField({
    nullable: true,
    description: 'What the client calls itself: printable ASCII, the first 256 characters.',
    example: 'Mozilla/5.0 (X11; Linux x86_64)',
  })
  user_agent: string | null;

  @StringField({ nullable: true, description: 'Address that the sign-in came from.', example: '203.0.113.9' }) ip: string | null;
  @StringField({
    nullable: true,
    description: 'Name of the identity provider that it began at; null: it began with a password.',
    example: 'corp',
  })
  provider: string | null;

  @BooleanField({ description: 'Whether it is the session that asks.', example: true }) current: boolean;
}

export class IdentityProviderInfo {
  @StringField({ description: 'What it is called in paths.', example: 'corp' }) name: string;
  @StringField({ description: 'What people know it by.', example: 'Corporate account' }) label: string;
}

export class ProviderSessionRequest {
  @StringField({ min: 1, max: 4_096, description: 'What the provider has sent back.' }) code: string;
  @StringField({ min: 1, max: 256, description: 'What it was sent with.' }) state: string;
  @StringField({ optional: true, max: 2_048, description: 'Which provider it is, where it says so.' }) iss?: string;
}

export class MembershipInfo {
  @UuidField({ description: 'The organization.' }) org_id: string;
  @StringField({ description: 'Its name.', example: 'Analytical Engines' }) org_name: string;
  @StringField({ description: 'Its slug.', example: 'analytical-engines' }) slug: string;
  @RoleField({ description: 'What the user is in it.', example: 'OWNER' }) role: OrgRoleName;
}

export class AuthResponse {
  @NestedField(() => UserInfo, { description: 'Who signed in.' }) user: UserInfo;
  @NestedField(() => SessionInfo, { description: 'The session.' }) session: SessionInfo;
  @ListField(() => MembershipInfo, { description: 'Where the user is a member.' }) memberships: MembershipInfo[];
}

export class MeResponse {
  @NestedField(() => UserInfo, { description: 'The caller.' }) user: UserInfo;
  @BooleanField({ description: 'Whether the caller operates the platform.', example: false }) is_platform_admin: boolean;

  @ListField(() => MembershipInfo, { description: 'Where the caller is a member. With an API token pinned to an organization: that one.' })
  memberships: MembershipInfo[];
}

export class UpdateMeRequest {
  @NameField({ optional: true, description: 'New name.', example: 'Ada King' }) name?: string;

  @UrlField({ optional: true, nullable: true, description: 'New picture; null removes it.', example: 'https://example.com/ada.png' })
  avatar_url?: string | null;
}

export class ForgotPasswordRequest {
  @EmailField({ description: 'The address to mail a link to.', example: 'ada@example.com' }) email: string;
}

export class ResetPasswordRequest {
  @StringField({ min: 1, max: 256, description: 'Secret of the mailed link.' }) token: string;
  @StringField({ ...NEW_PASSWORD, description: 'The new password.' }) password: string;

  @BooleanField({
    optional: true,
    default: false,
    description: 'Revoke all API tokens, too; so is done in any case where the address was not proven yet.',
  })
  revoke_tokens?: boolean;
}

export class ChangePasswordRequest {
  @StringField({ ...PASSWORD, description: 'The password that is to be replaced.' }) current_password: string;
  @StringField({ ...NEW_PASSWORD, description: 'The new password.', example: 'staple battery horse correct' }) new_password: string;
  @BooleanField({ optional: true, default: false, description: 'Revoke all API tokens, too.' }) revoke_tokens?: boolean;
}

export class VerifyEmailRequest {
  @StringField({ min: 1, max: 256, description: 'Secret of the mailed link.' }) token: string;
}

export class VerifyEmailResponse {
  @NestedField(() => UserInfo, { description: 'Whose address is proven now.' }) user: UserInfo;

  @ListField(() => MembershipInfo, { description: 'Where the user is a member, by the invitations that waited, too.' })
  memberships: MembershipInfo[];
}

export class ResendVerificationRequest {
  @EmailField({
    optional: true,
    description: "The address to mail a link to. Omitted: the caller's own, with a bearer token.",
    example: 'ada@example.com',
  })
  email?: string;
}

/** Says that a request came in, and nothing about what it will lead to. */
export class ReceivedResponse {
  @EnumField(['received'], { description: 'Always the same.', example: 'received' }) status: 'received';
}
