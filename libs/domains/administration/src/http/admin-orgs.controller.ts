import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { AdminOrgListQuery, OrgDetailResponse, OrgListItem, OrgSuspensionResponse, UsageQuery, UsageSummaryResponse } from '@aps/dtos';
import { type ActingUser, OrgScope, PlatformAdmin } from '@aps/guards';
import { OrganizationsService } from '@aps/orgs';
import { ApiPage, toPage, type Page } from '@aps/platform/http';
import { OrgOverviewQueries } from '../org-overview.queries';
import { CurrentOperator, OperatedOrg } from './current-operator';
import { toOrgDetail, toOrgListItem, toOrgSuspension } from './orgs.convert';
import { toUsageSummary } from './usage.convert';

@ApiTags('Administration: organizations')
@Controller('/api/admin/orgs')
export class AdminOrgsController {
  constructor(
    private readonly overview: OrgOverviewQueries,
    private readonly organizations: OrganizationsService,
  ) {}

  @Get()
  @PlatformAdmin()
  @ApiOperation({ summary: 'List organizations' })
  @ApiPage(OrgListItem, 'OrgListResponse')
  async list(@Query() query: AdminOrgListQuery): Promise<Page<OrgListItem>> {
    const { items, total } = await this.overview.list(query);
    return toPage(items.map(toOrgListItem), total, query);
  }

  @Get(':org_id')
  @PlatformAdmin()
  @ApiOperation({ summary: 'Read an organization and its roster' })
  @ApiOkResponse({ type: OrgDetailResponse })
  async get(@Param('org_id') orgId: string): Promise<OrgDetailResponse> {
    return toOrgDetail(await this.overview.get(orgId));
  }

  @Get(':org_id/usage')
  @PlatformAdmin()
  @ApiOperation({ summary: 'What an organization has used', description: 'The same figures that its members see.' })
  @ApiParam({ name: 'org_id', description: 'The organization.' })
  @ApiOkResponse({ type: UsageSummaryResponse })
  async usage(@OperatedOrg() scope: OrgScope, @Query() query: UsageQuery): Promise<UsageSummaryResponse> {
    return toUsageSummary(await this.overview.usage(scope, query.window));
  }

  @Post(':org_id/suspend')
  @HttpCode(200)
  @PlatformAdmin()
  @ApiOperation({
    summary: 'Suspend an organization',
    description: 'Its members are locked out and its work stops. Repeating it changes nothing.',
  })
  @ApiOkResponse({ type: OrgSuspensionResponse })
  async suspend(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string): Promise<OrgSuspensionResponse> {
    return toOrgSuspension(await this.organizations.suspend(operator, orgId));
  }

  @Post(':org_id/unsuspend')
  @HttpCode(200)
  @PlatformAdmin()
  @ApiOperation({ summary: 'End the suspension of an organization', description: 'Repeating it changes nothing.' })
  @ApiOkResponse({ type: OrgSuspensionResponse })
  async unsuspend(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string): Promise<OrgSuspensionResponse> {
    return toOrgSuspension(await this.organizations.unsuspend(operator, orgId));
  }
}
