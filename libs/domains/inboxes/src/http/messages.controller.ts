import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import {
  InboxMessageCounts,
  InboxMessageCountsQuery,
  InboxMessageDetailResponse,
  InboxMessageDiagnosisResponse,
  InboxMessageIndexResponse,
  InboxMessageListQuery,
  ReleaseInboxMessageRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { MessageDiagnoses } from '../messages/diagnosis.queries';
import { MessageActions } from '../messages/message-actions.service';
import { MessagesQueries, type MessageDetail } from '../messages/messages.queries';
import { BY_INBOX } from './inboxes.controller';
import { toCounts, toMessage, toMessageDetail, toMessageDiagnosis } from './messages.convert';

@ApiTags('Inboxes')
@Controller('api/orgs/:org_id/inboxes/:inbox_id/messages')
export class MessagesController {
  constructor(
    private readonly queries: MessagesQueries,
    private readonly diagnoses: MessageDiagnoses,
    private readonly actions: MessageActions,
    private readonly entitlements: Entitlements,
  ) {}

  @Get()
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'List the messages of an inbox',
    description: 'Newest received first, whatever became of them.',
    answers: PageOf(InboxMessageIndexResponse),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Query() query: InboxMessageListQuery) {
    return toPage(await this.queries.list(scope, inboxId, query, query), query, toMessage);
  }

  @Get('counts')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'Count the messages of an inbox by what became of them',
    description: 'What a list of them has of each state, so it takes no state.',
    answers: InboxMessageCounts,
  })
  async counts(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Query() query: InboxMessageCountsQuery) {
    return toCounts(await this.queries.counts(scope, inboxId, query));
  }

  @Get(':message_id')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'Get a message of an inbox',
    description: 'With all that it says, and what became of it at each gate and stage.',
    answers: InboxMessageDetailResponse,
  })
  async get(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('message_id') id: string) {
    return this.shown(scope, await this.queries.get(scope, inboxId, id));
  }

  @Get(':message_id/diagnosis')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'Explain what a message waits for',
    description: 'What keeps it from going on, who ends that how and when; once it was handed to a chat, what keeps that.',
    answers: InboxMessageDiagnosisResponse,
  })
  async diagnosis(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('message_id') id: string) {
    return toMessageDiagnosis(await this.diagnoses.of(scope, inboxId, id));
  }

  @Post(':message_id/retry')
  @OrgAdmin('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Evaluate a held message again',
    description: 'Under the rule set that is deployed now. It is answered at once; what comes of it follows.',
    status: 200,
    answers: InboxMessageDetailResponse,
    refuses: ['not_held', 'still_evaluating', 'payload_expired'],
  })
  async retry(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('message_id') id: string) {
    return this.shown(scope, await this.actions.evaluate(scope, inboxId, id, 'retry'));
  }

  @Post(':message_id/replay')
  @OrgMember('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Evaluate a message again, whatever became of it',
    description:
      'Under the rule set that is deployed now. One that is accepted again is handed on a second time; what it was handed to before goes on.',
    status: 200,
    answers: InboxMessageDetailResponse,
    refuses: ['payload_expired'],
  })
  async replay(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('message_id') id: string) {
    return this.shown(scope, await this.actions.evaluate(scope, inboxId, id, 'replay'));
  }

  @Post(':message_id/terminate')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'End a message, and all that it has begun',
    description:
      'Its chats are terminated with what they have delegated to, and it is not answered. Its verdict stays; again, nothing is changed.',
    status: 200,
    answers: InboxMessageDetailResponse,
  })
  async terminate(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('message_id') id: string) {
    return this.shown(scope, await this.actions.terminate(scope, inboxId, id));
  }

  @Post(':message_id/release')
  @OrgAdmin('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Let a held message through',
    description: 'Past gates and stages, to the target that is named, or else to that of the inbox.',
    status: 200,
    answers: InboxMessageDetailResponse,
    refuses: ['not_held', 'payload_expired', 'unknown_reference'],
  })
  async release(
    @CurrentOrg() scope: OrgScope,
    @Param('inbox_id') inboxId: string,
    @Param('message_id') id: string,
    @Body() body: ReleaseInboxMessageRequest,
  ) {
    return this.shown(scope, await this.actions.release(scope, inboxId, id, body));
  }

  private async shown(scope: OrgScope, message: MessageDetail) {
    return toMessageDetail(message, await this.entitlements.hidesDollars(scope.orgId));
  }
}
