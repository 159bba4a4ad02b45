import { Controller, Delete, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PresenceService } from '../presence/presence.service';
import { ChatPresenceResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { toPresence } from './presence.convert';

@ApiTags('Chats')
@Controller('api/orgs/:org_id/agents/:agent_id/chats/:chat_id/presence')
@OrgMember('chats')
export class ChatPresenceController {
  constructor(private readonly presence: PresenceService) {}

  @Post()
  @Operation({
    summary: 'Say that one has the chat open',
    description:
      'To be repeated every `heartbeat_interval_s`; who is silent for `expires_in_s` is gone. An open stream alone is no presence. The chat’s streams are told of who comes and goes by `presence_changed` (no id, best effort), with `viewers` as they are then.',
    status: 200,
    answers: ChatPresenceResponse,
  })
  async heartbeat(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    return toPresence(await this.presence.heartbeat(scope, agentId, chatId));
  }

  @Delete()
  @Operation({
    summary: 'Say that one has closed the chat',
    description: 'Best effort: who does not say it ages out.',
    answers: ChatPresenceResponse,
  })
  async leave(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    return toPresence(await this.presence.leave(scope, agentId, chatId));
  }
}
