import { Injectable } from '@nestjs/common';
import { statement, type Db, type Tx } from '@aps/platform/database';

/** For how many days a slug that was given up is nobody else's. */
const KEPT_DAYS = 90;
/** So many of one organization, the last: by changing its slug nobody keeps all good ones from everybody. */
const KEPT = 5;

// In one statement, so that none is seen neither here nor there while it is given up.
const TAKEN = statement<{ slug: string }>(`
  SELECT slug FROM organizations WHERE slug = ANY ($1) AND deleted_at IS NULL AND id IS DISTINCT FROM $2::uuid
  UNION ALL SELECT f.slug FROM former_slugs f JOIN organizations o ON o.id = f.org_id AND o.deleted_at IS NULL
  WHERE f.slug = ANY ($1) AND f.since > now() - interval '${KEPT_DAYS} days' AND f.org_id IS DISTINCT FROM $2::uuid`);
const KEEP = statement(`
  INSERT INTO former_slugs (slug, org_id) VALUES ($2, $1) ON CONFLICT (slug) DO UPDATE SET org_id = excluded.org_id, since = now()`);
const FORGET = statement(`
  DELETE FROM former_slugs WHERE org_id = $1
    AND slug NOT IN (SELECT slug FROM former_slugs WHERE org_id = $1 AND slug <> $2 ORDER BY since DESC, slug LIMIT ${KEPT})`);

/** The slugs of organizations: those that they have, and those that they have had until lately. */
@Injectable()
export class SlugsRepository {
  /** Which of these are no longer to be had by an organization, or by a new one. */
  taken(db: Db, slugs: string[], orgId: string | null): Promise<{ slug: string }[]> {
    return db.query(TAKEN, [slugs, orgId]);
  }

  /** Under the lock of the organization's row. */
  async change(tx: Tx, orgId: string, { from, to }: { from: string; to: string }): Promise<void> {
    await tx.execute(KEEP, [orgId, from]);
    await tx.execute(FORGET, [orgId, to]);
  }
}
