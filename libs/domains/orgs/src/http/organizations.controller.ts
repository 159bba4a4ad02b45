import { Body, Controller, Delete, Get, Patch, Post, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateOrganizationRequest, OrganizationDeletedResponse, OrganizationResponse, UpdateOrganizationRequest } from '@aps/dtos';
import {
  type AuthenticatedRequest,
  CurrentOrg,
  CurrentPrincipal,
  OrgAdmin,
  OrgMember,
  OrgOwner,
  type OrgScope,
  type Principal,
  SignedIn,
} from '@aps/guards';
import { Database } from '@aps/platform/database';
import { answer, Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { OrganizationsQueries } from '../organizations.queries';
import { OrganizationsService } from '../organizations.service';
import { actingPerson } from './actor';
import { toOrganization } from './orgs.convert';

@ApiTags('Organizations')
@Controller('api/orgs')
@SignedIn('settings')
export class OrganizationsController {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationsService,
    private readonly queries: OrganizationsQueries,
  ) {}

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Make an organization',
    description: 'The caller becomes its owner, unless they own as many as one user may. Without a slug, one is made from the name.',
    answers: OrganizationResponse,
    refuses: ['entitlement_exceeded', 'slug_taken'],
  })
  async create(@Req() request: AuthenticatedRequest, @Body() body: CreateOrganizationRequest) {
    return toOrganization(await this.organizations.create(this.db, actingPerson(request), body));
  }

  @Get()
  @Operation({
    summary: "List the caller's organizations",
    description: 'By name; suspended ones too. A token that is confined to one organization sees that one.',
    answers: PageOf(OrganizationResponse, 'OrganizationListResponse'),
  })
  async list(@CurrentPrincipal() principal: Principal, @Query() query: PageQuery) {
    return toPage(await this.queries.listOf(principal.userId, principal.orgPin, query), query, toOrganization);
  }

  @Get(':org_id')
  @OrgMember('settings')
  @Operation({ summary: 'Show an organization', answers: OrganizationResponse })
  async get(@CurrentOrg() scope: OrgScope) {
    return toOrganization(await this.queries.ofMember(this.db, scope.orgId, scope.userId));
  }

  @Patch(':org_id')
  @OrgAdmin('settings')
  @Operation({
    summary: 'Change name or slug of an organization',
    description:
      'The slug that is given up is nobody else’s for 90 days, since mail still goes to addresses with it; the organization may take it back.',
    answers: OrganizationResponse,
    refuses: ['slug_taken'],
  })
  async update(@CurrentOrg() scope: OrgScope, @Body() body: UpdateOrganizationRequest) {
    return toOrganization(await this.organizations.update(scope, body));
  }

  @Delete(':org_id')
  @OrgOwner('settings')
  @Operation({
    summary: 'Delete an organization',
    description:
      'Nobody gets in from now on, pending invitations die, the slug is free again, or in 90 days where mail has ever come to it. Its work stops as if it were suspended, and a subscription that is paid ends with what is paid.',
    status: 202,
    answers: OrganizationDeletedResponse,
  })
  async remove(@CurrentOrg() scope: OrgScope) {
    return answer(OrganizationDeletedResponse, await this.organizations.remove(scope));
  }
}
