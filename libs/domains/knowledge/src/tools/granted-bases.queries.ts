import { Injectable } from '@nestjs/common';
import type { KnowledgeBase } from '@aps/entities';
import { statement, type Db, type Tenant } from '@aps/platform/database';
import type { ToolGrants } from '@aps/tools';
import { mayRead, namedBases, readsBase } from './grants.policy';

/** Bases that a model is told of at most. */
const MAX_LISTED = 50;

/** A base as agents are told of it. */
export type NamedBase = Pick<KnowledgeBase, 'id' | 'slug' | 'name' | 'description'>;
type Grants = Pick<ToolGrants, 'allowed_tools' | 'denied_tools' | 'knowledge_base_ids'>;

const GRANTED = statement<NamedBase>(`
  SELECT id, slug, name, description FROM knowledge_bases
  WHERE org_id = $1 AND deleted_at IS NULL AND (id = ANY ($2::uuid[]) OR slug = ANY ($3::text[]) OR $4) ORDER BY slug LIMIT $5`);
const EXISTING = statement<Pick<NamedBase, 'id' | 'slug'>>(
  'SELECT id, slug FROM knowledge_bases WHERE org_id = $1 AND deleted_at IS NULL AND (id = ANY ($2::uuid[]) OR slug = ANY ($3::text[]))',
);

/** Finds the bases that agents name, and may read. */
@Injectable()
export class GrantedBases {
  /** What an agent may read, by slug. */
  async readable(db: Db, { orgId }: Pick<Tenant, 'orgId'>, grants: Grants, limit: number | null = null): Promise<NamedBase[]> {
    if (!mayRead(grants)) return [];
    const all = grants.allowed_tools.includes('*');
    const most = limit && limit + grants.denied_tools.length;
    const found = await db.query(GRANTED, [orgId, grants.knowledge_base_ids, namedBases(grants), all, most]);
    return found.filter((base) => readsBase(grants, base)).slice(0, limit ?? undefined);
  }

  /** The same as a model is told of them; at most fifty. */
  told(db: Db, org: Pick<Tenant, 'orgId'>, grants: Grants): Promise<NamedBase[]> {
    return this.readable(db, org, grants, MAX_LISTED);
  }

  /** Those that are there, of some ids and slugs. */
  async existing(
    db: Db,
    { orgId }: Pick<Tenant, 'orgId'>,
    { ids = [], slugs = [] }: { ids?: readonly string[]; slugs?: readonly string[] },
  ): Promise<{ ids: Set<string>; slugs: Set<string> }> {
    const found = ids.length || slugs.length ? await db.query(EXISTING, [orgId, ids, slugs]) : [];
    return { ids: new Set(found.map(({ id }) => id)), slugs: new Set(found.map(({ slug }) => slug)) };
  }
}
