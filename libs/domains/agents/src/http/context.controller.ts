import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { EffectiveContextResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { AgentContexts } from '../sharing/contexts.queries';
import { BY_AGENT } from './params';

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
