import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AcknowledgeDependentsQuery,
  ConnectionListQuery,
  ConnectionListResponse,
  ConnectionResponse,
  ConnectionTestResponse,
  CreateConnectionRequest,
  CreateConnectionResponse,
  ReconnectRequest,
  ReconnectResponse,
  SetConnectionOwnerRequest,
  SetConnectionScopeRequest,
  UpdateConnectionRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { Operation, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { keepIn } from '@aps/platform/oauth';
import type { Request, Response } from 'express';
import { ConnectionsQueries } from '../connections.queries';
import { ConnectionsService } from '../connections.service';
import { CALLBACK } from '../oauth/oauth-client';
import { toConnection, toCreated, toReconnected } from './connections.convert';

export const BY_CONNECTION: AccessOptions = { params: { connection_id: 'prefixed_id' } };

@ApiTags('Connections')
@Controller('api/orgs/:org_id/connections')
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly queries: ConnectionsQueries,
  ) {}

  @Get()
  @OrgMember('connections')
  @Operation({
    summary: 'List connections',
    description: "Newest first: the organization's and the caller's own. Others' private ones are neither listed nor counted.",
    answers: ConnectionListResponse,
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: ConnectionListQuery) {
    const { connections, wildcard_agent_count } = await this.queries.list(scope, query, query);
    return toPage(connections, query, toConnection, { wildcard_agent_count });
  }

  @Post()
  @OrgMember('connections')
  @Idempotent()
  @Operation({
    summary: 'Connect something',
    description:
      'Where nobody has to consent, its server is asked at once: it is `active`, or `error` with the reason in `last_error`. Otherwise it is `initiated`, and `authorize_url` says where to consent. Only administrators connect something for the whole organization.',
    answers: CreateConnectionResponse,
    refuses: [
      'insufficient_role',
      'entitlement_exceeded',
      'slug_taken',
      'unknown_app',
      'unknown_method',
      'masked_secret',
      'upstream_unavailable',
    ],
  })
  async create(
    @CurrentOrg() scope: OrgScope,
    @Body() body: CreateConnectionRequest,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const made = await this.connections.create(scope, body);
    keepIn(response, request, made.asked?.browser, CALLBACK);
    return toCreated(made);
  }

  @Get(':connection_id')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({ summary: 'Get a connection', answers: ConnectionResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('connection_id') ref: string) {
    return toConnection(await this.queries.get(scope, ref));
  }

  @Patch(':connection_id')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({
    summary: 'Change a connection',
    description:
      'Its slug stays. One that has failed has to answer before it is `active` again. Its owner is told by mail of what others change.',
    answers: ConnectionResponse,
    refuses: ['reconnect_required'],
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('connection_id') ref: string, @Body() body: UpdateConnectionRequest) {
    return toConnection(await this.connections.update(scope, ref, body));
  }

  @Delete(':connection_id')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({
    summary: 'Delete a connection',
    description:
      'What names it loses its tools. Its credentials are deleted, tokens that somebody has consented to are revoked at their server where it has a way to, and its owner is told by mail where somebody else does it.',
    refuses: ['has_dependents'],
  })
  remove(@CurrentOrg() scope: OrgScope, @Param('connection_id') ref: string, @Query() query: AcknowledgeDependentsQuery) {
    return this.connections.delete(scope, ref, query.acknowledge_dependents ?? false);
  }

  @Patch(':connection_id/owner')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({
    summary: 'Give a connection to another member',
    description: 'For its owner and administrators, who reach private ones here, too. It goes on with the credentials that it has.',
    answers: ConnectionResponse,
    refuses: ['insufficient_role', 'not_a_member'],
  })
  async setOwner(@CurrentOrg() scope: OrgScope, @Param('connection_id') ref: string, @Body() body: SetConnectionOwnerRequest) {
    return toConnection(await this.connections.setOwner(scope, ref, body.owner_user_id));
  }

  @Patch(':connection_id/scope')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({
    summary: 'Share a connection, or take it back',
    description: 'For its owner; of one that is shared, for administrators, too. Who takes back one without an owner owns it then.',
    answers: ConnectionResponse,
    refuses: ['insufficient_role', 'has_dependents'],
  })
  async setScope(@CurrentOrg() scope: OrgScope, @Param('connection_id') ref: string, @Body() body: SetConnectionScopeRequest) {
    return toConnection(await this.connections.setScope(scope, ref, body.scope, body.acknowledge_dependents ?? false));
  }

  @Post(':connection_id/test')
  @OrgMember('connections', { ...BY_CONNECTION, reads: true })
  @Operation({ summary: 'Ask the server of a connection', description: 'Changes nothing.', status: 200, answers: ConnectionTestResponse })
  test(@CurrentOrg() scope: OrgScope, @Param('connection_id') ref: string): Promise<ConnectionTestResponse> {
    return this.connections.test(scope, ref);
  }

  @Post(':connection_id/reconnect')
  @OrgMember('connections', BY_CONNECTION)
  @Operation({
    summary: 'Connect anew',
    description:
      'With other credentials or headers, where some are given. One whose server answers is active; otherwise, where somebody can consent, `authorize_url` says where.',
    status: 200,
    answers: ReconnectResponse,
    refuses: ['insufficient_role', 'masked_secret', 'unknown_app', 'unknown_method', 'upstream_unavailable'],
  })
  async reconnect(
    @CurrentOrg() scope: OrgScope,
    @Param('connection_id') ref: string,
    @Body() body: ReconnectRequest,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const reconnected = await this.connections.reconnect(scope, ref, body);
    keepIn(response, request, reconnected.asked?.browser, CALLBACK);
    return toReconnected(reconnected);
  }
}
