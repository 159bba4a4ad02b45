import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import {
  DiscardInstructionDraftQuery,
  InstructionResponse,
  InstructionRevisionResponse,
  PublishInstructionDraftRequest,
  SaveInstructionDraftRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { InstructionsService } from '../instructions.service';
import { BY_AGENT } from './params';
import { toInstruction, toInstructionRevision } from './agents.convert';

@ApiTags('Agent instructions')
@Controller('api/orgs/:org_id/agents/:agent_id/instruction')
@OrgMember('agents', BY_AGENT)
export class AgentInstructionController {
  constructor(private readonly instructions: InstructionsService) {}

  @Get()
  @Operation({ summary: 'Get the instruction of an agent', description: 'The published one and the draft.', answers: InstructionResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string) {
    return toInstruction(await this.instructions.get(scope, agentId));
  }

  @Put('draft')
  @Operation({
    summary: 'Save the instruction draft',
    description: 'Begins a draft if there is none. Of several saves with one `base_version` exactly one succeeds.',
    answers: InstructionResponse,
    refuses: ['version_conflict'],
  })
  async saveDraft(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Body() body: SaveInstructionDraftRequest) {
    return toInstruction(await this.instructions.saveDraft(scope, agentId, body));
  }

  @Post('draft/publish')
  @OrgAdmin('agents', BY_AGENT)
  @ApiBody({ type: PublishInstructionDraftRequest, required: false })
  @Idempotent()
  @Operation({
    summary: 'Publish the instruction draft',
    description:
      'It becomes part of the next revision that is sealed. Any member may have saved another draft since it was read: with `base_version` what is published is what was read.',
    status: 200,
    answers: InstructionResponse,
    refuses: ['no_draft', 'version_conflict'],
  })
  async publish(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Body() body: PublishInstructionDraftRequest) {
    return toInstruction(await this.instructions.publish(scope, agentId, body));
  }

  @Delete('draft')
  @Operation({ summary: 'Discard the instruction draft', refuses: ['version_conflict'] })
  async discard(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: DiscardInstructionDraftQuery) {
    await this.instructions.discard(scope, agentId, query);
  }

  @Get('revisions')
  @Operation({
    summary: 'List the versions of the instruction',
    description: 'The draft first, then newest first.',
    answers: PageOf(InstructionRevisionResponse),
  })
  async revisions(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: PageQuery) {
    return toPage(await this.instructions.list(scope, agentId, query), query, toInstructionRevision);
  }
}
