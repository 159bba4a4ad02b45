import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateInboxRequest, InboxListQuery, InboxResponse, UpdateInboxRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { InboxesQueries } from '../inboxes.queries';
import { InboxesService } from '../inboxes.service';
import { toInbox } from './inboxes.convert';

export const BY_INBOX: AccessOptions = { params: { inbox_id: 'prefixed_id' } };

@ApiTags('Inboxes')
@Controller('api/orgs/:org_id/inboxes')
export class InboxesController {
  constructor(
    private readonly inboxes: InboxesService,
    private readonly queries: InboxesQueries,
  ) {}

  @Get()
  @OrgMember('inboxes')
  @Operation({
    summary: 'List inboxes',
    description: 'Newest first, each with its channels and what came in the last 24 hours.',
    answers: PageOf(InboxResponse),
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: InboxListQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toInbox);
  }

  @Post()
  @OrgAdmin('inboxes')
  @Idempotent()
  @Operation({
    summary: 'Create an inbox',
    description: 'With its channels, or nothing of it. It has no rule set yet: it accepts everything, and hands it to its target.',
    answers: InboxResponse,
    refuses: ['entitlement_exceeded', 'slug_taken', 'address_taken', 'unknown_reference'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateInboxRequest) {
    return toInbox(await this.inboxes.create(scope, body));
  }

  @Get(':inbox_id')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({ summary: 'Get an inbox', answers: InboxResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('inbox_id') id: string) {
    return toInbox(await this.queries.get(scope, id));
  }

  @Patch(':inbox_id')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'Change an inbox',
    description: 'Kind and id of the target are checked together; null for either clears both. `settings` are changed key by key.',
    answers: InboxResponse,
    refuses: ['unknown_reference'],
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('inbox_id') id: string, @Body() body: UpdateInboxRequest) {
    return toInbox(await this.inboxes.update(scope, id, body));
  }

  @Delete(':inbox_id')
  @OrgAdmin('inboxes', BY_INBOX)
  @Operation({ summary: 'Delete an inbox', description: 'Its channels take nothing any more; chats and runs that it has begun go on.' })
  remove(@CurrentOrg() scope: OrgScope, @Param('inbox_id') id: string) {
    return this.inboxes.delete(scope, id);
  }
}
