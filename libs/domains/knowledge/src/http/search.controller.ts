import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SearchRequest, SearchResponse, SearchResult } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { KnowledgeQueries } from '../knowledge.queries';
import { KnowledgeSearch } from '../search/search.service';

const DEFAULT_LIMIT = 10;
const DESCRIPTION =
  'The best pieces first: those with more of the words, and with rarer ones, those of titles and headings above all. A piece need not have all of them.';

@ApiTags('Knowledge')
@Controller('api/orgs/:org_id/knowledge')
@OrgMember('knowledge', { reads: true })
export class KnowledgeSearchController {
  constructor(
    private readonly knowledge: KnowledgeSearch,
    private readonly queries: KnowledgeQueries,
  ) {}

  @Post('search')
  @Operation({ summary: 'Search all knowledge bases', description: DESCRIPTION, status: 200, answers: SearchResponse })
  search(@CurrentOrg() scope: OrgScope, @Body() body: SearchRequest) {
    return this.found(scope, null, body);
  }

  @Post(':kb_id/search')
  @Operation({ summary: 'Search a knowledge base', description: DESCRIPTION, status: 200, answers: SearchResponse })
  async searchOne(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Body() body: SearchRequest) {
    const { id } = await this.queries.get(scope, kbId);
    return this.found(scope, [id], body);
  }

  private async found(scope: OrgScope, kbIds: string[] | null, { query, limit = DEFAULT_LIMIT }: SearchRequest): Promise<SearchResponse> {
    const began = performance.now();
    const { mode, hits } = await this.knowledge.search(scope, kbIds, query, limit);
    const results = hits.map((hit) => answer(SearchResult, hit));
    return { query, mode, results, took_ms: Math.round(performance.now() - began) };
  }
}
