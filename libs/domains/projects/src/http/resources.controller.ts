import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { connectionId, type ProjectResourceType } from '@aps/contracts';
import { AddResourcesRequest, AddResourcesResponse, ProjectResourceResponse } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ProjectsQueries, type ResourceView } from '../projects.queries';
import { ProjectResources } from '../resources.service';

const toResource = (resource: ResourceView): ProjectResourceResponse =>
  answer(ProjectResourceResponse, resource, {
    entity_id: resource.entity_type === 'connection' ? connectionId(resource.entity_id) : resource.entity_id,
  });

@ApiTags('Projects')
@Controller('api/orgs/:org_id/projects/:project_id/resources')
export class ProjectResourcesController {
  constructor(
    private readonly resources: ProjectResources,
    private readonly queries: ProjectsQueries,
  ) {}

  @Get()
  @OrgMember('projects')
  @Operation({
    summary: 'List what is in a project',
    description: "What came last is first. Others' private connections are neither listed nor counted.",
    answers: PageOf(ProjectResourceResponse, 'ProjectResourcesResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('project_id') projectId: string, @Query() query: PageQuery) {
    return toPage(await this.queries.resources(scope, projectId, query), query, toResource);
  }

  @Post()
  @OrgAdmin('projects')
  @Idempotent()
  @Operation({
    summary: 'Put resources into a project',
    description:
      "All of them or none; what is in another project leaves that. Skills of the system belong to nobody, and others' private connections are not there.",
    status: 200,
    answers: AddResourcesResponse,
    refuses: ['unknown_reference'],
  })
  add(
    @CurrentOrg() scope: OrgScope,
    @Param('project_id') projectId: string,
    @Body() body: AddResourcesRequest,
  ): Promise<AddResourcesResponse> {
    return this.resources.add(scope, projectId, body.resources);
  }

  @Delete(':entity_type/:entity_id')
  @OrgAdmin('projects', { params: { entity_type: 'resource_type', entity_id: 'resource_id' } })
  @Operation({ summary: 'Take a resource out of a project' })
  async remove(
    @CurrentOrg() scope: OrgScope,
    @Param('project_id') projectId: string,
    @Param('entity_type') entity_type: ProjectResourceType,
    @Param('entity_id') entity_id: string,
  ) {
    await this.resources.remove(scope, projectId, { entity_type, entity_id });
  }
}
