import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuditItem, PlatformAuditQuery } from '@aps/dtos';
import { OperatedOrg, OrgScope, PlatformAdmin } from '@aps/guards';
import { AuditQueries } from '@aps/orgs';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { OrgOverviewQueries } from '../org-overview.queries';
import { toAuditItem } from './administration.convert';

@ApiTags('Administration: audit')
@Controller('/api/admin')
@PlatformAdmin()
export class AdminAuditController {
  constructor(
    private readonly audit: AuditQueries,
    private readonly overview: OrgOverviewQueries,
  ) {}

  @Get('audit')
  @Operation({
    summary: "Read the platform's audit log, newest first",
    description: 'What operators did anywhere, and what belongs to no organization.',
    answers: PageOf(AuditItem, 'PlatformAuditResponse'),
  })
  async platform(@Query() query: PlatformAuditQuery) {
    return toPage(await this.audit.pageOfPlatform(query, query), query, toAuditItem);
  }

  @Get('orgs/:org_id/audit')
  @Operation({
    summary: "Read an organization's audit log, newest first",
    description: 'What operators did to it, merged with what happened inside it. That of a deleted organization stays.',
    answers: PageOf(AuditItem, 'OrgAuditResponse'),
  })
  async organization(@OperatedOrg() scope: OrgScope, @Query() query: PageQuery) {
    return toPage(await this.overview.audit(scope, query), query, toAuditItem);
  }
}
