import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Database, sliceBounds, statement, type Slice } from '@aps/platform/database';

/** One line of the audit log, with the address of whoever acted. */
export interface AuditRecord {
  id: string;
  source: 'admin' | 'business';
  action: string;
  org_id: string | null;
  actor_id: string | null;
  /** Null when the system acted. */
  actor_email: string | null;
  target_kind: string;
  target_id: string | null;
  metadata: Record<string, unknown>;
  created_at: Date;
}

export interface AuditFilter {
  action?: string;
  actorId?: string;
  orgId?: string;
}

const COLUMNS =
  'a.id, a.source, a.action, a.org_id, a.actor_id, u.email AS actor_email, a.target_kind, a.target_id, a.metadata, a.created_at';
// The id breaks ties: rows of one transaction share their time.
const NEWEST_FIRST = 'ORDER BY a.created_at DESC, a.id DESC';

const OF_ORG = statement<AuditRecord>(`
  SELECT ${COLUMNS} FROM audit_log a LEFT JOIN users u ON u.id = a.actor_id
  WHERE a.org_id = $1 ${NEWEST_FIRST} LIMIT $2 OFFSET $3`);
const COUNT_OF_ORG = statement<{ total: number }>('SELECT count(*)::int AS total FROM audit_log WHERE org_id = $1');

const PLATFORM = `
  (a.source = 'admin' OR a.org_id IS NULL)
  AND ($1::text IS NULL OR a.action = $1) AND ($2::uuid IS NULL OR a.actor_id = $2) AND ($3::uuid IS NULL OR a.org_id = $3)`;
const OF_PLATFORM = statement<AuditRecord>(`
  SELECT ${COLUMNS} FROM audit_log a LEFT JOIN users u ON u.id = a.actor_id
  WHERE ${PLATFORM} ${NEWEST_FIRST} LIMIT $4 OFFSET $5`);
const COUNT_OF_PLATFORM = statement<{ total: number }>(`SELECT count(*)::int AS total FROM audit_log a WHERE ${PLATFORM}`);

/** Reads the audit log. */
@Injectable()
export class AuditQueries {
  constructor(private readonly db: Database) {}

  /** Everything about one organization: what operators did to it, merged with what happened inside it. */
  async ofOrganization(scope: OrgScope, slice: Slice): Promise<{ rows: AuditRecord[]; total: number }> {
    const [rows, [{ total }]] = await Promise.all([
      this.db.query(OF_ORG, [scope.orgId, ...sliceBounds(slice)]),
      this.db.query(COUNT_OF_ORG, [scope.orgId]),
    ]);
    return { rows, total };
  }

  /** The platform's own log: what operators did anywhere, and what belongs to no organization. */
  async ofPlatform({ action, actorId, orgId }: AuditFilter, slice: Slice): Promise<{ rows: AuditRecord[]; total: number }> {
    const filter = [action ?? null, actorId ?? null, orgId ?? null];
    const [rows, [{ total }]] = await Promise.all([
      this.db.query(OF_PLATFORM, [...filter, ...sliceBounds(slice)]),
      this.db.query(COUNT_OF_PLATFORM, filter),
    ]);
    return { rows, total };
  }
}
