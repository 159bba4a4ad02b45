import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateInboxChannelRequest, InboxChannelResponse, UpdateInboxChannelRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ChannelsService } from '../channels/channels.service';
import { toChannel } from './inboxes.convert';
import { BY_INBOX } from './inboxes.controller';

@ApiTags('Inboxes')
@Controller('api/orgs/:org_id/inboxes/:inbox_id/channels')
export class ChannelsController {
  constructor(private readonly channels: ChannelsService) {}

  @Get()
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'List the channels of an inbox',
    description: 'In the order in which they were made.',
    answers: [InboxChannelResponse],
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string) {
    return (await this.channels.list(scope, inboxId)).map(toChannel);
  }

  @Post()
  @OrgMember('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Add a channel to an inbox',
    description: 'An address of mail, or a secret URL. An address that nothing is said of has no code, unless another channel has it.',
    answers: InboxChannelResponse,
    refuses: ['address_taken', 'limit_reached', 'masked_secret'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Body() body: CreateInboxChannelRequest) {
    return toChannel(await this.channels.create(scope, inboxId, body));
  }

  @Patch(':channel_id')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'Change a channel',
    description: 'The configuration is changed key by key; null removes one.',
    answers: InboxChannelResponse,
    refuses: ['address_taken', 'masked_secret'],
  })
  async update(
    @CurrentOrg() scope: OrgScope,
    @Param('inbox_id') inboxId: string,
    @Param('channel_id') id: string,
    @Body() body: UpdateInboxChannelRequest,
  ) {
    return toChannel(await this.channels.update(scope, inboxId, id, body));
  }

  @Delete(':channel_id')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({ summary: 'Delete a channel', description: 'For good. What came by it stays.' })
  remove(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('channel_id') id: string) {
    return this.channels.delete(scope, inboxId, id);
  }

  @Post(':channel_id/rotate-token')
  @OrgAdmin('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Give a webhook another URL',
    description: 'The one before is answered with 404 at once.',
    status: 200,
    answers: InboxChannelResponse,
    refuses: ['not_a_webhook'],
  })
  async rotate(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('channel_id') id: string) {
    return toChannel(await this.channels.rotate(scope, inboxId, id));
  }
}
