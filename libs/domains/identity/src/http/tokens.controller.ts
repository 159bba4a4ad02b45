import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateTokenRequest, CreateTokenResponse, TokenInfo } from '@aps/dtos';
import { type ActingUser, CurrentPrincipal, type Principal, SignedIn } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ApiTokensService } from '../api-tokens.service';
import { toCreatedToken, toTokenInfo } from './identity.convert';
import { CurrentActor } from './request.decorators';

@ApiTags('API tokens')
@Controller('api/tokens')
@SignedIn('settings')
export class TokensController {
  constructor(private readonly tokens: ApiTokensService) {}

  @Get()
  @Operation({
    summary: 'List my API tokens',
    description: 'Newest first, without revoked ones. A token that is pinned to an organization sees those pinned to the same.',
    answers: PageOf(TokenInfo, 'TokenListResponse'),
  })
  async list(@CurrentPrincipal() { userId, orgPin }: Principal, @Query() query: PageQuery) {
    return toPage(await this.tokens.list(userId, orgPin, query), query, toTokenInfo);
  }

  @Post()
  @SignedIn(null, { sessionOnly: true })
  @Idempotent()
  @Operation({
    summary: 'Make an API token',
    description:
      'The answer shows the token, this once. Only a session can do this. A user has at most 50 that work. An organization that wants its members to sign in by their identity provider is entered by tokens that are confined to it alone, and these are made by sessions that it lets in.',
    answers: CreateTokenResponse,
    refuses: ['entitlement_exceeded', 'sso_required', 'unknown_reference'],
  })
  async create(@CurrentActor() actor: ActingUser, @CurrentPrincipal() principal: Principal, @Body() body: CreateTokenRequest) {
    return toCreatedToken(await this.tokens.create(actor, body, principal));
  }

  @Delete(':token_id')
  @Operation({ summary: 'Revoke an API token', description: 'It stops working at once.' })
  revoke(@CurrentActor() actor: ActingUser, @CurrentPrincipal() { orgPin }: Principal, @Param('token_id') tokenId: string) {
    return this.tokens.revoke(actor, orgPin, tokenId);
  }
}
