import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import {
  CancelRunResponse,
  ProcessRunDetailResponse,
  ProcessRunDiagnosisResponse,
  ProcessRunEventListResponse,
  ProcessRunListQuery,
  ProcessRunListResponse,
  ProcessRunResponse,
  ReplayCheckResponse,
  RestartRunRequest,
  SignalRunRequest,
  SignalRunResponse,
  StartProcessRunRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, goneSignal, Operation, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import type { Response } from 'express';
import { RunsQueries } from '../reading/runs.queries';
import { RunReviews } from '../reviews/run-reviews.service';
import { RunControl } from '../runs/run-control.service';
import { RunStarts } from '../runs/run-starts.service';
import { BY_PROCESS } from './processes.controller';
import { toDiagnosis, toRun, toRunDetail, toRunEvent } from './runs.convert';

@ApiTags('Processes')
@OrgMember('processes', BY_PROCESS)
@Controller('api/orgs/:org_id/processes/:process_id/runs')
export class ProcessRunsController {
  constructor(
    private readonly queries: RunsQueries,
    private readonly starts: RunStarts,
    private readonly control: RunControl,
    private readonly reviews: RunReviews,
    private readonly entitlements: Entitlements,
  ) {}

  @Get()
  @Operation({ summary: 'List the runs of a process', description: 'Newest first.', answers: ProcessRunListResponse })
  async list(@CurrentOrg() scope: OrgScope, @Param('process_id') processId: string, @Query() query: ProcessRunListQuery) {
    const hideDollars = await this.entitlements.hidesDollars(scope.orgId);
    return toPage(await this.queries.list(scope, processId, query, query), query, (run) => toRun(run, hideDollars));
  }

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Run a process',
    description: 'What is deployed of it. With a known `idempotency_key` it is the run that was begun with that.',
    answers: ProcessRunResponse,
    refuses: ['concurrency_limit', 'not_deployed', 'revision_invalid', 'unknown_reference'],
  })
  async start(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Body() body: StartProcessRunRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { run, replayed } = await this.starts.start(scope, processId, body);
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    return toRun(run, await this.entitlements.hidesDollars(scope.orgId));
  }

  @Get(':run_id')
  @Operation({ summary: 'Get a run of a process', description: 'With every try of its steps.', answers: ProcessRunDetailResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('process_id') processId: string, @Param('run_id') id: string) {
    const { run, steps } = await this.queries.get(scope, processId, id);
    return toRunDetail(run, steps, await this.entitlements.hidesDollars(scope.orgId));
  }

  @Get(':run_id/events')
  @Operation({ summary: 'List what has happened in a run', description: 'Oldest first.', answers: ProcessRunEventListResponse })
  async events(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') id: string,
    @Query() query: PageQuery,
  ) {
    return toPage(await this.queries.events(scope, processId, id, query), query, toRunEvent);
  }

  @Get(':run_id/replay-check')
  @Operation({
    summary: 'Check that a run would go the same way again',
    description:
      'By the results that its journal has, and today’s code. Nothing is written, sent or spent. What is not compared within 5 s of computing is left out, and `deterministic` is false then. One at a time in an organization.',
    answers: ReplayCheckResponse,
    refuses: ['revision_invalid'],
  })
  async replayCheck(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') id: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    return answer(ReplayCheckResponse, await this.reviews.replayCheck(scope, processId, id, goneSignal(response)));
  }

  @Get(':run_id/diagnosis')
  @Operation({
    summary: 'Explain what a run waits for',
    description: 'What keeps it from going on, and what would have it go on.',
    answers: ProcessRunDiagnosisResponse,
  })
  async diagnosis(@CurrentOrg() scope: OrgScope, @Param('process_id') processId: string, @Param('run_id') id: string) {
    return toDiagnosis(await this.reviews.diagnose(scope, processId, id));
  }

  @Post(':run_id/cancel')
  @Operation({
    summary: 'Cancel a run',
    description: 'With all that it has begun and waits for. One that is over stays as it is.',
    status: 200,
    answers: CancelRunResponse,
  })
  async cancel(@CurrentOrg() scope: OrgScope, @Param('process_id') processId: string, @Param('run_id') id: string) {
    return answer(CancelRunResponse, await this.control.cancel(scope, processId, id));
  }

  @Post(':run_id/restart')
  @Idempotent()
  @Operation({
    summary: 'Run what a run was begun with again',
    description: 'On what is deployed now; the run that is over stays as it is. With `from_step` what stood before that is copied.',
    answers: ProcessRunResponse,
    refuses: ['concurrency_limit', 'not_deployed', 'revision_changed', 'revision_invalid', 'run_not_terminal', 'unknown_reference'],
  })
  async restart(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') id: string,
    @Body() body: RestartRunRequest,
  ) {
    return toRun(await this.control.restart(scope, processId, id, body), await this.entitlements.hidesDollars(scope.orgId));
  }

  @Post(':run_id/signal')
  @Idempotent()
  @Operation({
    summary: 'Tell a run that something has happened',
    description: 'One wait of that name takes it, now or when the run comes to it.',
    status: 202,
    answers: SignalRunResponse,
    refuses: ['run_terminal'],
  })
  async signal(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('run_id') id: string,
    @Body() body: SignalRunRequest,
  ) {
    return answer(SignalRunResponse, await this.control.signal(scope, processId, id, body));
  }
}
