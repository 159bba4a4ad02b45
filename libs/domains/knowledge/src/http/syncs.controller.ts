import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateSyncConfigRequest, RemoteCollectionResponse, SyncConfigResponse, SyncStats } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageQuery, toArray } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import type { Collection } from '../syncs/collections.policy';
import { SyncsQueries, type SyncView } from '../syncs/syncs.queries';
import { KnowledgeSyncs } from '../syncs/syncs.service';

const toSync = (sync: SyncView): SyncConfigResponse =>
  answer(SyncConfigResponse, sync, {
    integration_id: sync.connection_id,
    status: sync.state,
    last_error: sync.problem,
    stats: answer(SyncStats, sync),
  });

const toCollection = ({ id, resources }: Collection): RemoteCollectionResponse => ({
  ...{ id, name: id, kind: 'resources', parent_id: null, item_count: resources.length },
});

@ApiTags('Knowledge')
@Controller('api/orgs/:org_id/knowledge')
@OrgMember('knowledge')
export class KnowledgeSyncsController {
  constructor(
    private readonly syncs: KnowledgeSyncs,
    private readonly queries: SyncsQueries,
  ) {}

  @Get(':kb_id/sync-configs')
  @Operation({ summary: 'List what a base keeps up with', description: 'Newest first.', answers: [SyncConfigResponse] })
  async list(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Query() query: PageQuery) {
    return toArray(await this.queries.list(scope, kbId, query), toSync);
  }

  @Post(':kb_id/sync-configs')
  @Idempotent()
  @Operation({
    summary: 'Have a base keep up with a collection of a connection',
    description:
      'Each of its resources becomes a source. The base is compared with it at once, and every hour: what is new is added, what reads otherwise than before is indexed anew, what is gone is deleted. ' +
      'What comes by a private connection is found by everybody who reads the base; only its owner may set that up.',
    answers: SyncConfigResponse,
    refuses: ['already_synced', 'unknown_reference', 'not_knowledge_capable', 'reconnect_required', 'upstream_unavailable'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Body() body: CreateSyncConfigRequest) {
    return toSync(await this.syncs.create(scope, kbId, body));
  }

  @Delete(':kb_id/sync-configs/:config_id')
  @Operation({
    summary: 'Keep up with a collection no more',
    description: 'The sources that came by it are deleted, with all that is found of them.',
  })
  remove(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Param('config_id') id: string) {
    return this.syncs.delete(scope, kbId, id);
  }

  @Post(':kb_id/sync-configs/:config_id/sync')
  @Idempotent()
  @Operation({
    summary: 'Compare a base with a collection now',
    description: 'One that is being compared already, and one that is paused, is answered as it is.',
    status: 200,
    answers: SyncConfigResponse,
  })
  async sync(@CurrentOrg() scope: OrgScope, @Param('kb_id') kbId: string, @Param('config_id') id: string) {
    return toSync(await this.syncs.sync(scope, kbId, id));
  }

  @Get('integrations/:integration_id/collections')
  @OrgMember('knowledge', { params: { integration_id: 'resource_id' } })
  @Operation({
    summary: 'List what a connection has for bases to keep up with',
    description: 'Its server is asked: resources of one scheme and one authority are a collection.',
    answers: [RemoteCollectionResponse],
    refuses: ['not_knowledge_capable', 'reconnect_required', 'upstream_unavailable'],
  })
  async collections(@CurrentOrg() scope: OrgScope, @Param('integration_id') id: string) {
    return (await this.syncs.collections(scope, id)).map(toCollection);
  }
}
