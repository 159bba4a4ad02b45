import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Database, sliceBounds, statement, type Listed, type Slice } from '@aps/platform/database';
import { OrgLimits } from './org-limits';
import type { AuditItem } from './orgs.types';

interface Row {
  id: string;
  source: 'admin' | 'business';
  action: string;
  actor_id: string | null;
  actor_email: string | null;
  target_kind: string;
  target_id: string | null;
  metadata: Record<string, unknown>;
  created_at: Date;
}

const LIST = statement<Row>(`
  SELECT a.id, a.source, a.action, a.actor_id, u.email AS actor_email, a.target_kind, a.target_id, a.metadata, a.created_at
  FROM audit_log a LEFT JOIN users u ON u.id = a.actor_id
  WHERE a.org_id = $1 ORDER BY a.created_at DESC, a.id DESC LIMIT $2 OFFSET $3`);
const COUNT = statement<{ n: number }>('SELECT count(*)::int AS n FROM audit_log WHERE org_id = $1');

/** What happened in an organization, for its own administrators. */
@Injectable()
export class OrgAuditQueries {
  constructor(
    private readonly db: Database,
    private readonly limits: OrgLimits,
  ) {}

  /** Newest first. @throws DomainError `entitlement_required` */
  async list(scope: OrgScope, slice: Slice): Promise<Listed<AuditItem>> {
    await this.limits.require(scope.orgId, 'audit_log');
    const [rows, [{ n }]] = await Promise.all([
      this.db.query(LIST, [scope.orgId, ...sliceBounds(slice)]),
      this.db.query(COUNT, [scope.orgId]),
    ]);
    return { items: rows.map(toItem), total: n };
  }
}

function toItem(row: Row): AuditItem {
  // What operators did to an organization is its business; who of them, and what they noted about it, is the platform's.
  const byOperator = row.source === 'admin';
  return {
    id: row.id,
    source: row.source,
    action: row.action,
    actor: row.actor_id === null || byOperator ? null : { id: row.actor_id, email: row.actor_email },
    target: { kind: row.target_kind, id: row.target_id },
    metadata: byOperator ? {} : row.metadata,
    created_at: row.created_at,
  };
}
