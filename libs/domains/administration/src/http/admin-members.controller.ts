import { Body, Controller, Delete, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminAddMemberRequest, AdminSetRoleRequest, OrgMemberInfo } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { MembersService } from '@aps/orgs';
import { Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { toOrgMember } from './administration.convert';

@ApiTags('Administration: organizations')
@Controller('/api/admin/orgs/:org_id/members')
@PlatformAdmin()
export class AdminMembersController {
  constructor(private readonly members: MembersService) {}

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Add a registered user to an organization',
    description: "Nobody is created or invited, and the plan's number of seats does not bind.",
    answers: OrgMemberInfo,
    refuses: ['user_not_found', 'already_member'],
  })
  async add(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string, @Body() body: AdminAddMemberRequest) {
    return toOrgMember(await this.members.adminAdd(operator, orgId, body.email, body.role));
  }

  @Patch(':user_id')
  @Operation({
    summary: "Change a member's role",
    description: 'Refused when it would leave no owner.',
    answers: OrgMemberInfo,
    refuses: ['last_owner'],
  })
  async setRole(
    @CurrentOperator() operator: ActingUser,
    @Param('org_id') orgId: string,
    @Param('user_id') userId: string,
    @Body() body: AdminSetRoleRequest,
  ) {
    return toOrgMember(await this.members.adminSetRole(operator, orgId, userId, body.role));
  }

  @Delete(':user_id')
  @Operation({ summary: 'Remove a member', description: 'Refused for the last owner.', refuses: ['last_owner'] })
  async remove(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string, @Param('user_id') userId: string) {
    await this.members.adminRemove(operator, orgId, userId);
  }
}
