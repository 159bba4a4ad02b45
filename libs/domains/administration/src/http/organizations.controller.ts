import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AdminAddMemberRequest,
  AdminOrgListQuery,
  AdminSetRoleRequest,
  OrgDetailResponse,
  OrgDiagnosisResponse,
  OrgFinding,
  OrgListItem,
  OrgMemberInfo,
  OrgSuspensionResponse,
  SubscriptionBackfillRequest,
  SubscriptionBackfillResponse,
  UsageQuery,
  UsageSummaryResponse,
} from '@aps/dtos';
import { CurrentOperator, OperatedOrg, OrgScope, PlatformAdmin, type ActingUser } from '@aps/guards';
import { MembersService, OrganizationsService } from '@aps/orgs';
import { answer, Operation, PageOf, toPage } from '@aps/platform/http';
import { OrgDiagnosisQueries } from '../org-diagnosis.queries';
import { OrgOverviewQueries } from '../org-overview.queries';
import { toOrgDetail, toOrgListItem, toOrgSuspension } from './administration.convert';
import { Idempotent } from '@aps/platform/idempotency';
import { SubscriptionBackfill } from '../subscription-backfill';

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

@ApiTags('Administration: organizations')
@Controller('/api/admin/orgs/:org_id/members')
@PlatformAdmin()
export class AdminMembersController {
  constructor(private readonly members: MembersService) {}

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Add a registered user to an organization',
    description: "Nobody is created or invited, and the plan's number of seats does not bind.",
    answers: OrgMemberInfo,
    refuses: ['user_not_found', 'already_member'],
  })
  async add(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string, @Body() body: AdminAddMemberRequest) {
    return answer(OrgMemberInfo, await this.members.adminAdd(operator, orgId, body.email, body.role));
  }

  @Patch(':user_id')
  @Operation({
    summary: "Change a member's role",
    description: 'Refused when it would leave no owner.',
    answers: OrgMemberInfo,
    refuses: ['last_owner'],
  })
  async setRole(
    @CurrentOperator() operator: ActingUser,
    @Param('org_id') orgId: string,
    @Param('user_id') userId: string,
    @Body() body: AdminSetRoleRequest,
  ) {
    return answer(OrgMemberInfo, await this.members.adminSetRole(operator, orgId, userId, body.role));
  }

  @Delete(':user_id')
  @Operation({ summary: 'Remove a member', description: 'Refused for the last owner.', refuses: ['last_owner'] })
  async remove(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string, @Param('user_id') userId: string) {
    await this.members.adminRemove(operator, orgId, userId);
  }
}

@ApiTags('Administration: organizations')
@Controller('/api/admin/subscriptions')
@PlatformAdmin()
export class AdminSubscriptionsController {
  constructor(private readonly subscriptions: SubscriptionBackfill) {}

  @Post('backfill')
  @Idempotent()
  @Operation({
    summary: 'Subscribe organizations that have no subscription',
    description:
      'Never changes an existing subscription; repeating it creates none. It stops after 20 seconds: where `created` and `skipped` are not all organizations, ask again.',
    status: 200,
    answers: SubscriptionBackfillResponse,
    refuses: ['not_found'],
  })
  backfill(@CurrentOperator() operator: ActingUser, @Body() body: SubscriptionBackfillRequest): Promise<SubscriptionBackfillResponse> {
    return this.subscriptions.run(operator, body);
  }
}
