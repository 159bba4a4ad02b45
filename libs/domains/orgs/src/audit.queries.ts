import { Injectable } from '@nestjs/common';
import { NIL_UUID, type AuditLogRow } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, Listing, mapListed, type Listed, type Slice } from '@aps/platform/database';
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
  /** The platform's own: what operators did anywhere, and what belongs to no organization. */
  platform?: boolean;
}

const LINES = new Listing<AuditLine, AuditFilter>({
  key: 'a.id',
  select: 'a.*, u.email AS actor_email',
  from: 'audit_log a LEFT JOIN users u ON u.id = a.actor_id',
  where: {
    action: 'a.action = $',
    actor_id: 'a.actor_id = $',
    org_id: 'a.org_id = $',
    platform: `a.source = 'admin' OR a.org_id IS NULL`,
  },
  tally: {
    from: 'audit_tallies t',
    where: {
      action: 't.action = $',
      actor_id: 't.actor_id = $',
      org_id: 't.org_id = $',
      platform: `t.source = 'admin' OR t.org_id = '${NIL_UUID}'`,
    },
  },
  // The id breaks ties: rows of one transaction share their time.
  order: 'a.created_at DESC, a.id DESC',
});

/** Reads the audit log, newest first. */
@Injectable()
export class AuditQueries {
  constructor(
    private readonly db: Database,
    private readonly limits: OrgLimits,
  ) {}

  /** For operators: all of it, what they did and what happened inside organizations. */
  page(filter: AuditFilter, slice: Slice): Promise<Listed<AuditLine>> {
    return LINES.page(this.db, filter, slice);
  }

  /** What happened in an organization, for its own administrators. @throws DomainError `entitlement_required` */
  async pageOfOrg(scope: OrgScope, slice: Slice): Promise<Listed<AuditLine>> {
    await this.limits.require(scope.orgId, 'audit_log');
    return mapListed(await this.page({ org_id: scope.orgId }, slice), (lines) => lines.map(forMembers));
  }
}

/** What operators did to an organization is its business; who of them, and what they noted about it, is the platform's. */
const forMembers = (line: AuditLine): AuditLine =>
  line.source === 'admin' ? { ...line, actor_id: null, actor_email: null, metadata: {} } : line;
