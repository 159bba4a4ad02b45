import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BY_PLAIN_AGENT } from '@aps/agents/http';
import { Entitlements } from '@aps/billing';
import {
  CancelSimulationResponse,
  ReplayQuoteResponse,
  SimulateAgentRequest,
  SimulationDetailResponse,
  SimulationResponse,
  SimulationStartedResponse,
} from '@aps/dtos';
import { type AccessOptions, CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import type { Response } from 'express';
import { Simulations } from '../simulations.service';
import { toQuote, toSimulation, toSimulationDetail } from './replays.convert';

/** What chats say is in it. */
const OF_CHATS: AccessOptions = { ...BY_PLAIN_AGENT, shows: 'chats' };
const SEEN = 'Chats that the caller may not open are not in it, nor counted.';

@ApiTags('Simulations')
@Controller('api/orgs/:org_id/agents/:agent_id/simulations')
@OrgMember('rollouts', BY_PLAIN_AGENT)
export class SimulationsController {
  constructor(
    private readonly simulations: Simulations,
    private readonly entitlements: Entitlements,
  ) {}

  @Post()
  @OrgAdmin('rollouts', OF_CHATS)
  @Idempotent()
  @Operation({
    summary: 'Play past chats again on another configuration',
    description:
      'Users say what they said, in chats that the caller may open; the agent answers as the revision, or its draft, has it. Calls of tools get what they got then, or `{"status":"simulated"}`: ' +
      'nothing is executed, mailed, remembered, asked of a human or shown in a list. With `quote` it is answered 200 with what that would take.',
    status: 202,
    answers: SimulationStartedResponse,
    instead: { status: 200, answers: ReplayQuoteResponse },
    refuses: ['credits_exhausted', 'unknown_revision', 'nothing_to_check', 'model_not_callable', 'model_not_priced', 'queue_full'],
  })
  async start(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: SimulateAgentRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    if (!body.quote) return { simulation_id: (await this.simulations.start(scope, agentId, body)).id };
    response.status(200);
    return toQuote(await this.simulations.quote(scope, agentId, body));
  }

  @Get()
  @Operation({
    summary: 'List simulations',
    description: `Newest first, of the last 30 days. ${SEEN}`,
    answers: PageOf(SimulationResponse),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: PageQuery) {
    const hide = await this.entitlements.hidesDollars(scope.orgId);
    return toPage(await this.simulations.list(scope, agentId, query), query, (one) => toSimulation(one, hide));
  }

  @Get(':simulation_id')
  @OrgMember('rollouts', OF_CHATS)
  @Operation({ summary: 'Get a simulation with its chats', description: SEEN, answers: SimulationDetailResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('simulation_id') id: string) {
    const { simulation, chats } = await this.simulations.get(scope, agentId, id);
    return toSimulationDetail(simulation, chats, await this.entitlements.hidesDollars(scope.orgId));
  }

  @Post(':simulation_id/cancel')
  @OrgAdmin('rollouts', BY_PLAIN_AGENT)
  @Operation({
    summary: 'Cancel a simulation',
    description: 'What it has come to stays. One that is over stays as it is.',
    status: 200,
    answers: CancelSimulationResponse,
  })
  async cancel(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('simulation_id') id: string) {
    return answer(CancelSimulationResponse, await this.simulations.cancel(scope, agentId, id), { simulation_id: id });
  }
}
