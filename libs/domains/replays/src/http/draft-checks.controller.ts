import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { BY_AGENT } from '@aps/agents/http';
import { Entitlements } from '@aps/billing';
import {
  CancelDraftCheckResponse,
  CheckInstructionDraftRequest,
  DraftCheckResponse,
  DraftCheckStartedResponse,
  ReplayQuoteResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import type { Response } from 'express';
import { DraftChecks } from '../draft-checks.service';
import { toDraftCheck, toQuote } from './replays.convert';

@ApiTags('Agent instructions')
@Controller('api/orgs/:org_id/agents/:agent_id/instruction/draft')
@OrgMember('agents', { ...BY_AGENT, shows: 'decisions' })
export class DraftChecksController {
  constructor(
    private readonly checks: DraftChecks,
    private readonly entitlements: Entitlements,
  ) {}

  @Post('check')
  @ApiBody({ type: CheckInstructionDraftRequest, required: false })
  @Idempotent()
  @Operation({
    summary: 'Check the instruction draft against reviewed decisions',
    description:
      'Plays again, on the draft, what led to decisions of chats that the caller may open: disputed ones that say what should have been, archived ones too, should come out so; some that were agreed to should stay as they are. ' +
      'Calls of tools get what they got then; nothing is executed. Where a dispute says a kind, kinds are compared, else a model judges. With `quote` it is answered 200 with what that would take.',
    status: 202,
    answers: DraftCheckStartedResponse,
    instead: { status: 200, answers: ReplayQuoteResponse },
    refuses: [
      'entitlement_required',
      'credits_exhausted',
      'nothing_to_check',
      'model_unknown',
      'model_not_allowed',
      'model_not_callable',
      'model_not_priced',
      'queue_full',
    ],
  })
  async check(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: CheckInstructionDraftRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    if (!body.quote) return { check_id: (await this.checks.start(scope, agentId, body)).id };
    response.status(200);
    return toQuote(await this.checks.quote(scope, agentId, body));
  }

  @Get('checks/:check_id')
  @Operation({
    summary: 'Get a check of the instruction draft',
    description: 'Decisions of chats that the caller may not open are not in it, nor counted. It is kept for 30 days.',
    answers: DraftCheckResponse,
  })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('check_id') id: string) {
    const { check, cases } = await this.checks.get(scope, agentId, id);
    return toDraftCheck(check, cases, await this.entitlements.hidesDollars(scope.orgId));
  }

  @Post('checks/:check_id/cancel')
  @OrgMember('agents', BY_AGENT)
  @Operation({
    summary: 'Cancel a check of the instruction draft',
    description: 'By who began it, and administrators. What it has come to stays. One that is over stays as it is.',
    status: 200,
    answers: CancelDraftCheckResponse,
    refuses: ['insufficient_role'],
  })
  async cancel(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('check_id') id: string) {
    return answer(CancelDraftCheckResponse, await this.checks.cancel(scope, agentId, id), { check_id: id });
  }
}
