import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { OrganizationAuditItem } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, type OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { AuditQueries } from '../audit.queries';
import { toAuditItem } from './orgs.convert';

@ApiTags('Organizations')
@Controller('api/orgs/:org_id/audit')
export class OrganizationAuditController {
  constructor(private readonly audit: AuditQueries) {}

  @Get()
  @OrgAdmin('settings')
  @Operation({
    summary: 'Read the audit log of an organization',
    description: 'Newest first. Needs a plan with `audit_log`.',
    answers: PageOf(OrganizationAuditItem, 'OrganizationAuditResponse'),
    refuses: ['entitlement_required'],
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery) {
    return toPage(await this.audit.pageOfOrg(scope, query), query, toAuditItem);
  }
}
