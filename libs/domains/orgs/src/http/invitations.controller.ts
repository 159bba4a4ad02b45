import { applyDecorators, Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { InvitationResponse, InviteRequest, MemberResponse, UpdateInvitationRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, type OrgScope } from '@aps/guards';
import { Idempotent } from '@aps/platform/idempotency';
import { InvitationsService } from '../invitations.service';
import { toInvitation, toInvited } from './convert';
import { ApiInvitationPath, ApiOrgPath, ApiRefusal } from './docs';

const oneOf = [{ $ref: getSchemaPath(MemberResponse) }, { $ref: getSchemaPath(InvitationResponse) }];
const mapping = { member: getSchemaPath(MemberResponse), invitation: getSchemaPath(InvitationResponse) };

const ApiInvited = (summary: string) =>
  applyDecorators(
    ApiExtraModels(MemberResponse, InvitationResponse),
    ApiOperation({
      summary,
      description:
        'An address with an account, and proven, becomes a member at once; any other gets a mail with a link that is good for 14 days.',
    }),
    ApiCreatedResponse({
      description: 'A member or an invitation; `kind` tells.',
      schema: { oneOf, discriminator: { propertyName: 'kind', mapping } },
    }),
    ApiRefusal(403, '`insufficient_role`; `entitlement_exceeded` when members and open invitations take all seats of the plan.'),
    ApiRefusal(409, '`already_member`; `invitation_pending` when the address has an open invitation.'),
  );

/** Must be registered before the members' controller, whose `:member_id` would take `invitations` for an id. */
@ApiTags('Invitations')
@ApiOrgPath()
@Controller('api/orgs/:org_id/members')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get('invitations')
  @OrgAdmin('members')
  @ApiOperation({ summary: 'List the pending invitations', description: 'Oldest first.' })
  @ApiOkResponse({ type: InvitationResponse, isArray: true })
  async list(@CurrentOrg() scope: OrgScope): Promise<InvitationResponse[]> {
    return (await this.invitations.pending(scope)).map(toInvitation);
  }

  @Post('invitations')
  @OrgAdmin('members')
  @Idempotent()
  @ApiInvited('Add or invite somebody')
  async invite(@CurrentOrg() scope: OrgScope, @Body() body: InviteRequest): Promise<MemberResponse | InvitationResponse> {
    return toInvited(await this.invitations.invite(scope, body));
  }

  @Post('invite')
  @OrgAdmin('members')
  @Idempotent()
  @ApiInvited('Add or invite somebody (the same as POST …/invitations)')
  async inviteAlias(@CurrentOrg() scope: OrgScope, @Body() body: InviteRequest): Promise<MemberResponse | InvitationResponse> {
    return toInvited(await this.invitations.invite(scope, body));
  }

  @Patch('invitations/:invitation_id')
  @OrgAdmin('members')
  @ApiInvitationPath()
  @ApiOperation({ summary: 'Change the role that an invitation offers', description: 'Only an owner can raise it to ADMIN or OWNER.' })
  @ApiOkResponse({ type: InvitationResponse })
  async setRole(
    @CurrentOrg() scope: OrgScope,
    @Param('invitation_id') invitationId: string,
    @Body() body: UpdateInvitationRequest,
  ): Promise<InvitationResponse> {
    return toInvitation(await this.invitations.setRole(scope, invitationId, body.role));
  }

  @Delete('invitations/:invitation_id')
  @OrgAdmin('members')
  @HttpCode(204)
  @ApiInvitationPath()
  @ApiOperation({ summary: 'Revoke a pending invitation', description: 'Its link is dead for good; inviting again makes a new one.' })
  @ApiNoContentResponse()
  async revoke(@CurrentOrg() scope: OrgScope, @Param('invitation_id') invitationId: string): Promise<void> {
    await this.invitations.revoke(scope, invitationId);
  }
}
