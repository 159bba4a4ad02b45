import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { containing, Database, sliceBounds, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import type { OrgDirectoryDetail, OrgDirectoryEntry, OrgMemberInfo } from './orgs.types';

export interface OrgDirectoryFilter extends Slice {
  /** Part of a name or slug, without regard to case. */
  q?: string;
  suspended?: boolean;
}

const SELECT = `
  SELECT o.id, o.name, o.slug, o.created_at, o.suspended_at, (SELECT count(*)::int FROM memberships WHERE org_id = o.id) AS member_count
  FROM organizations o`;
const MATCHING = `
  o.deleted_at IS NULL AND ($1::text IS NULL OR o.name ILIKE $1 OR o.slug ILIKE $1) AND ($2::boolean IS NULL OR (o.suspended_at IS NOT NULL) = $2)`;

const LIST = statement<OrgDirectoryEntry>(`${SELECT} WHERE ${MATCHING} ORDER BY o.created_at DESC, o.id DESC LIMIT $3 OFFSET $4`);
const COUNT = statement<{ n: number }>(`SELECT count(*)::int AS n FROM organizations o WHERE ${MATCHING}`);
const ONE = statement<OrgDirectoryEntry>(`${SELECT} WHERE o.id = $1 AND o.deleted_at IS NULL`);
const ROSTER = `
  SELECT m.user_id, u.email, u.name, m.role, m.created_at AS joined_at, u.deactivated_at IS NOT NULL AS deactivated
  FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1`;
const MEMBERS = statement<OrgMemberInfo>(`${ROSTER} ORDER BY m.created_at, m.id`);
const MEMBER = statement<OrgMemberInfo>(`${ROSTER} AND m.user_id = $2`);

/** Organizations as operators see them: all live ones, whoever belongs to them. */
@Injectable()
export class OrgDirectoryQueries {
  constructor(private readonly db: Database) {}

  /** Newest first, with the full matching count. */
  async list(filter: OrgDirectoryFilter): Promise<Listed<OrgDirectoryEntry>> {
    const matching = [filter.q === undefined ? null : containing(filter.q), filter.suspended ?? null];
    const [items, [{ n }]] = await Promise.all([
      this.db.query(LIST, [...matching, ...sliceBounds(filter)]),
      this.db.query(COUNT, matching),
    ]);
    return { items, total: n };
  }

  /** @throws DomainError `not_found` */
  async get(orgId: string): Promise<OrgDirectoryDetail> {
    const [[org], members] = await Promise.all([this.db.query(ONE, [orgId]), this.db.query(MEMBERS, [orgId])]);
    if (!org) throw notFound('Organization');
    return { ...org, members };
  }

  /** @throws DomainError `not_found` */
  async memberInfo(db: Db, orgId: string, userId: string): Promise<OrgMemberInfo> {
    const [row] = await db.query(MEMBER, [orgId, userId]);
    if (!row) throw notFound('Member');
    return row;
  }
}
