import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BY_PLAIN_AGENT } from '@aps/agents/http';
import { DecisionsQueries } from '../decisions.queries';
import { DecisionsService } from '../decisions.service';
import {
  AgreeDecisionsRequest,
  ArchiveDecisionsRequest,
  DecisionBulkUpdateResponse,
  DecisionGroupItem,
  DecisionListQuery,
  DecisionResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageOf, toPage, type OperationDeclaration } from '@aps/platform/http';
import { toDecision } from './decisions.convert';

const SEEN = 'Only of chats that the caller may open, whether the decision log is on or off.';

/** Of whatever is done to many at once. */
const BULK = {
  status: 200,
  answers: DecisionBulkUpdateResponse,
  refuses: ['exactly_one_required'],
} satisfies Partial<OperationDeclaration>;

@ApiTags('Decisions')
@Controller('api/orgs/:org_id/agents/:agent_id/decisions')
@OrgMember('decisions', BY_PLAIN_AGENT)
export class AgentDecisionsController {
  constructor(
    private readonly queries: DecisionsQueries,
    private readonly decisions: DecisionsService,
  ) {}

  @Get()
  @Operation({
    summary: 'List an agent’s decisions',
    description: `Newest first. ${SEEN}`,
    answers: PageOf(DecisionResponse, 'AgentDecisionPage'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: DecisionListQuery) {
    return toPage(await this.queries.list(scope, agentId, query), query, toDecision);
  }

  @Get('groups')
  @Operation({
    summary: 'Group an agent’s decisions by the basis that they cite',
    description: `Word for word; the largest group first, then the latest. \`total\` counts groups. ${SEEN}`,
    answers: PageOf(DecisionGroupItem),
  })
  async groups(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: DecisionListQuery) {
    return toPage(await this.queries.groups(scope, agentId, query), query, (group) => answer(DecisionGroupItem, group));
  }

  @Post('archive')
  @Operation({
    summary: 'Archive decisions',
    description: 'By ids or by a filter; an empty filter archives every live one. What is archived already keeps the time when it was.',
    ...BULK,
  })
  archive(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Body() body: ArchiveDecisionsRequest) {
    return this.decisions.bulk(scope, agentId, 'archive', body);
  }

  @Post('unarchive')
  @Operation({
    summary: 'Bring decisions back from the archive',
    description: 'By ids or by a filter; an empty filter brings back every one. What was thought of them stays.',
    ...BULK,
  })
  unarchive(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Body() body: ArchiveDecisionsRequest) {
    return this.decisions.bulk(scope, agentId, 'unarchive', body);
  }

  @Post('review')
  @Operation({
    summary: 'Agree to many decisions',
    description: 'By ids or by a filter. Only unreviewed ones that are not archived are changed.',
    ...BULK,
  })
  review(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Body() body: AgreeDecisionsRequest) {
    return this.decisions.bulk(scope, agentId, 'review', body);
  }
}
