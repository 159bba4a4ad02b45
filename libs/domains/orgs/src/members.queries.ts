import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, sliceBounds, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import type { MemberView } from './orgs.types';

// Last use is that of sessions and of the API tokens that are good for this organization.
const SELECT = `
  SELECT m.id, m.user_id, u.email, u.name, u.avatar_url, m.role, m.created_at, m.updated_at,
         greatest((SELECT max(last_used_at) FROM sessions WHERE user_id = m.user_id),
                  (SELECT max(last_used_at) FROM api_tokens WHERE user_id = m.user_id AND (org_id IS NULL OR org_id = m.org_id))) AS last_active_at
  FROM memberships m JOIN users u ON u.id = m.user_id`;

const LIST = statement<MemberView>(`${SELECT} WHERE m.org_id = $1 ORDER BY m.created_at, m.id LIMIT $2 OFFSET $3`);
const COUNT = statement<{ n: number }>('SELECT count(*)::int AS n FROM memberships WHERE org_id = $1');
const ONE = statement<MemberView>(`${SELECT} WHERE m.org_id = $1 AND m.id = $2`);

@Injectable()
export class MembersQueries {
  constructor(private readonly db: Database) {}

  /** Oldest membership first. */
  async list(scope: OrgScope, slice: Slice): Promise<Listed<MemberView>> {
    const [items, [{ n }]] = await Promise.all([
      this.db.query(LIST, [scope.orgId, ...sliceBounds(slice)]),
      this.db.query(COUNT, [scope.orgId]),
    ]);
    return { items, total: n };
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, id: string, db: Db = this.db): Promise<MemberView> {
    const [row] = await db.query(ONE, [scope.orgId, id]);
    if (!row) throw notFound('Member');
    return row;
  }
}
