import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { SLUG } from '@aps/contracts';
import { CreateSkillRequest, PutSkillRequest, SkillListQuery, SkillResponse } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { ApiPage, toPage, type Page } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { SkillsService } from '../skills.service';
import { ApiConflict, ApiOrgPath } from './params';
import { toSkill } from './texts.convert';

const BY_SLUG: AccessOptions = { params: { slug: 'slug' } };
const ApiSlug = () =>
  ApiParam({ name: 'slug', description: 'The skill.', schema: { type: 'string', maxLength: 64, pattern: SLUG.source } });

@ApiTags('Skills')
@ApiOrgPath()
@Controller('api/orgs/:org_id/skills')
export class SkillsController {
  constructor(private readonly skills: SkillsService) {}

  @Get()
  @OrgMember('agents')
  @ApiOperation({ summary: 'List skills', description: 'The organization’s own and those of the system, by slug.' })
  @ApiPage(SkillResponse)
  async list(@CurrentOrg() scope: OrgScope, @Query() query: SkillListQuery): Promise<Page<SkillResponse>> {
    const { items, total } = await this.skills.list(scope, query.q, query);
    return toPage(items.map(toSkill), total, query);
  }

  @Post()
  @OrgAdmin('agents')
  @Idempotent()
  @ApiOperation({ summary: 'Create a skill' })
  @ApiCreatedResponse({ type: SkillResponse })
  @ApiConflict('`slug_taken`')
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateSkillRequest): Promise<SkillResponse> {
    return toSkill(await this.skills.create(scope, body));
  }

  @Get(':slug')
  @OrgMember('agents', BY_SLUG)
  @ApiSlug()
  @ApiOperation({ summary: 'Get a skill' })
  @ApiOkResponse({ type: SkillResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('slug') slug: string): Promise<SkillResponse> {
    return toSkill(await this.skills.get(scope, slug));
  }

  @Put(':slug')
  @OrgAdmin('agents', BY_SLUG)
  @ApiSlug()
  @ApiOperation({ summary: 'Replace a skill', description: 'Skills of the system are read-only.' })
  @ApiOkResponse({ type: SkillResponse })
  async replace(@CurrentOrg() scope: OrgScope, @Param('slug') slug: string, @Body() body: PutSkillRequest): Promise<SkillResponse> {
    return toSkill(await this.skills.replace(scope, slug, body));
  }

  @Delete(':slug')
  @OrgAdmin('agents', BY_SLUG)
  @HttpCode(204)
  @ApiSlug()
  @ApiOperation({ summary: 'Delete a skill', description: 'Refused while agents mount it. Skills of the system are read-only.' })
  @ApiNoContentResponse()
  @ApiConflict('`skill_in_use`, with the agents that mount it')
  async remove(@CurrentOrg() scope: OrgScope, @Param('slug') slug: string): Promise<void> {
    await this.skills.delete(scope, slug);
  }
}
