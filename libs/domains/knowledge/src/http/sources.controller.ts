import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AddFileSourcesRequest,
  AddTextSourceRequest,
  AddUrlSourceRequest,
  ChunkListResponse,
  KnowledgeChunk,
  KnowledgeSourceDiagnosisResponse,
  KnowledgeSourceResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, BodyLimit, Operation, PageQuery, toArray, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { SourceDiagnoses } from '../diagnosis/diagnosis.queries';
import { KnowledgeQueries } from '../knowledge.queries';
import { KnowledgeSources } from '../sources.service';
import { WRITTEN_BODY } from './limits';
import { toDiagnosis, toSource } from './knowledge.convert';

@ApiTags('Knowledge')
@Controller('api/orgs/:org_id/knowledge/:kb_id/sources')
@OrgMember('knowledge')
export class KnowledgeSourcesController {
  constructor(
    private readonly sources: KnowledgeSources,
    private readonly queries: KnowledgeQueries,
    private readonly diagnoses: SourceDiagnoses,
  ) {}

  @Get()
  @Operation({
    summary: 'List the sources of a knowledge base',
    description: 'Newest first, documents too.',
    answers: [KnowledgeSourceResponse],
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Query() query: PageQuery) {
    return toArray(await this.queries.sources(scope, kbId, query), toSource);
  }

  @Post('text')
  @Idempotent()
  @BodyLimit(WRITTEN_BODY)
  @Operation({ summary: 'Add a text', description: 'It is found when it has been indexed.', answers: KnowledgeSourceResponse })
  async addText(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Body() body: AddTextSourceRequest) {
    return toSource(await this.sources.addText(scope, kbId, body));
  }

  @Post('file')
  @Idempotent()
  @Operation({
    summary: 'Add files',
    description: 'A source of each, in their order, all of them or none. They are kept as long as their sources.',
    answers: [KnowledgeSourceResponse],
    refuses: ['unknown_reference'],
  })
  async addFiles(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Body() { file_refs }: AddFileSourcesRequest) {
    return (await this.sources.addFiles(scope, kbId, file_refs)).map(toSource);
  }

  @Post('url')
  @Idempotent()
  @Operation({
    summary: 'Add what stands at an address',
    description:
      'It is fetched when it is indexed, and again with each `resync`. It is called as the page calls itself once that was read.',
    answers: KnowledgeSourceResponse,
    refuses: ['address_refused'],
  })
  async addUrl(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Body() body: AddUrlSourceRequest) {
    return toSource(await this.sources.addUrl(scope, kbId, body));
  }

  @Delete(':source_id')
  @Operation({
    summary: 'Delete a source',
    description: 'What is found of it is gone at once. What stands below a document stands where that stood.',
  })
  remove(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Param('source_id') id: string) {
    return this.sources.delete(scope, kbId, id);
  }

  @Get(':source_id/chunks')
  @Operation({ summary: 'List the pieces of a source', description: 'In their order.', answers: ChunkListResponse })
  async chunks(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Param('source_id') id: string, @Query() query: PageQuery) {
    return toPage(await this.queries.chunksOf(scope, kbId, id, query), query, (chunk) => answer(KnowledgeChunk, chunk));
  }

  @Get(':source_id/diagnosis')
  @Operation({
    summary: 'Explain what a source waits for',
    description: 'What keeps it from being indexed, who is at work on it, and what would have it go on.',
    answers: KnowledgeSourceDiagnosisResponse,
  })
  async diagnosis(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Param('source_id') id: string) {
    return toDiagnosis(await this.diagnoses.of(scope, kbId, id));
  }

  @Post(':source_id/resync')
  @Idempotent()
  @Operation({
    summary: 'Index a source anew',
    description: 'Documents, texts and files from what is kept, all others fetched anew. What was found before is found until then.',
    status: 200,
    answers: KnowledgeSourceResponse,
  })
  async resync(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Param('source_id') id: string) {
    return toSource(await this.sources.resync(scope, kbId, id));
  }
}
