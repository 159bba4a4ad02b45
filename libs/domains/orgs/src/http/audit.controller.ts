import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { OrganizationAuditItem } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, type OrgScope } from '@aps/guards';
import { ApiPage, type Page, PageQuery } from '@aps/platform/http';
import { OrgAuditQueries } from '../audit.queries';
import { toAuditItem, toPageOf } from './convert';
import { ApiOrgPath, ApiRefusal } from './docs';

@ApiTags('Organizations')
@ApiOrgPath()
@Controller('api/orgs/:org_id/audit')
export class OrganizationAuditController {
  constructor(private readonly audit: OrgAuditQueries) {}

  @Get()
  @OrgAdmin('settings')
  @ApiOperation({ summary: 'Read the audit log of an organization', description: 'Newest first.' })
  @ApiPage(OrganizationAuditItem, 'OrganizationAuditResponse')
  @ApiRefusal(403, '`insufficient_role`; `entitlement_required` when the plan does not include `audit_log`.')
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery): Promise<Page<OrganizationAuditItem>> {
    return toPageOf(await this.audit.list(scope, query), query, toAuditItem);
  }
}
