import { OmitType, PickType } from '@nestjs/swagger';
import { BooleanField, DateTimeField, DecimalString, EmailField, ListField, PageQuery, StringField, UuidField } from '@aps/platform/http';
import { MemberResponse } from '../orgs/members.dto';
import { OrganizationResponse } from '../orgs/organizations.dto';
import { RoleField, type OrgRoleName } from '../orgs/roles';

/** As `plan_code`: organizations without a subscription. */
export const NO_PLAN = '__none__';

export class AdminOrgListQuery extends PageQuery {
  @StringField({ optional: true, max: 256, description: 'Part of a name or slug, without regard to case.', example: 'acme' }) q?: string;

  @StringField({
    optional: true,
    max: 128,
    description: `Code of the plan they are subscribed to; \`${NO_PLAN}\` for those without a subscription.`,
    example: 'starter',
  })
  plan_code?: string;

  @BooleanField({ optional: true, description: 'Only suspended ones, or only those that are not.' }) suspended?: boolean;
}

export class OrgListItem extends OmitType(OrganizationResponse, ['my_role', 'updated_at']) {
  @StringField({ nullable: true, description: 'State of its subscription; null without one.', example: 'active' })
  subscription_status: string | null;

  @DecimalString({
    nullable: true,
    description: 'What it may still spend: both balances and the overdraft grace; null without a credit account.',
    example: '3150',
  })
  credits_remaining: string | null;

  @DecimalString({ nullable: true, description: 'What is left of granted credits.', example: '3000' }) credits_balance: string | null;
  @DecimalString({ nullable: true, description: 'What is left of purchased credits.', example: '0' }) credits_purchased: string | null;

  @DecimalString({ nullable: true, description: 'How far below zero granted credits may go.', example: '150' })
  credits_overdraft: string | null;
}

export class OrgMemberInfo extends PickType(MemberResponse, ['user_id', 'email', 'name', 'role', 'joined_at']) {
  @BooleanField({ description: 'Whether the user is deactivated on the platform.', example: false }) deactivated: boolean;
}

export class OrgDetailResponse extends OrgListItem {
  @ListField(() => OrgMemberInfo, { description: 'The roster, oldest membership first.' }) members: OrgMemberInfo[];
}

export class AdminAddMemberRequest {
  @EmailField({ description: 'Address of a registered user. Nobody is created or invited.', example: 'ada@example.com' }) email: string;
  @RoleField({ optional: true, default: 'MEMBER', description: 'Their role.' }) role: OrgRoleName = 'MEMBER';
}

export class AdminSetRoleRequest {
  @RoleField({ description: 'The new role.', example: 'OWNER' }) role: OrgRoleName;
}

export class OrgSuspensionResponse {
  @UuidField({ description: 'The organization.' }) org_id: string;
  @BooleanField({ description: 'Whether it is suspended now.', example: true }) suspended: boolean;
  @DateTimeField({ nullable: true, description: 'Since when. Suspending again keeps the first time.' }) suspended_at: string | null;
  @BooleanField({ description: 'False when it was so already.', example: true }) changed: boolean;
}
