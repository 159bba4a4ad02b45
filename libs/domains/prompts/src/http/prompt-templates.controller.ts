import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  CreatePromptTemplateRequest,
  PromptTemplateListQuery,
  PromptTemplateResponse,
  PromptTemplateRevisionSummary,
  UpdatePromptTemplateRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { PromptsQueries } from '../prompts.queries';
import { PromptsService } from '../prompts.service';
import { toPromptTemplate, toRevisionSummary } from './prompts.convert';

const BY_TEMPLATE: AccessOptions = { params: { template_id: 'uuid_or_slug' } };

@ApiTags('Prompt templates')
@Controller('api/orgs/:org_id/prompt-templates')
export class PromptTemplatesController {
  constructor(
    private readonly prompts: PromptsService,
    private readonly queries: PromptsQueries,
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
    return (await this.prompts.revisionsOf(scope, ref)).map(toRevisionSummary);
  }
}
