import { Controller, Get, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { InvitationPreviewResponse, OrganizationResponse } from '@aps/dtos';
import { type AuthenticatedRequest, Public, SignedIn } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { InvitationsService } from '../invitations.service';
import { actingPerson } from './actor';
import { toOrganization } from './orgs.convert';

/** What the link of an invitation mail needs. The token in the path is the credential; access logs carry the route's template only. */
@ApiTags('Invitations')
@Controller('api/invitations')
export class InvitationLinksController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get(':token')
  @Public({ params: { token: 'token' } })
  @Operation({ summary: 'Show the invitation behind a link', answers: InvitationPreviewResponse, refuses: ['invitation_gone'] })
  async preview(@Param('token') token: string) {
    return answer(InvitationPreviewResponse, await this.invitations.preview(token));
  }

  @Post(':token/accept')
  @SignedIn('members', { params: { token: 'token' } })
  @Idempotent()
  @Operation({
    summary: 'Accept an invitation',
    description: 'For callers who have an account; signing up accepts by itself.',
    status: 200,
    answers: OrganizationResponse,
    refuses: ['invitation_email_mismatch', 'invitation_gone'],
  })
  async accept(@Req() request: AuthenticatedRequest, @Param('token') token: string) {
    return toOrganization(await this.invitations.accept(actingPerson(request), token));
  }
}
