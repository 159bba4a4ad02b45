import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { TogglesService } from '../toggles.service';
import { ChangeTogglesRequest, TogglesResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';

@ApiTags('Chats')
@Controller('api/orgs/:org_id/agents/:agent_id/chats/:chat_id/toggles')
@OrgMember('chats')
export class TogglesController {
  constructor(private readonly toggles: TogglesService) {}

  @Get()
  @Operation({
    summary: 'What the chat has switched on',
    description: 'The web, and each active connection that the agent of this chat is granted.',
    answers: TogglesResponse,
  })
  get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    return this.toggles.get(scope, agentId, chatId);
  }

  @Put()
  @Operation({
    summary: 'Switch the web and connections on and off in a chat',
    description:
      'Give exactly one of `toggles`, which is merged into what is set, and `enabled_scopes`, which replaces it. Who may open the chat may switch. ' +
      'It holds for turns that begin afterwards. Switching never grants what the agent may not use.',
    answers: TogglesResponse,
    refuses: ['unknown_reference'],
  })
  change(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @Body() body: ChangeTogglesRequest,
  ) {
    return this.toggles.change(scope, agentId, chatId, body);
  }
}
