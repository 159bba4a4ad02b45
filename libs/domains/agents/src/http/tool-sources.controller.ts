import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ToolRefresh } from '@aps/connections';
import {
  DecisionCoverageResponse,
  GrantableScopesQuery,
  GrantableScopesResponse,
  RefreshToolsRequest,
  ToolRefreshResponse,
  ToolResponse,
  ToolSourceResponse,
  ToolSourcesResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { ToolSourcesQueries } from '../tool-sources/tool-sources.queries';

@ApiTags('Tool sources')
@Controller('api/orgs/:org_id/tool-sources')
@OrgMember('connections')
export class ToolSourcesController {
  constructor(
    private readonly sources: ToolSourcesQueries,
    private readonly tools: ToolRefresh,
  ) {}

  @Get()
  @Operation({
    summary: 'List where tools come from',
    description: "What is built in, and connections: the organization's and the caller's own.",
    answers: ToolSourcesResponse,
  })
  async list(@CurrentOrg() scope: OrgScope): Promise<ToolSourcesResponse> {
    return { items: (await this.sources.sources(scope)).map((source) => answer(ToolSourceResponse, source)) };
  }

  @Get('tools')
  @Operation({
    summary: 'List tools',
    description: 'What is built in first, then the tools of active connections, by slug.',
    answers: PageOf(ToolResponse, 'ToolListResponse'),
  })
  async listTools(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery) {
    return toPage(await this.sources.tools(scope, query), query, (tool) => answer(ToolResponse, tool));
  }

  @Post('tools/refresh')
  @Operation({
    summary: 'Ask servers for their tools',
    description:
      'All connections that the caller sees, but for those that are switched off or wait for a consent, ten seconds each. One that answers again is active again.',
    status: 200,
    answers: ToolRefreshResponse,
  })
  refresh(@CurrentOrg() scope: OrgScope, @Body() body: RefreshToolsRequest): Promise<ToolRefreshResponse> {
    return this.tools.refresh(scope, body.accept_changes ?? false);
  }

  @Get('scopes')
  @Operation({
    summary: 'List what agents can be granted',
    description: 'What every agent has, and one item for each scope that some have.',
    answers: GrantableScopesResponse,
  })
  listScopes(@CurrentOrg() scope: OrgScope, @Query() { agent_id }: GrantableScopesQuery): Promise<GrantableScopesResponse> {
    return this.sources.scopes(scope, agent_id);
  }

  @Get('decision-coverage')
  @Operation({
    summary: 'See what decision modes would cover',
    description: 'Of each connection that the caller sees. Destructive is what its server declares so, and nothing else.',
    answers: DecisionCoverageResponse,
  })
  async coverage(@CurrentOrg() scope: OrgScope): Promise<DecisionCoverageResponse> {
    return { items: await this.sources.coverage(scope) };
  }
}
