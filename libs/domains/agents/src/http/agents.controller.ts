import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AgentListQuery, AgentResponse, CreateAgentRequest, UpdateAgentQuery, UpdateAgentRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { ApiPage, toPage, type Page } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { AgentsQueries } from '../agents.queries';
import { AgentsService } from '../agents.service';
import { toAgent } from './agents.convert';
import { ApiAgentPath, ApiConflict, ApiOrgPath, BY_AGENT } from './params';

@ApiTags('Agents')
@Controller('api/orgs/:org_id/agents')
export class AgentsController {
  constructor(
    private readonly agents: AgentsService,
    private readonly queries: AgentsQueries,
  ) {}

  @Get()
  @OrgMember('agents')
  @ApiOrgPath()
  @ApiOperation({ summary: 'List agents', description: 'Newest first.' })
  @ApiPage(AgentResponse)
  async list(@CurrentOrg() scope: OrgScope, @Query() query: AgentListQuery): Promise<Page<AgentResponse>> {
    const { items, total } = await this.queries.list(scope, query, query);
    return toPage(items.map(toAgent), total, query);
  }

  @Post()
  @OrgAdmin('agents')
  @Idempotent()
  @ApiOrgPath()
  @ApiOperation({ summary: 'Create an agent', description: 'It is sealed and deployed as version 1 at once.' })
  @ApiCreatedResponse({ type: AgentResponse })
  @ApiConflict('`slug_taken`')
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateAgentRequest): Promise<AgentResponse> {
    return toAgent(await this.agents.create(scope, body));
  }

  @Get(':agent_id')
  @OrgMember('agents', BY_AGENT)
  @ApiAgentPath()
  @ApiOperation({ summary: 'Get an agent' })
  @ApiOkResponse({ type: AgentResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string): Promise<AgentResponse> {
    return toAgent(await this.queries.get(scope, agentId));
  }

  @Patch(':agent_id')
  @OrgAdmin('agents', BY_AGENT)
  @ApiAgentPath()
  @ApiOperation({
    summary: 'Edit an agent',
    description: 'Edits the draft only. What is live changes when a revision is deployed, or at once with `deploy=true`.',
  })
  @ApiOkResponse({ type: AgentResponse })
  @ApiConflict('`slug_taken`; `agent_in_use` when other agents grant the old slug as a tool')
  async update(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Query() query: UpdateAgentQuery,
    @Body() body: UpdateAgentRequest,
  ): Promise<AgentResponse> {
    return toAgent(await this.agents.update(scope, agentId, body, { deploy: query.deploy }));
  }

  @Delete(':agent_id')
  @OrgAdmin('agents', BY_AGENT)
  @HttpCode(204)
  @ApiAgentPath()
  @ApiOperation({
    summary: 'Delete an agent',
    description:
      'Refused while other agents name it. Its slug is free again. What its chats do is stopped and their questions to humans are cancelled; they stay readable, and messages, `continue` and `retry` there are refused with `agent_deleted`.',
  })
  @ApiNoContentResponse()
  @ApiConflict('`agent_in_use`, with the agents that name it')
  async remove(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string): Promise<void> {
    await this.agents.delete(scope, agentId);
  }
}
