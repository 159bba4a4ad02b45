import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import { TimelineQueries } from '../reading/timeline.queries';
import { TimelineEvent, TimelineQuery } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { toTimelineEvent } from './timeline.convert';

@ApiTags('Chats')
@Controller('api/orgs/:org_id/agents/:agent_id/chats/:chat_id/timeline')
export class TimelineController {
  constructor(
    private readonly timelines: TimelineQueries,
    private readonly entitlements: Entitlements,
  ) {}

  @Get()
  @OrgMember('chats')
  @Operation({
    summary: 'What has happened in the chat',
    description:
      'Newest first: what users wrote (`user_message_received`), the steps of the agent (`agent_step`, by `metadata.kind` a model call or a tool call, with its tokens and cost), ' +
      'and every event that the chat’s stream keeps. An event stands once. Clients ignore types that they do not know.',
    answers: PageOf(TimelineEvent, 'ConversationTimelineResponse'),
  })
  async list(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @Query() query: TimelineQuery,
  ) {
    const [timeline, hideDollars] = await Promise.all([
      this.timelines.ofChat(scope, agentId, chatId, query),
      this.entitlements.hidesDollars(scope.orgId),
    ]);
    return toPage(timeline, query, (entry) => toTimelineEvent(entry, hideDollars));
  }
}
