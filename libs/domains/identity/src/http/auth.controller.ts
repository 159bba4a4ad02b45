import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuthResponse, LoginRequest, MeResponse, SessionDetails, SignupRequest, UpdateMeRequest, UserInfo } from '@aps/dtos';
import { type ActingUser, CurrentPrincipal, type Principal, Public, SignedIn } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { RateLimit } from '@aps/platform/rate-limit';
import type { SessionClient } from '../sessions.repository';
import { SessionsService } from '../sessions.service';
import { SignupService } from '../signup.service';
import { UsersService } from '../users.service';
import { toAuth, toMe, toSession, toUserInfo } from './identity.convert';
import { CurrentActor, CurrentClient, RequestId } from './request.decorators';

@ApiTags('Authentication')
@Controller('api/auth')
@SignedIn(null, { sessionOnly: true })
export class AuthController {
  constructor(
    private readonly signups: SignupService,
    private readonly sessions: SessionsService,
    private readonly users: UsersService,
  ) {}

  @Post('signup')
  @Public()
  @RateLimit('signup')
  @Operation({
    summary: 'Sign up',
    description:
      'Redeems the pending invitations of the address; with none, makes an organization that the new user owns. Unless an `invitation_token` proves the address, a link is mailed, ' +
      'and invitations wait for `POST /api/auth/verify`; who is invited has no organization until then. (With `EMAIL_PROOF=off` every address counts as proven.)',
    answers: AuthResponse,
    refuses: ['registration_not_allowed', 'invitation_email_mismatch', 'not_found', 'email_taken', 'invitation_gone'],
  })
  async signup(@Body() body: SignupRequest, @CurrentClient() client: SessionClient, @RequestId() requestId: string) {
    return toAuth(await this.signups.signup(body, client, requestId));
  }

  @Post('login')
  @Public()
  @RateLimit('login')
  @Operation({
    summary: 'Sign in',
    description:
      'After five failures for an address within 15 minutes the next tries wait for `Retry-After`. That a user is locked out is told with the right password only.',
    status: 200,
    answers: AuthResponse,
    refuses: ['user_deactivated', 'invalid_credentials', 'too_many_attempts', 'sso_required'],
  })
  async login(@Body() { email, password }: LoginRequest, @CurrentClient() client: SessionClient, @RequestId() requestId: string) {
    return toAuth(await this.sessions.login(email, password, client, requestId));
  }

  @Post('logout')
  @Operation({ summary: 'End the session' })
  logout(@CurrentActor() actor: ActingUser, @CurrentPrincipal() { credentialId }: Principal) {
    return this.sessions.logout(actor, credentialId);
  }

  @Post('refresh')
  @RateLimit('refresh')
  @Operation({
    summary: 'Exchange the session for a new one',
    description: 'The old session ends. Where it began at an identity provider, the new one ends when it would have.',
    status: 200,
    answers: AuthResponse,
  })
  async refresh(
    @CurrentActor() actor: ActingUser,
    @CurrentPrincipal() { credentialId }: Principal,
    @CurrentClient() client: SessionClient,
  ) {
    return toAuth(await this.sessions.refresh(actor, credentialId, client));
  }

  @Get('sessions')
  @Operation({
    summary: 'List my sessions',
    description: 'Where I am signed in, newest first. Only a session can do this.',
    answers: PageOf(SessionDetails, 'SessionListResponse'),
  })
  async list(@CurrentPrincipal() { credentialId, userId }: Principal, @Query() query: PageQuery) {
    return toPage(await this.sessions.list(userId, query), query, (row) => toSession(row, credentialId));
  }

  @Delete('sessions/:session_id')
  @Operation({ summary: 'End one of my sessions', description: 'It stops working at once; the current one may be ended, too.' })
  end(@CurrentActor() actor: ActingUser, @Param('session_id') sessionId: string) {
    return this.sessions.end(actor, sessionId);
  }

  @Get('me')
  @SignedIn()
  @Operation({ summary: 'Who am I', answers: MeResponse })
  async me(@CurrentPrincipal() { userId, orgPin, isPlatformAdmin }: Principal) {
    return toMe(await this.sessions.me(userId, orgPin), isPlatformAdmin);
  }

  @Patch('me')
  @Operation({
    summary: 'Change my profile',
    description: 'Only the fields that are present; an explicit null removes the picture.',
    answers: UserInfo,
  })
  async updateMe(@CurrentActor() actor: ActingUser, @Body() body: UpdateMeRequest) {
    return toUserInfo(await this.users.updateProfile(actor, body));
  }
}
