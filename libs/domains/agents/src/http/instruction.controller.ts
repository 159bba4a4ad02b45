import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { InstructionResponse, InstructionRevisionResponse, SaveInstructionDraftRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { ApiPage, PageQuery, toPage, type Page } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { InstructionsService } from '../instructions.service';
import { ApiAgentPath, ApiConflict, BY_AGENT } from './params';
import { toInstruction, toInstructionRevision } from './texts.convert';

@ApiTags('Agent instructions')
@ApiAgentPath()
@Controller('api/orgs/:org_id/agents/:agent_id/instruction')
export class AgentInstructionController {
  constructor(private readonly instructions: InstructionsService) {}

  @Get()
  @OrgMember('agents', BY_AGENT)
  @ApiOperation({ summary: 'Get the instruction of an agent', description: 'The published one and the draft.' })
  @ApiOkResponse({ type: InstructionResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string): Promise<InstructionResponse> {
    return toInstruction(await this.instructions.get(scope, agentId));
  }

  @Put('draft')
  @OrgMember('agents', BY_AGENT)
  @ApiOperation({
    summary: 'Save the instruction draft',
    description: 'Begins a draft if there is none. Of several saves with one `base_version` exactly one succeeds.',
  })
  @ApiOkResponse({ type: InstructionResponse })
  @ApiConflict('`version_conflict`, with `current_version`')
  async saveDraft(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: SaveInstructionDraftRequest,
  ): Promise<InstructionResponse> {
    return toInstruction(await this.instructions.saveDraft(scope, agentId, body));
  }

  @Post('draft/publish')
  @OrgAdmin('agents', BY_AGENT)
  @Idempotent()
  @HttpCode(200)
  @ApiOperation({ summary: 'Publish the instruction draft', description: 'It becomes part of the next revision that is sealed.' })
  @ApiOkResponse({ type: InstructionResponse })
  @ApiConflict('`no_draft`')
  async publish(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string): Promise<InstructionResponse> {
    return toInstruction(await this.instructions.publish(scope, agentId));
  }

  @Delete('draft')
  @OrgMember('agents', BY_AGENT)
  @HttpCode(204)
  @ApiOperation({ summary: 'Discard the instruction draft' })
  @ApiNoContentResponse()
  async discard(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string): Promise<void> {
    await this.instructions.discard(scope, agentId);
  }

  @Get('revisions')
  @OrgMember('agents', BY_AGENT)
  @ApiOperation({ summary: 'List the versions of the instruction', description: 'The draft first, then newest first.' })
  @ApiPage(InstructionRevisionResponse)
  async revisions(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Query() query: PageQuery,
  ): Promise<Page<InstructionRevisionResponse>> {
    const { items, total } = await this.instructions.list(scope, agentId, query);
    return toPage(items.map(toInstructionRevision), total, query);
  }
}
