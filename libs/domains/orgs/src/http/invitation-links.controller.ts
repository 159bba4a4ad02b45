import { Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { InvitationPreviewResponse, OrganizationResponse } from '@aps/dtos';
import { type AuthenticatedRequest, Public, SignedIn } from '@aps/guards';
import { InvitationsService } from '../invitations.service';
import { actingPerson } from './actor';
import { toOrganization, toPreview } from './convert';
import { ApiRefusal, ApiTokenPath } from './docs';

/** What the link of an invitation mail needs. The token in the path is the credential; access logs carry the route's template only. */
@ApiTags('Invitations')
@ApiTokenPath()
@Controller('api/invitations')
export class InvitationLinksController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get(':token')
  @Public({ params: { token: 'token' } })
  @ApiOperation({ summary: 'Show the invitation behind a link' })
  @ApiOkResponse({ type: InvitationPreviewResponse })
  @ApiRefusal(410, '`invitation_gone`: it was accepted or revoked, or is too old.')
  async preview(@Param('token') token: string): Promise<InvitationPreviewResponse> {
    return toPreview(await this.invitations.preview(token));
  }

  @Post(':token/accept')
  @SignedIn('members', { params: { token: 'token' } })
  @HttpCode(200)
  @ApiOperation({ summary: 'Accept an invitation', description: 'For callers who have an account; signing up accepts by itself.' })
  @ApiOkResponse({ type: OrganizationResponse })
  @ApiRefusal(403, "`invitation_email_mismatch`: it is for another address than the caller's.")
  @ApiRefusal(410, '`invitation_gone`: it was accepted or revoked, or is too old.')
  async accept(@Req() request: AuthenticatedRequest, @Param('token') token: string): Promise<OrganizationResponse> {
    return toOrganization(await this.invitations.accept(actingPerson(request), token));
  }
}
