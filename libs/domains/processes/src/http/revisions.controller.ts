import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  DeployResponse,
  ProcessRevisionResponse,
  ProcessSimulationResponse,
  PushProcessRevisionRequest,
  SimulateProcessRevisionRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, goneSignal, Operation, toArray } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import type { Response } from 'express';
import { RunReviews } from '../reviews/run-reviews.service';
import { ProcessRevisions } from '../revisions/revisions.service';
import { toDeployment, toRevision } from './processes.convert';
import { BY_PROCESS } from './processes.controller';

@ApiTags('Processes')
@Controller('api/orgs/:org_id/processes/:process_id/revisions')
export class ProcessRevisionsController {
  constructor(
    private readonly revisions: ProcessRevisions,
    private readonly reviews: RunReviews,
  ) {}

  @Get()
  @OrgMember('processes', BY_PROCESS)
  @Operation({ summary: 'List the revisions of a process', description: 'Newest version first.', answers: [ProcessRevisionResponse] })
  async list(@CurrentOrg() scope: OrgScope, @Param('process_id') processId: string) {
    return toArray(await this.revisions.list(scope, processId), toRevision);
  }

  @Post()
  @OrgAdmin('processes', BY_PROCESS)
  @Idempotent()
  @Operation({
    summary: 'Push a revision of a process',
    description:
      'Makes a draft. What the newest revision says already, SOP included, is not written again, with 200. Every problem of the definition is told at once: by step, field, and what would do.',
    status: [201, 200],
    answers: ProcessRevisionResponse,
    refuses: ['revision_invalid'],
  })
  async push(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Body() body: PushProcessRevisionRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { revision, created } = await this.revisions.push(scope, processId, body);
    response.status(created ? 201 : 200);
    return toRevision(revision);
  }

  @Post(':revision_id/deploy')
  @OrgAdmin('processes', BY_PROCESS)
  @Idempotent()
  @Operation({
    summary: 'Deploy a revision of a process',
    description:
      'A draft becomes what new runs do, once all that it names is there; what was deployed is archived, and can be deployed again. Runs that have begun go on as they were. Deploying what is deployed changes nothing, unless the process is stale: then all that it names is looked at and pinned anew.',
    status: 200,
    answers: DeployResponse,
    refuses: ['entitlement_required', 'revision_invalid'],
  })
  async deploy(@CurrentOrg() scope: OrgScope, @Param('process_id') processId: string, @Param('revision_id') id: string) {
    return toDeployment(await this.revisions.deploy(scope, processId, id));
  }

  @Post(':revision_id/simulate')
  @OrgMember('processes', BY_PROCESS)
  @Operation({
    summary: 'Try a revision of a process',
    description:
      'On an input, or on a run that was: what that run has answered is taken where a step is given the same, what follows from the definition is computed, and all else is made up to fit its schema. Nothing is written, sent or spent. What takes more than 5 s to compute ends there, `running` and with the error `timeout`. One at a time in an organization.',
    status: 200,
    answers: ProcessSimulationResponse,
    refuses: ['revision_invalid'],
  })
  async simulate(
    @CurrentOrg() scope: OrgScope,
    @Param('process_id') processId: string,
    @Param('revision_id') id: string,
    @Body() body: SimulateProcessRevisionRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    return answer(ProcessSimulationResponse, await this.reviews.simulate(scope, processId, id, body, goneSignal(response)));
  }
}
