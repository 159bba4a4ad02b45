import { Body, Controller, Delete, Get, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import {
  CreatePromptTemplateRequest,
  PromptDoneFrame,
  PromptExtractingFrame,
  PromptPostProcessingFrame,
  PromptResultFrame,
  PromptRunError,
  PromptTemplateListQuery,
  PromptTemplateResponse,
  PromptTemplateRevisionSummary,
  PromptTemplateRunResponse,
  PromptTokenFrame,
  TestPromptTemplateRequest,
  UpdatePromptTemplateRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { answer, BodyLimit, frames, FrameStream, Operation, PageOf, PageQuery, toArray, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { OpenStreams, RateLimit } from '@aps/platform/rate-limit';
import type { Response } from 'express';
import { PromptRunner, type PromptFrame } from '../prompt-runner';
import { PromptsQueries } from '../prompts.queries';
import { PromptsService } from '../prompts.service';
import { toFrame, toPromptTemplate, toRun } from './prompts.convert';

const BY_TEMPLATE: AccessOptions = { params: { template_id: 'uuid_or_slug' } };

@ApiTags('Prompt templates')
@Controller('api/orgs/:org_id/prompt-templates')
export class PromptTemplatesController {
  constructor(
    private readonly prompts: PromptsService,
    private readonly queries: PromptsQueries,
    private readonly runner: PromptRunner,
    private readonly entitlements: Entitlements,
    private readonly openStreams: OpenStreams,
  ) {}

  @Get()
  @OrgMember('prompts')
  @Operation({ summary: 'List prompt templates', description: 'Newest first.', answers: PageOf(PromptTemplateResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PromptTemplateListQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toPromptTemplate);
  }

  @Post()
  @OrgAdmin('prompts')
  @Idempotent()
  @Operation({
    summary: 'Create a prompt template',
    description: 'With `fields` it extracts them from a text or a file, without it answers in plain text.',
    answers: PromptTemplateResponse,
    refuses: ['entitlement_required', 'model_unknown', 'model_not_allowed', 'slug_taken'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreatePromptTemplateRequest) {
    return toPromptTemplate(await this.prompts.create(scope, body));
  }

  @Get(':template_id')
  @OrgMember('prompts', BY_TEMPLATE)
  @Operation({ summary: 'Get a prompt template', answers: PromptTemplateResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('template_id') ref: string) {
    return toPromptTemplate(await this.queries.get(scope, ref));
  }

  @Put(':template_id')
  @OrgAdmin('prompts', BY_TEMPLATE)
  @Operation({
    summary: 'Change a prompt template',
    description: 'A text, fields or instructions that differ from what they were make a new revision. A new name keeps the slug.',
    answers: PromptTemplateResponse,
    refuses: ['entitlement_required', 'model_unknown', 'model_not_allowed'],
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('template_id') ref: string, @Body() body: UpdatePromptTemplateRequest) {
    return toPromptTemplate(await this.prompts.update(scope, ref, body));
  }

  @Delete(':template_id')
  @OrgAdmin('prompts', BY_TEMPLATE)
  @Operation({ summary: 'Delete a prompt template' })
  remove(@CurrentOrg() scope: OrgScope, @Param('template_id') ref: string) {
    return this.prompts.delete(scope, ref);
  }

  @Get(':template_id/revisions')
  @OrgMember('prompts', BY_TEMPLATE)
  @Operation({ summary: 'List the revisions of a prompt template', description: 'Newest first.', answers: [PromptTemplateRevisionSummary] })
  async revisions(@CurrentOrg() scope: OrgScope, @Param('template_id') ref: string) {
    return (await this.queries.revisionsOf(scope, ref)).map((revision) => answer(PromptTemplateRevisionSummary, revision));
  }

  @Post(':template_id/test')
  @OrgAdmin('prompts', BY_TEMPLATE)
  @RateLimit('prompt_test')
  @BodyLimit(8 * 1024 * 1024)
  @Operation({
    summary: 'Test a prompt template',
    description:
      'Runs it and answers as a stream. A plain template sends `token` for each piece of the answer and then `done`; a structured one `extracting`, `result`, `post_processing` and `done`. ' +
      'The last event is `done` or `error`. What is refused is answered before the stream begins; a client that goes ends the run.',
    status: 200,
    answers: frames({
      token: PromptTokenFrame,
      extracting: PromptExtractingFrame,
      result: PromptResultFrame,
      post_processing: PromptPostProcessingFrame,
      done: PromptDoneFrame,
      error: PromptRunError,
    }),
    refuses: [
      'entitlement_required',
      'plan_mismatch',
      'credits_exhausted',
      'model_unknown',
      'model_not_allowed',
      'model_not_callable',
      'model_not_priced',
      'template_empty',
      'input_missing',
      'missing_variables',
      'prompt_too_long',
      'address_refused',
      'input_url_failed',
      'unsupported_media',
      'unknown_reference',
    ],
  })
  async test(
    @CurrentOrg() scope: OrgScope,
    @Param('template_id') ref: string,
    @Body() body: TestPromptTemplateRequest,
    @Res() response: Response,
  ) {
    await this.openStreams.admit(scope.userId, response);
    const stream = new FrameStream(response);
    const prepared = await this.runner.prepare(scope, ref, body, stream.signal);
    const hideDollars = await this.entitlements.hidesDollars(scope.orgId);
    const tell = (frame: PromptFrame) => stream.send(frame.event, toFrame(frame, hideDollars));
    await this.runner.run(scope, prepared, { source: 'test', signal: stream.signal, tell });
    stream.end();
  }

  @Get(':template_id/runs')
  @OrgMember('prompts', BY_TEMPLATE)
  @Operation({ summary: 'List the runs of a prompt template', description: 'Newest first.', answers: [PromptTemplateRunResponse] })
  async runs(@CurrentOrg() scope: OrgScope, @Param('template_id') ref: string, @Query() query: PageQuery) {
    const hideDollars = await this.entitlements.hidesDollars(scope.orgId);
    return toArray(await this.runner.runsOf(scope, ref, query), (run) => toRun(run, hideDollars));
  }
}
