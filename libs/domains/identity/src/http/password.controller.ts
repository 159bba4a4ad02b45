import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ChangePasswordRequest, ForgotPasswordRequest, ReceivedResponse, ResetPasswordRequest } from '@aps/dtos';
import { type ActingUser, CurrentPrincipal, type Principal, Public, SignedIn } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { RateLimit } from '@aps/platform/rate-limit';
import { PasswordsService } from '../passwords.service';
import { CurrentActor, RequestId } from './request.decorators';

@ApiTags('Authentication')
@Controller('api/auth/password')
export class PasswordController {
  constructor(private readonly passwords: PasswordsService) {}

  @Post('forgot')
  @Public()
  @RateLimit('password_reset')
  @Operation({
    summary: 'Ask for a link to choose a new password',
    description: 'The answer is the same whether the address has an account or not.',
    status: 202,
    answers: ReceivedResponse,
  })
  async forgot(@Body() { email }: ForgotPasswordRequest): Promise<ReceivedResponse> {
    await this.passwords.forgot(email);
    return { status: 'received' };
  }

  @Post('reset')
  @Public()
  @RateLimit('password_reset')
  @Operation({
    summary: 'Choose a new password with a mailed link',
    description: 'The link is good for one hour and once. All sessions end; API tokens only with `revoke_tokens`.',
    refuses: ['reset_token_invalid'],
  })
  reset(@Body() { token, password, revoke_tokens }: ResetPasswordRequest, @RequestId() requestId: string) {
    return this.passwords.reset(token, password, { revokeTokens: revoke_tokens, requestId });
  }

  @Post('change')
  @SignedIn(null, { sessionOnly: true })
  @RateLimit('login')
  @Operation({
    summary: 'Change my password',
    description: 'All other sessions end; API tokens only with `revoke_tokens`.',
    refuses: ['password_incorrect', 'too_many_attempts'],
  })
  change(@CurrentActor() actor: ActingUser, @CurrentPrincipal() { credentialId }: Principal, @Body() body: ChangePasswordRequest) {
    return this.passwords.change(actor, credentialId, body.current_password, body.new_password, { revokeTokens: body.revoke_tokens });
  }
}
