import { Body, Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RolloutsQueries } from '@aps/agents';
import { BY_PLAIN_AGENT, toRollout } from '@aps/agents/http';
import { PromoteRequest, RolloutDetailResponse, RolloutResultsResponse, StartExperimentRequest, UpdateRolloutRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { IdempotencyAttempt, Idempotent, type Attempt } from '@aps/platform/idempotency';
import { ExperimentsService } from '../experiments.service';
import { RolloutResultsService } from '../results.service';
import { toResults } from './results.convert';

@ApiTags('Rollouts')
@Controller('api/orgs/:org_id/agents/:agent_id/rollouts')
@OrgAdmin('rollouts', BY_PLAIN_AGENT)
export class ExperimentsController {
  constructor(
    private readonly experiments: ExperimentsService,
    private readonly rollouts: RolloutsQueries,
    private readonly results: RolloutResultsService,
  ) {}

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Start an experiment',
    description:
      'New chats run on its arms from now on, each on the same one for as long as it lasts. What was in force ends: a deployment, or another experiment. Where arms name their draft, that is sealed, with the instruction that is being written; nothing is published.',
    answers: RolloutDetailResponse,
    refuses: ['experiments_disabled', 'version_conflict', 'unknown_revision', 'identical_arms', 'arm_unusable'],
  })
  async start(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: StartExperimentRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    return toRollout(await this.rollouts.get(scope, agentId, (await this.experiments.start(scope, agentId, body, attempt)).id));
  }

  @Patch(':rollout_id')
  @Operation({
    summary: 'Say what an experiment is about',
    description: 'One that has ended, too.',
    answers: RolloutDetailResponse,
    refuses: ['not_an_experiment'],
  })
  async edit(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('rollout_id') rolloutId: string,
    @Body() body: UpdateRolloutRequest,
  ) {
    return toRollout(await this.rollouts.get(scope, agentId, (await this.experiments.edit(scope, agentId, rolloutId, body)).id));
  }

  @Post(':rollout_id/promote')
  @Idempotent()
  @Operation({
    summary: 'Deploy an arm of a running experiment',
    description:
      'The experiment ends, and all new chats run on the arm. The text of a draft that was sealed for it is published. Chats that have begun stay on theirs.',
    status: 200,
    answers: RolloutDetailResponse,
    refuses: ['rollout_not_running', 'unknown_arm', 'arm_unusable'],
  })
  async promote(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('rollout_id') rolloutId: string,
    @Body() body: PromoteRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    const { id } = await this.experiments.promote(scope, agentId, rolloutId, body.arm, attempt);
    return toRollout(await this.rollouts.get(scope, agentId, id));
  }

  @Post(':rollout_id/stop')
  @Idempotent()
  @Operation({
    summary: 'Stop a running experiment',
    description: 'All new chats run on its control again, whatever has become of what that names.',
    status: 200,
    answers: RolloutDetailResponse,
    refuses: ['rollout_not_running'],
  })
  async stop(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('rollout_id') rolloutId: string,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    return toRollout(await this.rollouts.get(scope, agentId, (await this.experiments.stop(scope, agentId, rolloutId, attempt)).id));
  }

  @Get(':rollout_id/results')
  @OrgMember('rollouts', BY_PLAIN_AGENT)
  @Operation({
    summary: 'Get what a rollout has shown',
    description:
      'By arm, and against the control: what its chats came to and what they took. A chat counts when it is over: failed, closed, given up, or at rest for half an hour.',
    answers: RolloutResultsResponse,
  })
  async read(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('rollout_id') rolloutId: string) {
    return toResults(await this.results.of(scope, agentId, rolloutId));
  }
}
