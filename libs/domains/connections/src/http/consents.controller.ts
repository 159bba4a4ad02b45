import { Body, Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuthorizationResponse, ConfirmConsentRequest, ConnectionResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { keepIn } from '@aps/platform/oauth';
import type { Request, Response } from 'express';
import { ConnectionsQueries } from '../connections.queries';
import { ConnectionConsents } from '../consents/connection-consents';
import { BY_CONNECTION } from './connections.controller';
import { toAuthorization, toConnection } from './connections.convert';
import { CALLBACK } from '../oauth/oauth-client';

@ApiTags('Connections')
@Controller('api/orgs/:org_id/connections/:connection_id')
export class ConsentsController {
  constructor(
    private readonly consents: ConnectionConsents,
    private readonly queries: ConnectionsQueries,
  ) {}

  @Post('authorize')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({
    summary: 'Ask for a consent',
    description:
      'Answers where to go, and sets a cookie by which the browser is known when it comes back. Coming back in another one leads to `status=confirm`. What was asked for before is good for nothing any more.',
    status: 200,
    answers: AuthorizationResponse,
    refuses: ['insufficient_role', 'unknown_method', 'authorization_failed'],
  })
  async authorize(
    @CurrentOrg() scope: OrgScope,
    @Param('connection_id') ref: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const asked = await this.consents.authorize(scope, ref);
    keepIn(response, request, asked.browser, CALLBACK);
    return toAuthorization(asked);
  }

  @Post('confirm')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({
    summary: 'Confirm a consent',
    description: 'That somebody has come back with in another browser than the one that asked: `state` is what that was led on with.',
    status: 200,
    answers: ConnectionResponse,
    refuses: ['insufficient_role', 'invalid_state'],
  })
  async confirm(@CurrentOrg() scope: OrgScope, @Param('connection_id') ref: string, @Body() body: ConfirmConsentRequest) {
    await this.consents.confirm(scope, ref, body.state);
    return toConnection(await this.queries.get(scope, ref));
  }
}
