import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DecisionsQueries } from '../decisions.queries';
import { DecisionsService } from '../decisions.service';
import { DecisionResponse, ReviewDecisionRequest, RevisionDraftResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { toDecision, toRevisionDraft } from './decisions.convert';

@ApiTags('Decisions')
@Controller('api/orgs/:org_id/chats/:chat_id/decisions')
@OrgMember('decisions')
export class ChatDecisionsController {
  constructor(
    private readonly queries: DecisionsQueries,
    private readonly decisions: DecisionsService,
  ) {}

  @Get()
  @Operation({
    summary: 'List the decisions of a chat',
    description: 'Oldest first, archived ones included.',
    answers: PageOf(DecisionResponse, 'DecisionListResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('chat_id') chatId: string, @Query() query: PageQuery) {
    return toPage(await this.queries.ofChat(scope, chatId, query), query, toDecision);
  }

  @Post(':decision_id/review')
  @Operation({
    summary: 'Review a decision',
    description: 'Any status may follow any other. Nothing but the decision changes.',
    status: 200,
    answers: DecisionResponse,
  })
  async review(
    @CurrentOrg() scope: OrgScope,
    @Param('chat_id') chatId: string,
    @Param('decision_id') id: string,
    @Body() body: ReviewDecisionRequest,
  ) {
    return toDecision(await this.decisions.review(scope, chatId, id, body));
  }

  @Post(':decision_id/revision-draft')
  @Idempotent()
  @Operation({
    summary: 'Write a dispute into the agent’s instruction draft',
    description:
      'Needs `disputed` with `should_have`. Appends it once, beginning a draft from the published instruction if there is none. Nothing is published or deployed.',
    status: 200,
    answers: RevisionDraftResponse,
    refuses: ['instruction_too_long', 'not_disputed', 'should_have_missing'],
  })
  async revisionDraft(@CurrentOrg() scope: OrgScope, @Param('chat_id') chatId: string, @Param('decision_id') id: string) {
    return toRevisionDraft(await this.decisions.draftCorrection(scope, chatId, id));
  }
}
