import { Injectable } from '@nestjs/common';
import { statement, type Tenant, type Tx } from '@aps/platform/database';
import type { Placed } from './tree.policy';

const OF_PARENT = `org_id = $1 AND kb_id = $2 AND kind = 'document' AND parent_id IS NOT DISTINCT FROM $3::uuid`;
const BELOW = statement<Placed>(`SELECT id, position FROM knowledge_sources WHERE ${OF_PARENT} ORDER BY position, created_at, id`);
const LAST_PLACE = statement<{ place: number }>(`SELECT coalesce(max(position) + 1, 1) AS place FROM knowledge_sources WHERE ${OF_PARENT}`);
const LINE = statement<{ id: string }>(`
  WITH RECURSIVE up AS (
    SELECT id, parent_id FROM knowledge_sources WHERE org_id = $1 AND kb_id = $2 AND id = $3 AND kind = 'document'
    UNION SELECT s.id, s.parent_id FROM up JOIN knowledge_sources s ON s.id = up.parent_id)
  SELECT id FROM up`);
const PLACE = statement(
  `UPDATE knowledge_sources s SET position = x.position FROM unnest($2::uuid[], $3::float8[]) AS x(id, position) WHERE s.org_id = $1 AND s.id = x.id`,
);
const HANG = statement('UPDATE knowledge_sources SET parent_id = $3 WHERE org_id = $1 AND id = ANY ($2::uuid[])');

type Org = Pick<Tenant, 'orgId'>;

/** How documents stand below each other. */
@Injectable()
export class DocumentsRepository {
  /** What stands right below a page, or below none, in its order. */
  below(tx: Tx, { orgId }: Org, kbId: string, parentId: string | null): Promise<Placed[]> {
    return tx.query(BELOW, [orgId, kbId, parentId]);
  }

  async lastPlace(tx: Tx, { orgId }: Org, kbId: string, parentId: string | null): Promise<number> {
    return (await tx.query(LAST_PLACE, [orgId, kbId, parentId]))[0].place;
  }

  /** A page of the base, and all that it stands below; nothing where there is none. */
  async lineOf(tx: Tx, { orgId }: Org, kbId: string, id: string): Promise<string[]> {
    return (await tx.query(LINE, [orgId, kbId, id])).map((row) => row.id);
  }

  async place(tx: Tx, { orgId }: Org, pages: readonly Placed[]): Promise<void> {
    await tx.execute(PLACE, [orgId, pages.map(({ id }) => id), pages.map(({ position }) => position)]);
  }

  async hang(tx: Tx, { orgId }: Org, ids: readonly string[], parentId: string | null): Promise<void> {
    await tx.execute(HANG, [orgId, ids, parentId]);
  }
}
