import { Injectable } from '@nestjs/common';
import { listTally, PLATFORM_AUDIT, type AuditLogRow } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, Listing, mapListed, OrgListing, type Listed, type Slice } from '@aps/platform/database';
import { OrgLimits } from './org-limits';

/** A line of the audit log, with the address that its actor has today. */
export interface AuditLine extends AuditLogRow {
  /** Null when the system acted, or the user is gone. */
  actor_email: string | null;
}

export interface AuditFilter {
  action?: string;
  actor_id?: string;
  org_id?: string;
}

const LINES = {
  key: 'a.id',
  select: 'a.*, u.email AS actor_email',
  from: 'audit_log a LEFT JOIN users u ON u.id = a.actor_id',
  found: 'audit_log a',
  // The id breaks ties: rows of one transaction share their time.
  order: 'a.created_at DESC, a.id DESC',
};
const OF_ORG = new OrgListing<AuditLine, object>({ ...LINES, org: 'a.org_id', tally: { from: listTally('audits_of_orgs'), where: {} } });
/** The platform's own: what operators did anywhere, and what belongs to no organization. */
const OF_PLATFORM = new Listing<AuditLine, AuditFilter>({
  ...LINES,
  always: PLATFORM_AUDIT,
  where: { action: 'a.action = $', actor_id: 'a.actor_id = $', org_id: 'a.org_id = $' },
  // By who did what: sums by organization would be as many as there are organizations.
  tally: { from: listTally('audit_log'), where: { action: 't.facet = $', actor_id: 't.of_id = $' } },
});

/** Reads the audit log, newest first. */
@Injectable()
export class AuditQueries {
  constructor(
    private readonly db: Database,
    private readonly limits: OrgLimits,
  ) {}

  /** For operators: all of an organization, what they did to it and what happened inside. */
  page(scope: OrgScope, slice: Slice): Promise<Listed<AuditLine>> {
    return OF_ORG.page(this.db, scope, {}, slice);
  }

  /** For operators: what they did anywhere, and what belongs to no organization. */
  pageOfPlatform(filter: AuditFilter, slice: Slice): Promise<Listed<AuditLine>> {
    return OF_PLATFORM.page(this.db, filter, slice);
  }

  /** What happened in an organization, for its own administrators. @throws DomainError `entitlement_required` */
  async pageOfOrg(scope: OrgScope, slice: Slice): Promise<Listed<AuditLine>> {
    await this.limits.require(scope.orgId, 'audit_log');
    return mapListed(await this.page(scope, slice), (lines) => lines.map(forMembers));
  }
}

/** What operators did to an organization is its business; who of them, and what they noted about it, is the platform's. */
const forMembers = (line: AuditLine): AuditLine =>
  line.source === 'admin' ? { ...line, actor_id: null, actor_email: null, metadata: {} } : line;
