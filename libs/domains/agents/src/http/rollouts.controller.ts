import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RolloutDetailResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { RolloutsQueries } from '../rollouts.queries';
import { toRollout } from './agents.convert';
import { BY_PLAIN_AGENT } from './params';

@ApiTags('Rollouts')
@Controller('api/orgs/:org_id/agents/:agent_id/rollouts')
@OrgMember('rollouts', BY_PLAIN_AGENT)
export class RolloutsController {
  constructor(private readonly rollouts: RolloutsQueries) {}

  @Get()
  @Operation({
    summary: 'List the rollouts of an agent',
    description: 'Deployments and experiments, newest first.',
    answers: PageOf(RolloutDetailResponse, 'RolloutListResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: PageQuery) {
    return toPage(await this.rollouts.list(scope, agentId, query), query, toRollout);
  }

  @Get(':rollout_id')
  @Operation({ summary: 'Get a rollout', answers: RolloutDetailResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('rollout_id') rolloutId: string) {
    return toRollout(await this.rollouts.get(scope, agentId, rolloutId));
  }
}
