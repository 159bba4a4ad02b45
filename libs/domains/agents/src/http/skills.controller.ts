import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateSkillRequest, PutSkillRequest, SkillListQuery, SkillResponse } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { SkillsService } from '../skills.service';
import { toSkill } from './agents.convert';

const BY_SLUG: AccessOptions = { params: { slug: 'slug' } };

@ApiTags('Skills')
@Controller('api/orgs/:org_id/skills')
export class SkillsController {
  constructor(private readonly skills: SkillsService) {}

  @Get()
  @OrgMember('agents')
  @Operation({
    summary: 'List skills',
    description: 'The organization’s own and those of the system, by slug.',
    answers: PageOf(SkillResponse),
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: SkillListQuery) {
    return toPage(await this.skills.list(scope, query, query), query, toSkill);
  }

  @Post()
  @OrgAdmin('agents')
  @Idempotent()
  @Operation({ summary: 'Create a skill', answers: SkillResponse, refuses: ['slug_taken', 'unknown_reference'] })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateSkillRequest) {
    return toSkill(await this.skills.create(scope, body));
  }

  @Get(':slug')
  @OrgMember('agents', BY_SLUG)
  @Operation({ summary: 'Get a skill', answers: SkillResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('slug') slug: string) {
    return toSkill(await this.skills.get(scope, slug));
  }

  @Put(':slug')
  @OrgAdmin('agents', BY_SLUG)
  @Operation({
    summary: 'Replace a skill',
    description: 'Skills of the system are read-only.',
    answers: SkillResponse,
    refuses: ['read_only', 'unknown_reference'],
  })
  async replace(@CurrentOrg() scope: OrgScope, @Param('slug') slug: string, @Body() body: PutSkillRequest) {
    return toSkill(await this.skills.replace(scope, slug, body));
  }

  @Delete(':slug')
  @OrgAdmin('agents', BY_SLUG)
  @Operation({
    summary: 'Delete a skill',
    description: 'Refused while agents, teams or projects mount it. Skills of the system are read-only.',
    refuses: ['read_only', 'skill_in_use'],
  })
  async remove(@CurrentOrg() scope: OrgScope, @Param('slug') slug: string) {
    await this.skills.delete(scope, slug);
  }
}
