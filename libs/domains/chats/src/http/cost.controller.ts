import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CostQueries } from '../reading/cost.queries';
import { ChatCostBreakdownResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { toCostBreakdown } from './cost.convert';

@ApiTags('Chats')
@Controller('api/orgs/:org_id/agents/:agent_id/chats/:chat_id/cost-breakdown')
export class CostController {
  constructor(private readonly costs: CostQueries) {}

  @Get()
  @OrgMember('chats')
  @Operation({
    summary: 'What the chat has cost, by kind of token and by model',
    description:
      'Every model call of the chat counts, its title and summaries too, at the prices of its time. Chats that it delegated to stand apart, in `descendants`.',
    answers: ChatCostBreakdownResponse,
  })
  async get(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    return toCostBreakdown(await this.costs.ofChat(scope, agentId, chatId));
  }
}
