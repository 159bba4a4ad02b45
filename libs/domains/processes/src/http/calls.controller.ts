import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import {
  ProcessAgentCallDetailResponse,
  ProcessAgentCallListResponse,
  ProcessLlmCallDetailResponse,
  ProcessLlmCallListResponse,
  ProcessRepairCallDetailResponse,
  ProcessRepairCallListResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageQuery, toPage } from '@aps/platform/http';
import { CallsQueries } from '../reading/calls.queries';
import { BY_PROCESS } from './processes.controller';
import { toAgentCall, toAgentCallDetail, toLlmCall, toLlmCallDetail, toRepair, toRepairDetail } from './runs.convert';

@ApiTags('Processes')
@OrgMember('processes', BY_PROCESS)
@Controller('api/orgs/:org_id/processes/:process_id/runs/:run_id')
export class ProcessCallsController {
  constructor(
    private readonly calls: CallsQueries,
    private readonly entitlements: Entitlements,
  ) {}

  @Get('llm-calls')
  @Operation({
    summary: 'List the model calls of a run',
    description: 'Oldest first, without what was said.',
    answers: ProcessLlmCallListResponse,
  })
  async llmCalls(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') runId: string,
    @Query() query: PageQuery,
  ) {
    const hideDollars = await this.entitlements.hidesDollars(scope.orgId);
    return toPage(await this.calls.llmCalls(scope, processId, runId, query), query, (call) => toLlmCall(call, hideDollars));
  }

  @Get('llm-calls/:call_id')
  @Operation({ summary: 'Get a model call of a run', answers: ProcessLlmCallDetailResponse })
  async llmCall(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') runId: string,
    @Param('call_id') id: string,
  ) {
    return toLlmCallDetail(await this.calls.llmCall(scope, processId, runId, id), await this.entitlements.hidesDollars(scope.orgId));
  }

  @Get('agent-calls')
  @Operation({
    summary: 'List the turns of agents in a run',
    description: 'Oldest first, with those that drew an output out of what an agent had said.',
    answers: ProcessAgentCallListResponse,
  })
  async agentCalls(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') runId: string,
    @Query() query: PageQuery,
  ) {
    const hideDollars = await this.entitlements.hidesDollars(scope.orgId);
    return toPage(await this.calls.agentCalls(scope, processId, runId, query), query, (call) => toAgentCall(call, hideDollars));
  }

  @Get('agent-calls/:call_id')
  @Operation({ summary: 'Get a turn of an agent in a run', answers: ProcessAgentCallDetailResponse })
  async agentCall(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') runId: string,
    @Param('call_id') id: string,
  ) {
    return toAgentCallDetail(await this.calls.agentCall(scope, processId, runId, id), await this.entitlements.hidesDollars(scope.orgId));
  }

  @Get('repairs')
  @Operation({
    summary: 'List the repairs of a run',
    description: 'Oldest first: what models have changed of arguments that a tool had refused, without what was said.',
    answers: ProcessRepairCallListResponse,
  })
  async repairs(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') runId: string,
    @Query() query: PageQuery,
  ) {
    const hideDollars = await this.entitlements.hidesDollars(scope.orgId);
    return toPage(await this.calls.repairs(scope, processId, runId, query), query, (repair) => toRepair(repair, hideDollars));
  }

  @Get('repairs/:call_id')
  @Operation({ summary: 'Get a repair of a run', answers: ProcessRepairCallDetailResponse })
  async repair(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') runId: string,
    @Param('call_id') id: string,
  ) {
    return toRepairDetail(await this.calls.repair(scope, processId, runId, id), await this.entitlements.hidesDollars(scope.orgId));
  }
}
