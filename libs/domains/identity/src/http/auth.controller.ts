import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  AuthResponse,
  LoginRequest,
  MeResponse,
  SessionDetails,
  SessionListResponse,
  SignupRequest,
  UpdateMeRequest,
  UserInfo,
} from '@aps/dtos';
import { type ActingUser, CurrentPrincipal, type Principal, Public, SignedIn } from '@aps/guards';
import { PageQuery, ShowsCredential, toPage, type Page } from '@aps/platform/http';
import { RateLimit } from '@aps/platform/rate-limit';
import type { SessionClient } from '../sessions.repository';
import { SessionsService } from '../sessions.service';
import { SignupService } from '../signup.service';
import { UsersService } from '../users.service';
import { toAuth, toMe, toSession, toUserInfo } from './identity.convert';
import { Refuses } from './refuses.decorator';
import { CurrentActor, CurrentClient, RequestId } from './request.decorators';

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
  @ApiOperation({
    summary: 'Sign up',
    description:
      'Redeems the pending invitations of the address; with none, makes an organization that the new user owns. Unless an `invitation_token` proves the address, a link is mailed, ' +
      'and invitations wait for `POST /api/auth/verify`; who is invited has no organization until then. (With `EMAIL_PROOF=off` every address counts as proven.)',
  })
  @ApiCreatedResponse({ type: AuthResponse })
  @ShowsCredential(AuthResponse)
  @Refuses(404, '`not_found`: there is no such invitation.')
  @Refuses(410, '`invitation_gone`: it was revoked or has expired.')
  @Refuses(
    403,
    '`registration_not_allowed`: the address may not sign up (yet); `context.waitlist_url` says where to ask. `invitation_email_mismatch`: the invitation is for another address.',
  )
  @Refuses(409, '`email_taken`: the address has an account.')
  async signup(@Body() body: SignupRequest, @CurrentClient() client: SessionClient, @RequestId() requestId: string): Promise<AuthResponse> {
    return toAuth(await this.signups.signup(body, client, requestId));
  }

  @Post('login')
  @Public()
  @RateLimit('login')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sign in' })
  @ApiOkResponse({ type: AuthResponse })
  @ShowsCredential(AuthResponse)
  @Refuses(401, '`invalid_credentials`, or `user_deactivated` with the right password.')
  @Refuses(429, '`too_many_attempts`, with `Retry-After`: five log-ins of the address have failed in 15 minutes; or `rate_limited`.')
  async login(
    @Body() { email, password }: LoginRequest,
    @CurrentClient() client: SessionClient,
    @RequestId() requestId: string,
  ): Promise<AuthResponse> {
    return toAuth(await this.sessions.login(email, password, client, requestId));
  }

  @Post('logout')
  @SignedIn(null, { sessionOnly: true })
  @HttpCode(204)
  @ApiOperation({ summary: 'End the session' })
  @ApiNoContentResponse()
  logout(@CurrentActor() actor: ActingUser, @CurrentPrincipal() { credentialId }: Principal): Promise<void> {
    return this.sessions.logout(actor, credentialId);
  }

  @Post('refresh')
  @SignedIn(null, { sessionOnly: true })
  @HttpCode(200)
  @ApiOperation({ summary: 'Exchange the session for a new one', description: 'The old session ends.' })
  @ApiOkResponse({ type: AuthResponse })
  @ShowsCredential(AuthResponse)
  async refresh(
    @CurrentActor() actor: ActingUser,
    @CurrentPrincipal() { credentialId }: Principal,
    @CurrentClient() client: SessionClient,
  ): Promise<AuthResponse> {
    return toAuth(await this.sessions.refresh(actor, credentialId, client));
  }

  @Get('sessions')
  @SignedIn(null, { sessionOnly: true })
  @ApiOperation({ summary: 'List my sessions', description: 'Where I am signed in, newest first. Only a session can do this.' })
  @ApiOkResponse({ type: SessionListResponse })
  async list(@CurrentPrincipal() { credentialId, userId }: Principal, @Query() query: PageQuery): Promise<Page<SessionDetails>> {
    const { items, total } = await this.sessions.list(userId, query);
    return toPage(
      items.map((row) => toSession(row, credentialId)),
      total,
      query,
    );
  }

  @Delete('sessions/:session_id')
  @SignedIn(null, { sessionOnly: true })
  @HttpCode(204)
  @ApiOperation({ summary: 'End one of my sessions', description: 'It stops working within a second; the current one may be ended, too.' })
  @ApiNoContentResponse()
  end(@CurrentActor() actor: ActingUser, @Param('session_id') sessionId: string): Promise<void> {
    return this.sessions.end(actor, sessionId);
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
  async updateMe(@CurrentActor() actor: ActingUser, @Body() body: UpdateMeRequest): Promise<UserInfo> {
    return toUserInfo(await this.users.updateProfile(actor, body));
  }
}
