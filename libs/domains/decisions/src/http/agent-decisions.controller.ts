import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiAgentPath, BY_AGENT } from '@aps/agents/http';
import { DecisionsQueries, DecisionsService } from '@aps/decisions';
import {
  AgreeDecisionsRequest,
  ArchiveDecisionsRequest,
  DecisionBulkUpdateResponse,
  DecisionGroupItem,
  DecisionListQuery,
  DecisionResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { ApiPage, toPage, type Page } from '@aps/platform/http';
import { toDecision, toDecisionGroup } from './decisions.convert';

const SEEN = 'Only of chats that the caller may open, whether the decision log is on or off.';

@ApiTags('Decisions')
@ApiAgentPath()
@Controller('api/orgs/:org_id/agents/:agent_id/decisions')
export class AgentDecisionsController {
  constructor(
    private readonly queries: DecisionsQueries,
    private readonly decisions: DecisionsService,
  ) {}

  @Get()
  @OrgMember('decisions', BY_AGENT)
  @ApiOperation({ summary: 'List an agent’s decisions', description: `Newest first. ${SEEN}` })
  @ApiPage(DecisionResponse, 'AgentDecisionPage')
  async list(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Query() query: DecisionListQuery,
  ): Promise<Page<DecisionResponse>> {
    const { items, total } = await this.queries.list(scope, agentId, query);
    return toPage(items.map(toDecision), total, query);
  }

  @Get('groups')
  @OrgMember('decisions', BY_AGENT)
  @ApiOperation({
    summary: 'Group an agent’s decisions by the basis that they cite',
    description: `Word for word; the largest group first, then the latest. \`total\` counts groups. ${SEEN}`,
  })
  @ApiPage(DecisionGroupItem)
  async groups(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Query() query: DecisionListQuery,
  ): Promise<Page<DecisionGroupItem>> {
    const { items, total } = await this.queries.groups(scope, agentId, query);
    return toPage(items.map(toDecisionGroup), total, query);
  }

  @Post('archive')
  @OrgMember('decisions', BY_AGENT)
  @HttpCode(200)
  @ApiOperation({
    summary: 'Archive decisions',
    description: 'By ids or by a filter; an empty filter archives every live one. What is archived already keeps the time when it was.',
  })
  @ApiOkResponse({ type: DecisionBulkUpdateResponse })
  archive(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: ArchiveDecisionsRequest,
  ): Promise<DecisionBulkUpdateResponse> {
    return this.decisions.bulk(scope, agentId, 'archive', body);
  }

  @Post('unarchive')
  @OrgMember('decisions', BY_AGENT)
  @HttpCode(200)
  @ApiOperation({
    summary: 'Bring decisions back from the archive',
    description: 'By ids or by a filter; an empty filter brings back every one. What was thought of them stays.',
  })
  @ApiOkResponse({ type: DecisionBulkUpdateResponse })
  unarchive(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: ArchiveDecisionsRequest,
  ): Promise<DecisionBulkUpdateResponse> {
    return this.decisions.bulk(scope, agentId, 'unarchive', body);
  }

  @Post('review')
  @OrgMember('decisions', BY_AGENT)
  @HttpCode(200)
  @ApiOperation({
    summary: 'Agree to many decisions',
    description: 'By ids or by a filter. Only unreviewed ones that are not archived are changed.',
  })
  @ApiOkResponse({ type: DecisionBulkUpdateResponse })
  review(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: AgreeDecisionsRequest,
  ): Promise<DecisionBulkUpdateResponse> {
    return this.decisions.bulk(scope, agentId, 'review', body);
  }
}
