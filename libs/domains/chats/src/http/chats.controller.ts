import { Body, Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import { ChatsService } from '../chats.service';
import { ChatsQueries } from '../reading/chats.queries';
import { SendService } from '../sending/send.service';
import { chatTopic } from '@aps/contracts';
import {
  ChatResponse,
  ChatStreamEvent,
  ChatStreamQuery,
  ChatSummary,
  ChatTodo,
  CreateChatRequest,
  ListChatsQuery,
  MessageQuoteResponse,
  SendMessageQuery,
  SendMessageRequest,
  SendMessageResponse,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope, type AuthenticatedRequest } from '@aps/guards';
import { eventStream, Operation, PageOf, toPage } from '@aps/platform/http';
import { IdempotencyAttempt, Idempotent, type Attempt } from '@aps/platform/idempotency';
import type { Response } from 'express';
import { toChat, toChatSummary, toQuote, toTodo } from './chats.convert';
import { EventStreams } from './event-streams';

@ApiTags('Chats')
@Controller('api/orgs/:org_id/agents/:agent_id/chats')
export class ChatsController {
  constructor(
    private readonly chats: ChatsService,
    private readonly sender: SendService,
    private readonly queries: ChatsQueries,
    private readonly entitlements: Entitlements,
    private readonly streams: EventStreams,
  ) {}

  @Get()
  @OrgMember('chats')
  @Operation({
    summary: 'List the agent’s chats',
    description: 'Newest first, without their messages. Only chats that the caller may open.',
    answers: PageOf(ChatSummary, 'ChatListResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Query() query: ListChatsQuery) {
    const [chats, hideDollars] = await Promise.all([this.queries.list(scope, agentId, query), this.entitlements.hidesDollars(scope.orgId)]);
    return toPage(chats, query, (chat) => toChatSummary(chat, hideDollars));
  }

  @Post()
  @OrgMember('chats')
  @Idempotent()
  @Operation({
    summary: 'Open a chat',
    description: 'The chat keeps the agent revision that is live now.',
    answers: ChatResponse,
    refuses: ['plan_mismatch', 'unknown_reference'],
  })
  async create(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Body() body: CreateChatRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    const [chat, hideDollars] = await Promise.all([
      this.chats.create(scope, agentId, body, attempt),
      this.entitlements.hidesDollars(scope.orgId),
    ]);
    return { ...toChatSummary(chat, hideDollars), messages: [] };
  }

  @Get(':chat_id')
  @OrgMember('chats')
  @Operation({ summary: 'Get a chat with all its messages', answers: ChatResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    const [{ chat, messages }, hideDollars] = await Promise.all([
      this.queries.withMessages(scope, agentId, chatId),
      this.entitlements.hidesDollars(scope.orgId),
    ]);
    return toChat(chat, messages, hideDollars);
  }

  @Post(':chat_id/messages')
  @OrgMember('chats')
  @Idempotent()
  @Operation({
    summary: 'Send a message',
    description:
      'Stores the message and dispatches the turn that answers it; follow the chat’s stream for the answer. While a turn runs, the message waits and becomes its own turn. ' +
      '`dispatch_failed` means that the message is stored, as `context.message_id`, and nothing runs: repeat the request with the same `Idempotency-Key`, continue the chat, or send another message. ' +
      'A chat that is closed keeps up to 100 messages for a turn that may come; beyond that it answers `queue_full`. ' +
      'With `quote=true` it is answered 200 with what the first call of its turn would cost at most, and whether it would be made; nothing is stored, and nobody is asked.',
    status: 202,
    answers: SendMessageResponse,
    instead: { status: 200, answers: MessageQuoteResponse },
    refuses: [
      'entitlement_required',
      'agent_deleted',
      'model_not_allowed',
      'model_unknown',
      'model_not_callable',
      'plan_mismatch',
      'unknown_reference',
      'queue_full',
      'dispatch_failed',
    ],
  })
  async send(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @Query() { quote }: SendMessageQuery,
    @Body() body: SendMessageRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
    @Res({ passthrough: true }) response: Response,
  ) {
    if (!quote) return this.sender.send(scope, agentId, chatId, body, attempt);
    response.status(200);
    const [quoted, hideDollars] = await Promise.all([
      this.sender.quote(scope, agentId, chatId, body),
      this.entitlements.hidesDollars(scope.orgId),
    ]);
    return toQuote(quoted, hideDollars);
  }

  @Get(':chat_id/todos')
  @OrgMember('chats')
  @Operation({ summary: 'List what the agent means to do', answers: PageOf(ChatTodo) })
  async todos(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    const items = await this.queries.todosOf(scope, agentId, chatId);
    return toPage({ items, total: items.length, more: false }, {}, toTodo);
  }

  @Get(':chat_id/stream')
  @OrgMember('chats', { ticketTopics: (request) => [chatTopic((request.params as Record<string, string>).chat_id)] })
  @Operation({
    summary: 'Follow a chat',
    description:
      'Server-sent events: `snapshot` first, then every event of the chat once and in order, with its number as `id`, and `message_delta` and `presence_changed` in between (no id, best effort). ' +
      'Resume with `Last-Event-ID` or `?after=`; no id is too old. `ping` every 15 seconds. A user may have 20 streams open at once, unless the service is set up otherwise; the next is answered 429.',
    answers: eventStream(ChatStreamEvent, 'The last event that the client has seen.'),
  })
  stream(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @Query() _query: ChatStreamQuery,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ) {
    return this.streams.ofChat(scope, agentId, chatId, request, response);
  }
}
