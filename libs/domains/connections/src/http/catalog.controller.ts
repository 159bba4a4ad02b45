import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CatalogResponse, ConnectionResponse, MethodListResponse, StewardedConnectionResponse } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Catalog } from '../catalog/catalog';
import { ConnectionsQueries } from '../connections.queries';
import { toCard, toConnection, toMethod, toStewarded } from './connections.convert';

@ApiTags('Connections')
@Controller('api/orgs/:org_id/connections')
export class CatalogController {
  constructor(
    private readonly apps: Catalog,
    private readonly queries: ConnectionsQueries,
  ) {}

  @Get('catalog')
  @OrgMember('connections')
  @Operation({
    summary: 'List what can be connected',
    description:
      'A card for each app, and one for any tool server. What counts as connected is what the caller sees. Where the provider of managed apps does not answer, theirs are missing, and `managed_unavailable` says so.',
    answers: CatalogResponse,
  })
  async catalog(@CurrentOrg() scope: OrgScope): Promise<CatalogResponse> {
    const { cards, isIncomplete } = await this.apps.cards(scope);
    return { items: cards.map(toCard), total: cards.length, managed_unavailable: isIncomplete };
  }

  @Get('catalog/:app_key/methods')
  @OrgMember('connections', { params: { app_key: 'string' } })
  @Operation({
    summary: 'List the ways to connect an app',
    description: 'The best first.',
    answers: MethodListResponse,
    refuses: ['upstream_unavailable'],
  })
  async methods(@CurrentOrg() _scope: OrgScope, @Param('app_key') key: string): Promise<MethodListResponse> {
    return { methods: (await this.apps.methods(key)).map(toMethod) };
  }

  @Get('stewardship')
  @OrgAdmin('connections')
  @Operation({
    summary: 'List all connections there are',
    description: 'Private ones, too, without anything of how they are reached. Who sees them here may not use them for that.',
    answers: PageOf(StewardedConnectionResponse, 'StewardshipListResponse'),
  })
  async stewardship(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery) {
    return toPage(await this.queries.stewardship(scope, query), query, toStewarded);
  }

  @Get('by-slug/:slug')
  @OrgMember('connections', { params: { slug: 'slug' } })
  @Operation({ summary: 'Get a connection by its slug', answers: ConnectionResponse })
  async bySlug(@CurrentOrg() scope: OrgScope, @Param('slug') slug: string) {
    return toConnection(await this.queries.bySlug(scope, slug));
  }
}
