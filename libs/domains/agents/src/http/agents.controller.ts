import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { ErrorCode } from '@aps/contracts';
import {
  AgentListQuery,
  AgentResponse,
  CreateAgentRequest,
  EffectiveContextResponse,
  UpdateAgentQuery,
  UpdateAgentRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { AgentsQueries } from '../agents.queries';
import { AgentsService } from '../agents.service';
import { toAgent } from './agents.convert';
import { BY_AGENT } from './params';
import { AgentContexts } from '../sharing/contexts.queries';

/** Of what is made and of what is edited alike. */
const SETTINGS_REFUSED: ErrorCode[] = ['slug_taken', 'model_not_allowed', 'model_unknown', 'plan_mismatch', 'unknown_reference'];

@ApiTags('Agents')
@Controller('api/orgs/:org_id/agents')
export class AgentsController {
  constructor(
    private readonly agents: AgentsService,
    private readonly queries: AgentsQueries,
  ) {}

  @Get()
  @OrgMember('agents')
  @Operation({ summary: 'List agents', description: 'Newest first.', answers: PageOf(AgentResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: AgentListQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toAgent);
  }

  @Post()
  @OrgAdmin('agents')
  @Idempotent()
  @Operation({
    summary: 'Create an agent',
    description: 'It is sealed and deployed as version 1 at once.',
    answers: AgentResponse,
    refuses: ['entitlement_required', 'entitlement_exceeded', ...SETTINGS_REFUSED],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateAgentRequest) {
    return toAgent(await this.agents.create(scope, body));
  }

  @Get(':agent_id')
  @OrgMember('agents', BY_AGENT)
  @Operation({ summary: 'Get an agent', answers: AgentResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string) {
    return toAgent(await this.queries.get(scope, agentId));
  }

  @Patch(':agent_id')
  @OrgAdmin('agents', BY_AGENT)
  @Operation({
    summary: 'Edit an agent',
    description:
      'Edits the draft; what is live changes when a revision is deployed, or at once with `deploy=true`. `team_id` and `project_id` hold at once. The slug stays while other agents grant or deny it as a tool, or teams or projects share it.',
    answers: AgentResponse,
    refuses: ['entitlement_required', 'agent_in_use', ...SETTINGS_REFUSED],
  })
  async update(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Query() query: UpdateAgentQuery,
    @Body() body: UpdateAgentRequest,
  ) {
    return toAgent(await this.agents.update(scope, agentId, body, query));
  }

  @Delete(':agent_id')
  @OrgAdmin('agents', BY_AGENT)
  @Operation({
    summary: 'Delete an agent',
    description:
      'Refused while other agents, teams or projects name it. Its slug is free again. What its chats do is stopped and their questions to humans are cancelled; they stay readable, and messages, `continue` and `retry` there are refused with `agent_deleted`.',
    refuses: ['agent_in_use'],
  })
  async remove(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string) {
    await this.agents.delete(scope, agentId);
  }
}

@ApiTags('Agents')
@Controller('api/orgs/:org_id/agents/:agent_id/effective-context')
export class AgentContextController {
  constructor(private readonly contexts: AgentContexts) {}

  @Get()
  @OrgMember('agents', BY_AGENT)
  @Operation({
    summary: 'Get what the next turn of an agent is told and may use',
    description: 'What is live of the agent, with what its project and its team share now, and where each of it comes from.',
    answers: EffectiveContextResponse,
  })
  get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string): Promise<EffectiveContextResponse> {
    return this.contexts.effective(scope, agentId);
  }
}
