import { Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AgentRevisionResponse, RolloutDetailResponse } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import type { Response } from 'express';
import { AgentRevisions } from '../revisions.queries';
import { RevisionsService } from '../revisions.service';
import { RolloutsQueries } from '../rollouts.queries';
import { toRevision, toRollout } from './agents.convert';
import { BY_AGENT } from './params';

@ApiTags('Agent revisions')
@Controller('api/orgs/:org_id/agents/:agent_id/revisions')
@OrgMember('agents', BY_AGENT)
export class AgentRevisionsController {
  constructor(
    private readonly revisions: AgentRevisions,
    private readonly service: RevisionsService,
    private readonly rollouts: RolloutsQueries,
  ) {}

  @Get()
  @Operation({ summary: 'List the sealed revisions of an agent', description: 'Newest first.', answers: PageOf(AgentRevisionResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: PageQuery) {
    return toPage(await this.revisions.list(scope, agentId, query), query, toRevision);
  }

  @Post()
  @OrgAdmin('agents', BY_AGENT)
  @Idempotent()
  @Operation({
    summary: 'Seal the draft',
    description: 'Makes a revision of the draft. When nothing has changed since the latest one, that one is returned, with 200.',
    status: [201, 200],
    answers: AgentRevisionResponse,
  })
  async seal(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Res({ passthrough: true }) response: Response) {
    const { revision, created } = await this.service.seal(scope, agentId);
    response.status(created ? 201 : 200);
    return toRevision(revision);
  }

  @Get(':revision_id')
  @Operation({ summary: 'Get a sealed revision', answers: AgentRevisionResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('revision_id') revisionId: string) {
    return toRevision(await this.revisions.get(scope, agentId, revisionId));
  }

  @Post(':revision_id/deploy')
  @OrgAdmin('agents', BY_AGENT)
  @Idempotent()
  @Operation({
    summary: 'Deploy a revision',
    description:
      'New chats run on it from now on; an older one is a rollback. A running experiment ends. Deploying what is live already changes nothing.',
    status: 200,
    answers: RolloutDetailResponse,
    refuses: ['unknown_reference'],
  })
  async deploy(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('revision_id') revisionId: string) {
    const rollout = await this.service.deploy(scope, agentId, revisionId);
    return toRollout(await this.rollouts.get(scope, rollout.agent_id, rollout.id));
  }
}
