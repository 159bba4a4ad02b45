import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { isUniqueViolation, statement, type Db, type Tx } from '@aps/platform/database';
import type { OrganizationRecord } from './orgs.types';

const COLUMNS = 'id, name, slug, suspended_at, created_at, updated_at';

const LIVE = statement<OrganizationRecord>(`SELECT ${COLUMNS} FROM organizations WHERE id = $1 AND deleted_at IS NULL`);
const TAKEN_SLUGS = statement<{ slug: string }>('SELECT slug FROM organizations WHERE slug = ANY($1) AND deleted_at IS NULL');
// The loser of a race for a slug waits for the winner and then inserts nothing; an error would spoil the whole transaction.
const INSERT = statement<OrganizationRecord>(`
  INSERT INTO organizations (id, name, slug, created_by) VALUES ($1, $2, $3, $4)
  ON CONFLICT (slug) WHERE deleted_at IS NULL DO NOTHING RETURNING ${COLUMNS}`);
const UPDATE = statement<OrganizationRecord>(`
  UPDATE organizations SET name = $2, slug = $3, updated_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING ${COLUMNS}`);
const LOCK = statement<OrganizationRecord>(`SELECT ${COLUMNS} FROM organizations WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`);
const DELETE = statement<{ deleted_at: Date }>(
  'UPDATE organizations SET deleted_at = now(), updated_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING deleted_at',
);
const SUSPEND = statement<{ suspended_at: Date }>(`
  UPDATE organizations SET suspended_at = now(), updated_at = now() WHERE id = $1 AND deleted_at IS NULL AND suspended_at IS NULL RETURNING suspended_at`);
const UNSUSPEND = statement(`
  UPDATE organizations SET suspended_at = NULL, updated_at = now() WHERE id = $1 AND deleted_at IS NULL AND suspended_at IS NOT NULL RETURNING id`);

/** The table of tenants. What is deleted does not exist for any method. */
@Injectable()
export class OrganizationsRepository {
  async find(db: Db, scope: OrgScope): Promise<OrganizationRecord | null> {
    return (await db.query(LIVE, [scope.orgId]))[0] ?? null;
  }

  /** Reads an organization that cannot change until the transaction ends. Rows that refer to it can still be inserted. */
  async lock(tx: Tx, scope: OrgScope): Promise<OrganizationRecord | null> {
    return (await tx.query(LOCK, [scope.orgId]))[0] ?? null;
  }

  async takenSlugs(db: Db, slugs: string[]): Promise<Set<string>> {
    return new Set((await db.query(TAKEN_SLUGS, [slugs])).map((r) => r.slug));
  }

  /** @returns null when the slug is taken */
  async insert(tx: Tx, row: { id: string; name: string; slug: string; created_by: string }): Promise<OrganizationRecord | null> {
    return (await tx.query(INSERT, [row.id, row.name, row.slug, row.created_by]))[0] ?? null;
  }

  async update(tx: Tx, scope: OrgScope, row: { name: string; slug: string }): Promise<OrganizationRecord | null> {
    return (await tx.query(UPDATE, [scope.orgId, row.name, row.slug]))[0] ?? null;
  }

  /** @returns when it was deleted; null when there is nothing to delete */
  async softDelete(tx: Tx, scope: OrgScope): Promise<Date | null> {
    return (await tx.query(DELETE, [scope.orgId]))[0]?.deleted_at ?? null;
  }

  /** @returns when it was suspended; null when it was so already, or is not there */
  async suspend(tx: Tx, scope: OrgScope): Promise<Date | null> {
    return (await tx.query(SUSPEND, [scope.orgId]))[0]?.suspended_at ?? null;
  }

  /** @returns whether it was suspended before */
  async unsuspend(tx: Tx, scope: OrgScope): Promise<boolean> {
    return (await tx.query(UNSUSPEND, [scope.orgId])).length > 0;
  }
}

/** Whether a write failed because a live organization has the slug. */
export const isSlugTaken = (error: unknown): boolean => isUniqueViolation(error, 'organizations_slug');
