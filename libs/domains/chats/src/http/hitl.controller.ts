import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { HitlQueries } from '../hitl/hitl.queries';
import { HitlService } from '../hitl/hitl.service';
import { AnsweredHitlRequest, AnswerHitlRequest, HitlRequest, HitlRequestsQuery } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { IdempotencyAttempt, Idempotent, type Attempt } from '@aps/platform/idempotency';
import { toHitlRequest } from './hitl.convert';

@ApiTags('Requests to humans')
@Controller('api/orgs/:org_id/hitl-requests')
@OrgMember('chats')
export class HitlController {
  constructor(
    private readonly hitl: HitlService,
    private readonly queries: HitlQueries,
  ) {}

  @Get()
  @Operation({
    summary: 'List requests to humans',
    description: 'Newest first: those of chats that the caller may open, and those that are assigned to the caller.',
    answers: PageOf(HitlRequest),
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: HitlRequestsQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toHitlRequest);
  }

  @Get(':request_id')
  @Operation({ summary: 'Get a request to a human', answers: HitlRequest })
  async get(@CurrentOrg() scope: OrgScope, @Param('request_id') id: string) {
    return toHitlRequest(await this.queries.get(scope, id));
  }

  @Post(':request_id/answer')
  @Idempotent()
  @Operation({
    summary: 'Answer a request',
    description:
      'The chat goes on when no other question of the same step is open. Everybody who sees a request may answer it; where there is an assignee, that user and admins. ' +
      'What is approved runs exactly as the request shows it, or with the edited arguments. Those of a tool that the caller may not use, such as one of a private connection of somebody else, are not theirs to edit.',
    status: 200,
    answers: AnsweredHitlRequest,
    refuses: ['insufficient_role', 'already_resolved'],
  })
  async answer(
    @CurrentOrg() scope: OrgScope,
    @Param('request_id') id: string,
    @Body() body: AnswerHitlRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ): Promise<AnsweredHitlRequest> {
    const { request, resumed } = await this.hitl.answer(scope, id, body, attempt);
    return { ...toHitlRequest(request), resumed };
  }
}
