import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateKnowledgeBaseRequest, KnowledgeBaseListQuery, KnowledgeBaseResponse, UpdateKnowledgeBaseRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { KnowledgeBases } from '../bases.service';
import { KnowledgeQueries, type KnowledgeBaseView } from '../knowledge.queries';

const toBase = (base: KnowledgeBaseView): KnowledgeBaseResponse => answer(KnowledgeBaseResponse, base);

@ApiTags('Knowledge')
@Controller('api/orgs/:org_id/knowledge')
export class KnowledgeBasesController {
  constructor(
    private readonly bases: KnowledgeBases,
    private readonly queries: KnowledgeQueries,
  ) {}

  @Get()
  @OrgMember('knowledge')
  @Operation({ summary: 'List knowledge bases', description: 'Newest first.', answers: PageOf(KnowledgeBaseResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: KnowledgeBaseListQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toBase);
  }

  @Post()
  @OrgAdmin('knowledge')
  @Idempotent()
  @Operation({ summary: 'Create a knowledge base', answers: KnowledgeBaseResponse, refuses: ['slug_taken'] })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateKnowledgeBaseRequest) {
    return toBase(await this.bases.create(scope, body));
  }

  @Get(':kb_id')
  @OrgMember('knowledge')
  @Operation({ summary: 'Get a knowledge base', answers: KnowledgeBaseResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('kb_id') id: string) {
    return toBase(await this.queries.get(scope, id));
  }

  @Patch(':kb_id')
  @OrgAdmin('knowledge')
  @Operation({ summary: 'Rename or describe a knowledge base', description: 'A new name keeps the slug.', answers: KnowledgeBaseResponse })
  async update(@CurrentOrg() scope: OrgScope, @Param('kb_id') id: string, @Body() body: UpdateKnowledgeBaseRequest) {
    return toBase(await this.bases.update(scope, id, body));
  }

  @Delete(':kb_id')
  @OrgAdmin('knowledge')
  @Operation({
    summary: 'Delete a knowledge base',
    description:
      'Nothing in it is found or opened any more. Agents that name it go on without it. Until 30 days later (or what else `KNOWLEDGE_BASE_ERASURE_DAYS` says) all of it is still stored, then its texts, pieces and files are erased for good. To have a source erased at once, delete that before.',
  })
  remove(@CurrentOrg() scope: OrgScope, @Param('kb_id') id: string) {
    return this.bases.delete(scope, id);
  }
}
