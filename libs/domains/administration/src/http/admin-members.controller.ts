import { Body, Controller, Delete, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminAddMemberRequest, AdminSetRoleRequest, OrgMemberInfo } from '@aps/dtos';
import { type ActingUser, PlatformAdmin } from '@aps/guards';
import { MembersService } from '@aps/orgs';
import { Idempotent } from '@aps/platform/idempotency';
import { CurrentOperator } from './current-operator';
import { toOrgMember } from './orgs.convert';

@ApiTags('Administration: organizations')
@Controller('/api/admin/orgs/:org_id/members')
export class AdminMembersController {
  constructor(private readonly members: MembersService) {}

  @Post()
  @PlatformAdmin()
  @Idempotent()
  @ApiOperation({
    summary: 'Add a registered user to an organization',
    description: "Nobody is created or invited, and the plan's number of seats does not bind.",
  })
  @ApiCreatedResponse({ type: OrgMemberInfo })
  async add(
    @CurrentOperator() operator: ActingUser,
    @Param('org_id') orgId: string,
    @Body() body: AdminAddMemberRequest,
  ): Promise<OrgMemberInfo> {
    return toOrgMember(await this.members.adminAdd(operator, orgId, body.email, body.role));
  }

  @Patch(':user_id')
  @PlatformAdmin()
  @ApiOperation({ summary: "Change a member's role", description: 'Refused when it would leave no owner.' })
  @ApiOkResponse({ type: OrgMemberInfo })
  async setRole(
    @CurrentOperator() operator: ActingUser,
    @Param('org_id') orgId: string,
    @Param('user_id') userId: string,
    @Body() body: AdminSetRoleRequest,
  ): Promise<OrgMemberInfo> {
    return toOrgMember(await this.members.adminSetRole(operator, orgId, userId, body.role));
  }

  @Delete(':user_id')
  @HttpCode(204)
  @PlatformAdmin()
  @ApiOperation({ summary: 'Remove a member', description: 'Refused for the last owner.' })
  @ApiNoContentResponse()
  async remove(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string, @Param('user_id') userId: string): Promise<void> {
    await this.members.adminRemove(operator, orgId, userId);
  }
}
