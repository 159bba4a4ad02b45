import { Body, Controller, Get, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuthResponse, IdentityProviderInfo, ProviderSessionRequest } from '@aps/dtos';
import { Public, type AccessOptions } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { keptIn } from '@aps/platform/oauth';
import { RateLimit } from '@aps/platform/rate-limit';
import type { Request } from 'express';
import { IdentityProviders, ProviderSignIns } from '../oidc';
import type { SessionClient } from '../sessions.repository';
import { toAuth, toIdentityProvider } from './identity.convert';
import { CurrentClient, RequestId } from './request.decorators';

/** Also where the cookie of a browser goes. */
export const OIDC_PATH = '/api/auth/oidc';
export const BY_PROVIDER: AccessOptions = { params: { provider: 'slug' } };

@ApiTags('Authentication')
@Controller(OIDC_PATH.slice(1))
export class OidcController {
  constructor(
    private readonly providers: IdentityProviders,
    private readonly signIns: ProviderSignIns,
  ) {}

  @Get()
  @Public()
  @Operation({
    summary: 'List the identity providers',
    description:
      'Those that the operator has set; where there is none, people sign in by password. A browser is sent to one by `GET /api/auth/oidc/{provider}/start`, which sets a cookie, and comes back to `<APP_URL>/sign-in/{provider}` ' +
      'with `code` and `state` (and `iss`, where the provider sends it), or with `error`: what the provider says (`access_denied`), or a code of ours where nobody can be sent there (`upstream_unavailable`, `provider_sign_in_failed`, `not_found`), which clients that do not ask for `text/html` are answered. What is there gets the session by `POST /api/auth/oidc/{provider}/session`. ' +
      'A client without a page asks `start` itself, keeps the cookie, has its user go to `Location`, and sends what they come back with.',
    answers: [IdentityProviderInfo],
  })
  list() {
    return this.providers.list().map(toIdentityProvider);
  }

  @Post(':provider/session')
  @Public(BY_PROVIDER)
  @RateLimit('provider_sign_in')
  @Operation({
    summary: 'Get the session of who has signed in by an identity provider',
    description:
      'With the cookie of `start`, within ten minutes and once. Whom the provider has spoken of before is the same user again. Else it is the user of the address, if the provider says that it is theirs; where that user had never proven it, their password, sessions and API tokens end. ' +
      'Else they sign up, with what holds for signups, and the address counts as proven.',
    status: 200,
    answers: AuthResponse,
    refuses: [
      'invalid_state',
      'provider_sign_in_failed',
      'user_deactivated',
      'registration_not_allowed',
      'email_taken',
      'invitation_gone',
      'upstream_unavailable',
    ],
  })
  async session(
    @Param('provider') name: string,
    @Body() body: ProviderSessionRequest,
    @Req() request: Request,
    @CurrentClient() client: SessionClient,
    @RequestId() requestId: string,
  ) {
    return toAuth(await this.signIns.complete(name, body, (cookie) => keptIn(request, cookie), client, requestId));
  }
}
