import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { InvitationResponse, InviteRequest, MemberResponse, UpdateInvitationRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, type OrgScope } from '@aps/guards';
import { oneOf, Operation, toArray, type OperationDeclaration } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { InvitationsService } from '../invitations.service';
import { toInvitation, toInvited } from './orgs.convert';

/** Of the same operation under its two addresses. */
const INVITE = {
  description:
    'An address with an account, and proven, becomes a member at once; any other gets a mail with a link that is good for 14 days, and no more than three of them an hour from all organizations together; an organization mails 100 an hour where the operator allows no other number, revoked ones counted. Members and open invitations take the seats of the plan. Who has not proven their own address invites nobody.',
  answers: oneOf('kind', { member: MemberResponse, invitation: InvitationResponse }),
  refuses: ['email_unproven', 'entitlement_exceeded', 'already_member', 'invitation_pending'],
} satisfies Partial<OperationDeclaration>;

/** Must be registered before the members' controller, whose `:member_id` would take `invitations` for an id. */
@ApiTags('Invitations')
@Controller('api/orgs/:org_id/members')
@OrgAdmin('members')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get('invitations')
  @Operation({ summary: 'List the pending invitations', description: 'Oldest first.', answers: [InvitationResponse] })
  async list(@CurrentOrg() scope: OrgScope) {
    return toArray(await this.invitations.pending(scope), toInvitation);
  }

  @Post('invitations')
  @Idempotent()
  @Operation({ summary: 'Add or invite somebody', ...INVITE })
  async invite(@CurrentOrg() scope: OrgScope, @Body() body: InviteRequest) {
    return toInvited(await this.invitations.invite(scope, body));
  }

  @Post('invite')
  @Idempotent()
  @Operation({ summary: 'Add or invite somebody (the same as POST …/invitations)', ...INVITE })
  async inviteAlias(@CurrentOrg() scope: OrgScope, @Body() body: InviteRequest) {
    return toInvited(await this.invitations.invite(scope, body));
  }

  @Patch('invitations/:invitation_id')
  @Operation({
    summary: 'Change the role that an invitation offers',
    description: 'Only an owner can raise it to ADMIN or OWNER.',
    answers: InvitationResponse,
  })
  async setRole(@CurrentOrg() scope: OrgScope, @Param('invitation_id') invitationId: string, @Body() body: UpdateInvitationRequest) {
    return toInvitation(await this.invitations.setRole(scope, invitationId, body.role));
  }

  @Delete('invitations/:invitation_id')
  @Operation({ summary: 'Revoke a pending invitation', description: 'Its link is dead for good; inviting again makes a new one.' })
  async revoke(@CurrentOrg() scope: OrgScope, @Param('invitation_id') invitationId: string) {
    await this.invitations.revoke(scope, invitationId);
  }
}
