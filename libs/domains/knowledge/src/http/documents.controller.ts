import { Body, Controller, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  CreateKnowledgeDocumentRequest,
  KnowledgeDocumentResponse,
  KnowledgeDocumentTreeItem,
  MoveKnowledgeDocumentRequest,
  SaveKnowledgeDocumentRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { BodyLimit, Operation, PageQuery, toArray } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { KnowledgeDocuments } from '../documents.service';
import { KnowledgeQueries } from '../knowledge.queries';
import { WRITTEN_BODY } from './limits';
import { toDocument, toTreeItem } from './knowledge.convert';

@ApiTags('Knowledge')
@Controller('api/orgs/:org_id/knowledge/:kb_id/documents')
export class KnowledgeDocumentsController {
  constructor(
    private readonly documents: KnowledgeDocuments,
    private readonly queries: KnowledgeQueries,
  ) {}

  @Get()
  @OrgMember('knowledge')
  @Operation({
    summary: 'List the documents of a knowledge base',
    description: 'A flat list: `parent_id` makes it a tree, siblings are in their order.',
    answers: [KnowledgeDocumentTreeItem],
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Query() query: PageQuery) {
    return toArray(await this.queries.documents(scope, kbId, query), toTreeItem);
  }

  @Post()
  @OrgMember('knowledge')
  @Idempotent()
  @BodyLimit(WRITTEN_BODY)
  @Operation({
    summary: 'Write a document',
    description: 'Markdown, indexed as any source; one that says nothing is ready at once.',
    answers: KnowledgeDocumentResponse,
    refuses: ['unknown_reference'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Body() body: CreateKnowledgeDocumentRequest) {
    return toDocument(await this.documents.create(scope, kbId, body));
  }

  @Get(':source_id')
  @OrgMember('knowledge')
  @Operation({ summary: 'Get a document', answers: KnowledgeDocumentResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Param('source_id') id: string) {
    return toDocument(await this.queries.document(scope, kbId, id));
  }

  @Put(':source_id')
  @OrgAdmin('knowledge')
  @BodyLimit(WRITTEN_BODY)
  @Operation({
    summary: 'Save a document',
    description: 'What differs makes a new version; only another content is indexed anew.',
    answers: KnowledgeDocumentResponse,
    refuses: ['version_conflict'],
  })
  async save(
    @CurrentOrg() scope: OrgScope,
    @Param('kb_id') kbId: string,
    @Param('source_id') id: string,
    @Body() body: SaveKnowledgeDocumentRequest,
  ) {
    return toDocument(await this.documents.save(scope, kbId, id, body));
  }

  @Post(':source_id/move')
  @OrgMember('knowledge')
  @Idempotent()
  @Operation({
    summary: 'Move a document',
    description: 'What stands below it moves along. Neither its version nor what is found of it changes.',
    status: 200,
    answers: KnowledgeDocumentTreeItem,
    refuses: ['unknown_reference', 'cycle'],
  })
  async move(
    @CurrentOrg() scope: OrgScope,
    @Param('kb_id') kbId: string,
    @Param('source_id') id: string,
    @Body() body: MoveKnowledgeDocumentRequest,
  ) {
    return toTreeItem(await this.documents.move(scope, kbId, id, body));
  }
}
