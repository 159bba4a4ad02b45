import { Body, Controller, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AuthResponse, LoginRequest, MeResponse, SignupRequest, UpdateMeRequest, UserInfo } from '@aps/dtos';
import { CurrentPrincipal, Public, SignedIn, type Principal } from '@aps/guards';
import { RateLimit } from '@aps/platform/rate-limit';
import { SessionsService } from '../sessions.service';
import { SignupService } from '../signup.service';
import { UsersService } from '../users.service';
import { toAuth, toMe, toUserInfo } from './identity.convert';
import { Refuses } from './refuses.decorator';
import { RequestId } from './request.decorators';

@ApiTags('Authentication')
@Controller('api/auth')
export class AuthController {
  constructor(
    private readonly signups: SignupService,
    private readonly sessions: SessionsService,
    private readonly users: UsersService,
  ) {}

  @Post('signup')
  @Public()
  @RateLimit('signup')
  @ApiOperation({ summary: 'Sign up', description: 'Redeems the pending invitations of the address; with none, makes an organization that the new user owns.' })
  @ApiCreatedResponse({ type: AuthResponse })
  @Refuses(403, '`registration_not_allowed`: the address may not sign up (yet); `context.waitlist_url` says where to ask.')
  @Refuses(409, '`email_taken`: the address has an account.')
  async signup(@Body() body: SignupRequest, @RequestId() requestId: string): Promise<AuthResponse> {
    return toAuth(await this.signups.signup(body, requestId));
  }

  @Post('login')
  @Public()
  @RateLimit('login')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sign in' })
  @ApiOkResponse({ type: AuthResponse })
  @Refuses(401, '`invalid_credentials`, or `user_deactivated` with the right password.')
  async login(@Body() { email, password }: LoginRequest): Promise<AuthResponse> {
    return toAuth(await this.sessions.login(email, password));
  }

  @Post('logout')
  @SignedIn(null, { sessionOnly: true })
  @HttpCode(204)
  @ApiOperation({ summary: 'End the session' })
  @ApiNoContentResponse()
  logout(@CurrentPrincipal() { credentialId }: Principal): Promise<void> {
    return this.sessions.logout(credentialId);
  }

  @Post('refresh')
  @SignedIn(null, { sessionOnly: true })
  @HttpCode(200)
  @ApiOperation({ summary: 'Exchange the session for a new one', description: 'The old session ends.' })
  @ApiOkResponse({ type: AuthResponse })
  async refresh(@CurrentPrincipal() { credentialId, userId }: Principal): Promise<AuthResponse> {
    return toAuth(await this.sessions.refresh(credentialId, userId));
  }

  @Get('me')
  @SignedIn()
  @ApiOperation({ summary: 'Who am I' })
  @ApiOkResponse({ type: MeResponse })
  async me(@CurrentPrincipal() { userId, orgPin, isPlatformAdmin }: Principal): Promise<MeResponse> {
    return toMe(await this.sessions.me(userId, orgPin), isPlatformAdmin);
  }

  @Patch('me')
  @SignedIn(null, { sessionOnly: true })
  @ApiOperation({ summary: 'Change my profile', description: 'Only the fields that are present; an explicit null removes the picture.' })
  @ApiOkResponse({ type: UserInfo })
  async updateMe(@CurrentPrincipal() { userId }: Principal, @Body() body: UpdateMeRequest): Promise<UserInfo> {
    return toUserInfo(await this.users.updateProfile(userId, body));
  }
}
