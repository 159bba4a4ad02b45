import { DateTimeField, EmailField, EnumField, type FieldOptions, StringField, UuidField } from '@aps/platform/http';
import { RoleField, type OrgRoleName } from './roles';

export class MemberResponse {
  @EnumField(['member'], { description: 'Tells members from invitations in the answer to an invite.', example: 'member' }) kind: 'member';
  @UuidField({ description: 'The membership; `member_id` in paths.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11' }) id: string;
  @UuidField({ description: 'The user.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a12' }) user_id: string;
  @StringField({ format: 'email', description: 'Their address.', example: 'ada@example.com' }) email: string;
  @StringField({ description: 'Their name.', example: 'Ada Lovelace' }) name: string;
  @StringField({ nullable: true, description: 'Where their picture is.' }) avatar_url: string | null;
  @RoleField({ description: 'What they are in the organization.', example: 'ADMIN' }) role: OrgRoleName;
  @DateTimeField({ description: 'When they became a member.' }) joined_at: string;

  @DateTimeField({ nullable: true, description: 'When a session or API token of theirs was last used, to some minutes; null when never.' })
  last_active_at: string | null;

  @DateTimeField({ description: 'As `joined_at`.' }) created_at: string;
  @DateTimeField({ description: 'When their role last changed.' }) updated_at: string;
}

export class UpdateMemberRequest {
  @RoleField({ description: 'The new role. Only an owner can give ADMIN or OWNER.', example: 'ADMIN' }) role: OrgRoleName;
}

export class InviteRequest {
  @EmailField({ description: 'Whom to invite. Who has an account becomes a member at once.', example: 'ada@example.com' }) email: string;

  @RoleField({ optional: true, default: 'MEMBER', description: 'As what. Only an owner can invite as ADMIN or OWNER.' })
  role: OrgRoleName = 'MEMBER';
}

export class UpdateInvitationRequest {
  @RoleField({ description: 'The new role. Only an owner can raise it to ADMIN or OWNER.', example: 'MEMBER' }) role: OrgRoleName;
}

export const INVITATION_STATES = ['pending', 'accepted', 'revoked'] as const;
type InvitationState = (typeof INVITATION_STATES)[number];
const StateField = (o: FieldOptions): PropertyDecorator => EnumField(INVITATION_STATES, { name: 'InvitationState', ...o });

export class InvitationResponse {
  @EnumField(['invitation'], { description: 'Tells invitations from members in the answer to an invite.', example: 'invitation' })
  kind: 'invitation';

  @UuidField({ description: 'The invitation.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a13' }) id: string;
  @StringField({ format: 'email', description: 'Who is invited.', example: 'ada@example.com' }) email: string;
  @RoleField({ description: 'As what.', example: 'MEMBER' }) role: OrgRoleName;

  @StateField({ description: 'What became of it. One whose time is over stays pending until it is revoked.', example: 'pending' })
  state: InvitationState;

  @UuidField({ nullable: true, description: 'The user who invited them.' }) invited_by: string | null;
  @DateTimeField({ description: 'Until when the link is good.', example: '2026-12-04T09:30:00.000Z' }) expires_at: string;
  @DateTimeField({ nullable: true, description: 'When it was taken up.' }) accepted_at: string | null;
  @DateTimeField({ nullable: true, description: 'When it was revoked.' }) revoked_at: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was last changed.' }) updated_at: string;
}

export class InvitationPreviewResponse {
  @StringField({ description: 'The organization that invites.', example: 'Acme' }) org_name: string;

  @StringField({ format: 'email', description: 'The address that is invited; only its account can accept.', example: 'ada@example.com' })
  email: string;

  @RoleField({ description: 'As what.', example: 'MEMBER' }) role: OrgRoleName;
  @StateField({ description: 'Always `pending`: a link whose invitation is over answers 410.', example: 'pending' }) state: InvitationState;
  @DateTimeField({ description: 'Until when the link is good.', example: '2026-12-04T09:30:00.000Z' }) expires_at: string;
}
