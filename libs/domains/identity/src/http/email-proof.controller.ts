import { Body, Controller, Post, Req } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { ReceivedResponse, ResendVerificationRequest, VerifyEmailRequest, VerifyEmailResponse } from '@aps/dtos';
import { type AuthenticatedRequest, Public } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { RateLimit } from '@aps/platform/rate-limit';
import { EmailProofsService } from '../email-proofs.service';
import { toVerified } from './identity.convert';
import { RequestId } from './request.decorators';

@ApiTags('Authentication')
@Controller('api/auth/verify')
export class EmailProofController {
  constructor(private readonly proofs: EmailProofsService) {}

  @Post()
  @Public()
  @RateLimit('verification')
  @Operation({
    summary: 'Prove an address with a mailed link',
    description:
      'Redeems the pending invitations of the address. The link is good for 24 hours and once; a bad or used one is 422 `verification_invalid`.',
    status: 200,
    answers: VerifyEmailResponse,
    refuses: ['invitation_gone', 'verification_invalid'],
  })
  async verify(@Body() { token }: VerifyEmailRequest, @RequestId() requestId: string) {
    return toVerified(await this.proofs.verify(token, requestId));
  }

  @Post('resend')
  @Public({ identifies: true })
  @RateLimit('verification')
  @ApiBody({ type: ResendVerificationRequest, required: false })
  @Operation({
    summary: 'Ask for another link that proves an address',
    description:
      'The answer is the same for every address; one that is proven, or has been mailed three of them in the last hour, gets none.',
    status: 202,
    answers: ReceivedResponse,
  })
  async resend(@Body() { email }: ResendVerificationRequest, @Req() { principal }: AuthenticatedRequest): Promise<ReceivedResponse> {
    if (email !== undefined) await this.proofs.resend({ email });
    else if (principal) await this.proofs.resend({ userId: principal.userId });
    return { status: 'received' };
  }
}
