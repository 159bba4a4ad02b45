import { Body, Controller, Delete, Get, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PROJECTS, SharedBlocks } from '@aps/agents';
import { PROJECT_RESOURCE_TYPES } from '@aps/contracts';
import {
  CreateProjectRequest,
  ProjectListResponse,
  ProjectResponse,
  ReorderProjectsRequest,
  UpdateProjectRequest,
  type ProjectResourceCounts,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ProjectsQueries, type ProjectView } from '../projects.queries';

const NO_RESOURCES = Object.fromEntries(PROJECT_RESOURCE_TYPES.map((type) => [type, 0])) as unknown as ProjectResourceCounts;

const toProject = (project: ProjectView): ProjectResponse =>
  answer(ProjectResponse, project, { resource_counts: { ...NO_RESOURCES, ...project.counts } });

@ApiTags('Projects')
@Controller('api/orgs/:org_id/projects')
export class ProjectsController {
  constructor(
    private readonly projects: SharedBlocks,
    private readonly queries: ProjectsQueries,
  ) {}

  @Get()
  @OrgMember('projects')
  @Operation({ summary: 'List projects', description: 'In the order that members have chosen.', answers: ProjectListResponse })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery) {
    const uncategorized_count = await this.queries.uncategorized(scope);
    return toPage(await this.queries.list(scope, query), query, toProject, { uncategorized_count });
  }

  @Post()
  @OrgAdmin('projects')
  @Idempotent()
  @Operation({
    summary: 'Create a project',
    description: 'It comes after all others.',
    answers: ProjectResponse,
    refuses: ['entitlement_required', 'slug_taken', 'unknown_reference'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateProjectRequest) {
    return toProject(await this.queries.get(scope, (await this.projects.create(scope, PROJECTS, body)).id));
  }

  @Put('reorder')
  @OrgMember('projects')
  @Operation({
    summary: 'Put projects in order',
    description: 'The named ones first, the others after them in theirs. Ids of no live project are passed over.',
  })
  async reorder(@CurrentOrg() scope: OrgScope, @Body() body: ReorderProjectsRequest) {
    await this.projects.reorder(scope, PROJECTS, body.project_ids);
  }

  @Get(':project_id')
  @OrgMember('projects')
  @Operation({ summary: 'Get a project', answers: ProjectResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('project_id') projectId: string) {
    return toProject(await this.queries.get(scope, projectId));
  }

  @Patch(':project_id')
  @OrgAdmin('projects')
  @Operation({
    summary: 'Edit a project',
    description: 'What it shares holds for the next turn of each of its agents, in chats that have begun, too.',
    answers: ProjectResponse,
    refuses: ['entitlement_required', 'slug_taken', 'unknown_reference'],
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('project_id') projectId: string, @Body() body: UpdateProjectRequest) {
    return toProject(await this.queries.get(scope, (await this.projects.update(scope, PROJECTS, projectId, body)).id));
  }

  @Delete(':project_id')
  @OrgAdmin('projects')
  @Operation({ summary: 'Delete a project', description: 'What is in it stays, in no project. What it remembers is deleted.' })
  async remove(@CurrentOrg() scope: OrgScope, @Param('project_id') projectId: string) {
    await this.projects.delete(scope, PROJECTS, projectId);
  }
}
