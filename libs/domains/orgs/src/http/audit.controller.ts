import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { OrganizationAuditItem } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, type OrgScope } from '@aps/guards';
import { ApiPage, type Page, PageQuery } from '@aps/platform/http';
import { OrgAuditQueries } from '../audit.queries';
import { toAuditItem, toPageOf } from './convert';

@ApiTags('Organizations')
@Controller('api/orgs/:org_id/audit')
export class OrganizationAuditController {
  constructor(private readonly audit: OrgAuditQueries) {}

  @Get()
  @OrgAdmin('settings')
  @ApiOperation({ summary: 'Read the audit log of an organization', description: 'Newest first. Needs the entitlement `audit_log`.' })
  @ApiPage(OrganizationAuditItem, 'OrganizationAuditResponse')
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery): Promise<Page<OrganizationAuditItem>> {
    return toPageOf(await this.audit.list(scope, query), query, toAuditItem);
  }
}
