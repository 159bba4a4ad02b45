import { statement } from '@aps/platform/database';

/** For how many days a slug that was given up is nobody else's. */
const KEPT_DAYS = 90;
/** The last ones are kept for an organization: by changing its slug nobody keeps all good ones from everybody. */
const MAX_FORMER_SLUGS = 5;

/**
 * Which slugs are no longer to be had by an organization, or by a new one: those that others have, and have had until lately; of deleted ones, where mail comes to them. In one statement, so
 * that none is seen neither here nor there while it is given up. Values: the slugs, the organization.
 */
export const TAKEN_SLUGS = statement<{ slug: string }>(`
  SELECT slug FROM organizations WHERE slug = ANY ($1) AND deleted_at IS NULL AND id IS DISTINCT FROM $2::uuid
  UNION ALL SELECT f.slug FROM former_slugs f JOIN organizations o ON o.id = f.org_id AND (o.deleted_at IS NULL OR o.receives_mail)
  WHERE f.slug = ANY ($1) AND f.since > now() - interval '${KEPT_DAYS} days' AND f.org_id IS DISTINCT FROM $2::uuid`);
/** Under the lock of the organization's row. Values: the organization, the slug that it gives up. */
export const KEEP_SLUG = statement(`
  INSERT INTO former_slugs (slug, org_id) VALUES ($2, $1) ON CONFLICT (slug) DO UPDATE SET org_id = excluded.org_id, since = now()`);
/** The same for those that it need not keep any more. Values: the organization, the slug that it has now. */
export const FORGET_SLUGS = statement(`
  DELETE FROM former_slugs WHERE org_id = $1
    AND slug NOT IN (SELECT slug FROM former_slugs WHERE org_id = $1 AND slug <> $2 ORDER BY since DESC, slug LIMIT ${MAX_FORMER_SLUGS})`);
/** Values: the organization. */
export const RECEIVES_MAIL = statement('UPDATE organizations SET receives_mail = true WHERE id = $1 AND NOT receives_mail');
