import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AgentMemoryResponse, CreateMemoryRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { MemoriesService } from '../memories.service';
import { BY_AGENT, BY_TEAM } from './params';
import { toMemory } from './agents.convert';

@ApiTags('Agent memories')
@Controller('api/orgs/:org_id/agents/:agent_id/memories')
export class AgentMemoriesController {
  constructor(private readonly memories: MemoriesService) {}

  @Get()
  @OrgMember('agents', BY_AGENT)
  @Operation({ summary: 'List the memories of an agent', description: 'Newest first.', answers: PageOf(AgentMemoryResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: PageQuery) {
    return toPage(await this.memories.page(scope, 'agent', agentId, query), query, toMemory);
  }

  @Post()
  @OrgAdmin('agents', BY_AGENT)
  @Idempotent()
  @Operation({ summary: 'Give an agent a memory', answers: AgentMemoryResponse })
  async add(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Body() body: CreateMemoryRequest) {
    return toMemory(await this.memories.give(scope, agentId, body.content));
  }

  @Delete(':memory_id')
  @OrgAdmin('agents', BY_AGENT)
  @Operation({ summary: 'Delete a memory of an agent' })
  async remove(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('memory_id') memoryId: string) {
    await this.memories.remove(scope, 'agent', agentId, memoryId);
  }
}

@ApiTags('Agent teams')
@Controller('api/orgs/:org_id/agent-teams/:team_id/memories')
export class TeamMemoriesController {
  constructor(private readonly memories: MemoriesService) {}

  @Get()
  @OrgMember('teams', BY_TEAM)
  @Operation({
    summary: 'List the memories of a team',
    description: 'Newest first.',
    answers: PageOf(AgentMemoryResponse, 'TeamMemoryListResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('team_id') teamId: string, @Query() query: PageQuery) {
    return toPage(await this.memories.page(scope, 'team', teamId, query), query, toMemory);
  }

  @Post()
  @OrgAdmin('teams', BY_TEAM)
  @Idempotent()
  @Operation({
    summary: 'Give a team a memory',
    description: 'Its agents are told of it.',
    answers: AgentMemoryResponse,
    refuses: ['entitlement_required'],
  })
  async add(@CurrentOrg() scope: OrgScope, @Param('team_id') teamId: string, @Body() body: CreateMemoryRequest) {
    return toMemory(await this.memories.share(scope, 'team', teamId, body.content));
  }

  @Delete(':memory_id')
  @OrgAdmin('teams', BY_TEAM)
  @Operation({ summary: 'Delete a memory of a team' })
  async remove(@CurrentOrg() scope: OrgScope, @Param('team_id') teamId: string, @Param('memory_id') memoryId: string) {
    await this.memories.remove(scope, 'team', teamId, memoryId);
  }
}

@ApiTags('Projects')
@Controller('api/orgs/:org_id/projects/:project_id/memories')
export class ProjectMemoriesController {
  constructor(private readonly memories: MemoriesService) {}

  @Get()
  @OrgMember('projects')
  @Operation({
    summary: 'List the memories of a project',
    description: 'Newest first.',
    answers: PageOf(AgentMemoryResponse, 'ProjectMemoryListResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('project_id') projectId: string, @Query() query: PageQuery) {
    return toPage(await this.memories.page(scope, 'project', projectId, query), query, toMemory);
  }

  @Post()
  @OrgAdmin('projects')
  @Idempotent()
  @Operation({
    summary: 'Give a project a memory',
    description: 'Its agents, and those of its teams, are told of it.',
    answers: AgentMemoryResponse,
    refuses: ['entitlement_required'],
  })
  async add(@CurrentOrg() scope: OrgScope, @Param('project_id') projectId: string, @Body() body: CreateMemoryRequest) {
    return toMemory(await this.memories.share(scope, 'project', projectId, body.content));
  }

  @Delete(':memory_id')
  @OrgAdmin('projects')
  @Operation({ summary: 'Delete a memory of a project' })
  async remove(@CurrentOrg() scope: OrgScope, @Param('project_id') projectId: string, @Param('memory_id') memoryId: string) {
    await this.memories.remove(scope, 'project', projectId, memoryId);
  }
}
