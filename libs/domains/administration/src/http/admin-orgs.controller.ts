import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AdminOrgListQuery,
  OrgDetailResponse,
  OrgDiagnosisResponse,
  OrgFinding,
  OrgListItem,
  OrgSuspensionResponse,
  UsageQuery,
  UsageSummaryResponse,
} from '@aps/dtos';
import { type ActingUser, CurrentOperator, OperatedOrg, OrgScope, PlatformAdmin } from '@aps/guards';
import { OrganizationsService } from '@aps/orgs';
import { answer, Operation, PageOf, toPage } from '@aps/platform/http';
import { OrgDiagnosisQueries } from '../org-diagnosis.queries';
import { OrgOverviewQueries } from '../org-overview.queries';
import { toOrgDetail, toOrgListItem, toOrgSuspension } from './administration.convert';

@ApiTags('Administration: organizations')
@Controller('/api/admin/orgs')
@PlatformAdmin()
export class AdminOrgsController {
  constructor(
    private readonly overview: OrgOverviewQueries,
    private readonly organizations: OrganizationsService,
    private readonly diagnosis: OrgDiagnosisQueries,
  ) {}

  @Get()
  @Operation({ summary: 'List organizations', answers: PageOf(OrgListItem, 'OrgListResponse') })
  async list(@Query() query: AdminOrgListQuery) {
    return toPage(await this.overview.list(query, query), query, toOrgListItem);
  }

  @Get(':org_id')
  @Operation({ summary: 'Read an organization and its roster', answers: OrgDetailResponse })
  async get(@Param('org_id') orgId: string) {
    return toOrgDetail(await this.overview.get(orgId));
  }

  @Get(':org_id/diagnosis')
  @Operation({
    summary: 'Find out why an organization does not move',
    description: 'With a sentence for each reason that can be sent to it. Asks the database alone, so it answers while the queues do not.',
    answers: OrgDiagnosisResponse,
  })
  async diagnose(@Param('org_id') orgId: string) {
    const diagnosis = await this.diagnosis.of(orgId);
    return answer(OrgDiagnosisResponse, diagnosis, { findings: diagnosis.findings.map((finding) => answer(OrgFinding, finding)) });
  }

  @Get(':org_id/usage')
  @Operation({
    summary: 'What an organization has used',
    description: 'The same figures that its members see.',
    answers: UsageSummaryResponse,
  })
  async usage(@OperatedOrg() scope: OrgScope, @Query() query: UsageQuery) {
    return answer(UsageSummaryResponse, await this.overview.usage(scope, query.window));
  }

  @Post(':org_id/suspend')
  @Operation({
    summary: 'Suspend an organization',
    description: 'Its members are locked out and its work stops. Repeating it changes nothing.',
    status: 200,
    answers: OrgSuspensionResponse,
  })
  async suspend(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string) {
    return toOrgSuspension(await this.organizations.setSuspended(operator, orgId, true));
  }

  @Post(':org_id/unsuspend')
  @Operation({
    summary: 'End the suspension of an organization',
    description: 'Repeating it changes nothing.',
    status: 200,
    answers: OrgSuspensionResponse,
  })
  async unsuspend(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string) {
    return toOrgSuspension(await this.organizations.setSuspended(operator, orgId, false));
  }
}
