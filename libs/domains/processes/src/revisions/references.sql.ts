import { statement } from '@aps/platform/database';

/** Something that a definition names, as it is called there. */
export interface Named {
  id: string;
  slug: string;
}

const named = (table: string, byRef: string, lock: string) =>
  statement<Named>(`SELECT id, slug FROM ${table} WHERE org_id = $1 AND deleted_at IS NULL AND ${byRef} ORDER BY id ${lock}`);
// Ids and slugs apart: each has its index.
const BY_UUID = '(id = ANY ($2::uuid[]) OR slug = ANY ($3))';
const BY_TEXT = '(id = ANY ($2) OR slug = ANY ($3))';

/** Live ones by id or slug, held as a reference holds them: whoever deletes one waits for the transaction, and then finds who names it. */
export const HOLD = {
  agent: named('agents', BY_UUID, 'FOR KEY SHARE'),
  // Their deletion writes no more than a column.
  template: named('prompt_templates', BY_UUID, 'FOR SHARE'),
  process: named('processes', BY_TEXT, 'FOR KEY SHARE'),
};

/** What could have been named: the first slugs of an organization. */
const slugs = (table: string) =>
  statement<{ slug: string }>(`SELECT slug FROM ${table} WHERE org_id = $1 AND deleted_at IS NULL ORDER BY slug LIMIT $2`);
export const SLUGS = { agent: slugs('agents'), template: slugs('prompt_templates'), process: slugs('processes') };

/** Of some processes those by whose deployed definitions a run comes to a certain one. Values: organization, processes, the certain one. */
export const REACHING = statement<{ start: string }>(`
  WITH RECURSIVE reached AS (
    SELECT id AS start, id FROM unnest($2::text[]) AS x(id)
    UNION
    SELECT r.start, substr(x.ref, 9) FROM reached r
    JOIN process_revisions v ON v.process_id = r.id AND v.status = 'deployed' AND v.org_id = $1 CROSS JOIN LATERAL unnest(v.refs) AS x(ref)
    WHERE x.ref LIKE 'process:%'
  )
  SELECT DISTINCT start FROM reached WHERE id = $3`);

export const NOT_DEPLOYED = statement<{ id: string }>('SELECT id FROM processes WHERE id = ANY ($1) AND current_revision_id IS NULL');

/** Members by user id or canonical address. */
export const MEMBERS = statement<{ user_id: string; email: string }>(`
  SELECT m.user_id, u.email_canonical AS email FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.org_id = $1 AND (m.user_id = ANY ($2::uuid[]) OR u.email_canonical = ANY ($3))`);
