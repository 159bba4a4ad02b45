import { statement } from '@aps/platform/database';

const LONG_GONE = 'o.deleted_at < now() - make_interval(days => $1)';

/** Own models, all at once: they may replace each other. Value of this and the next two: days. */
export const FORGET_MODELS = statement(`DELETE FROM model_catalog m USING organizations o WHERE o.id = m.owner_org_id AND ${LONG_GONE}`);
export const FORGET_ROUTES = statement(`DELETE FROM inference_routes r USING organizations o WHERE o.id = r.owner_org_id AND ${LONG_GONE}`);
/** Data keys, but for those by which accounts at the provider of managed apps have still to be found: these after as many days again, as what cannot be read heals no more. */
export const DESTROY_KEYS = statement(`
  WITH k AS (
    DELETE FROM data_keys k USING organizations o WHERE o.id = k.org_id AND ${LONG_GONE}
      AND (o.deleted_at < now() - make_interval(days => 2 * $1)
        OR NOT EXISTS (SELECT FROM connections c WHERE c.org_id = o.id AND c.method = 'oauth2' AND c.consent IS NOT NULL AND c.deleted_at IS NULL))
    RETURNING k.org_id)
  UPDATE connections c SET consent = NULL FROM k WHERE c.org_id = k.org_id AND c.consent IS NOT NULL`);
/** Lets files expire whatever refers to them. Values: days, how many at most. */
export const LET_FILES_GO = statement(`
  WITH x AS MATERIALIZED (
    SELECT f.id, f.org_id FROM organizations o JOIN files f ON f.org_id = o.id
    WHERE ${LONG_GONE} AND f.expires_at IS NULL ORDER BY f.id LIMIT $2 FOR NO KEY UPDATE OF f SKIP LOCKED
  ), s AS (
    UPDATE knowledge_sources s SET file_id = NULL FROM x WHERE s.org_id = x.org_id AND s.file_id = x.id
  ), l AS (
    DELETE FROM file_links l USING x WHERE l.file_id = x.id
  )
  UPDATE files f SET expires_at = now() FROM x WHERE f.id = x.id`);
