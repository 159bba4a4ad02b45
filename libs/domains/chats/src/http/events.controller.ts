import { Body, Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateTicketRequest, FollowEventsQuery, TicketResponse, TopicStreamEvent } from '@aps/dtos';
import {
  CurrentOrg,
  CurrentPrincipal,
  OrgMember,
  OrgScope,
  SignedIn,
  TICKET_TTL_S,
  Tickets,
  type AuthenticatedRequest,
  type Principal,
} from '@aps/guards';
import { eventStream, Operation } from '@aps/platform/http';
import type { Response } from 'express';
import { EventStreams } from './event-streams';
import { listTopics } from './topics';

@ApiTags('Events')
@Controller('api/orgs/:org_id/events')
export class EventsController {
  constructor(private readonly streams: EventStreams) {}

  @Get()
  @OrgMember('chats', { ticketTopics: (request) => listTopics(request.query.topics) })
  @Operation({
    summary: 'Follow many topics on one stream',
    description:
      'Server-sent events. A `snapshot` of each topic first; then every event of each topic once and, within the topic, in order; `message_delta`, `presence_changed`, and of the organization `credits_updated` and `billing_updated`, in between, best effort. ' +
      'The `id` of a frame stands for all topics at once: `Last-Event-ID` or `?after=` resumes each where the client was, on any replica; a topic that it does not know begins with its snapshot. ' +
      '`data.id` is the number of the event within its topic. `ping` every 15 seconds, with `topic` null. ' +
      'Topics that are not there or that the caller may not follow are answered 404 with `context.topics`, and nothing is followed. ' +
      '`topic_closed` says that the caller may not follow a topic any more; the stream goes on with the others. A stream counts as one of the user’s, however many topics it has.',
    answers: eventStream(TopicStreamEvent, 'The id of the last frame that the client has seen.'),
  })
  follow(
    @CurrentOrg() scope: OrgScope,
    @Query() query: FollowEventsQuery,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ) {
    return this.streams.ofTopics(scope, query.topics, request, response);
  }
}

@ApiTags('Events')
@Controller('api/realtime/tickets')
export class TicketsController {
  constructor(private readonly tickets: Tickets) {}

  @Post()
  @SignedIn()
  @Operation({
    summary: 'Get a ticket for a stream',
    description:
      'For clients that cannot send a header, as a browser’s `EventSource`: `?ticket=` opens one stream about these topics, or some of them, within 60 seconds. It opens no more than the caller may follow when the stream opens, ' +
      'and the stream ends when the session or token ends that the ticket was asked for with.',
    answers: TicketResponse,
    refuses: ['not_org_member'],
  })
  async create(@CurrentPrincipal() principal: Principal, @Body() body: CreateTicketRequest): Promise<TicketResponse> {
    const topics = listTopics(body.topics.join());
    return { ticket: await this.tickets.issue(principal, { orgId: body.org_id ?? null, topics }), expires_in: TICKET_TTL_S };
  }
}
