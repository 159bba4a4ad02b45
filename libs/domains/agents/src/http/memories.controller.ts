import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AgentMemoryResponse, CreateMemoryRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { MemoriesService } from '../memories.service';
import { BY_AGENT } from './params';
import { toMemory } from './agents.convert';

@ApiTags('Agent memories')
@Controller('api/orgs/:org_id/agents/:agent_id/memories')
export class AgentMemoriesController {
  constructor(private readonly memories: MemoriesService) {}

  @Get()
  @OrgMember('agents', BY_AGENT)
  @Operation({ summary: 'List the memories of an agent', description: 'Newest first.', answers: PageOf(AgentMemoryResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: PageQuery) {
    return toPage(await this.memories.pageOfAgent(scope, agentId, query), query, toMemory);
  }

  @Post()
  @OrgAdmin('agents', BY_AGENT)
  @Idempotent()
  @Operation({ summary: 'Give an agent a memory', answers: AgentMemoryResponse })
  async add(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Body() body: CreateMemoryRequest) {
    return toMemory(await this.memories.addToAgent(scope, agentId, body.content));
  }

  @Delete(':memory_id')
  @OrgAdmin('agents', BY_AGENT)
  @Operation({ summary: 'Delete a memory of an agent' })
  async remove(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('memory_id') memoryId: string) {
    await this.memories.removeFromAgent(scope, agentId, memoryId);
  }
}
