import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { UsageQuery, UsageSummaryResponse } from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { UsageQueries } from '../usage/usage.queries';

@ApiTags('Usage')
@Controller('/api/orgs/:org_id/usage')
export class OrgUsageController {
  constructor(private readonly usage: UsageQueries) {}

  @Get()
  @OrgMember('billing')
  @Operation({ summary: 'What the organization has used', answers: UsageSummaryResponse })
  async get(@CurrentOrg() scope: OrgScope, @Query() query: UsageQuery) {
    return answer(UsageSummaryResponse, await this.usage.summary(scope, query.window));
  }
}
