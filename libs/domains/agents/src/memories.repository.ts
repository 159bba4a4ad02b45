import { Injectable } from '@nestjs/common';
import type { Memory } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { sliceBounds, statement, type Db, type Slice, type Tx } from '@aps/platform/database';

export interface MemoryOwner {
  kind: Memory['owner_kind'];
  id: string;
}

const NEWEST = statement<Memory>(`
  SELECT * FROM memories WHERE org_id = $1 AND owner_kind = $2 AND owner_id = $3
  ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`);
const COUNT = statement<{ total: number }>(
  'SELECT count(*)::int AS total FROM memories WHERE org_id = $1 AND owner_kind = $2 AND owner_id = $3',
);
const INSERT = statement<Memory>(`
  INSERT INTO memories (id, org_id, owner_kind, owner_id, content, source, created_by, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp()) RETURNING *`);
const DELETE = statement('DELETE FROM memories WHERE org_id = $1 AND owner_kind = $2 AND owner_id = $3 AND id = $4');

/** The only file that names the table of memories. */
@Injectable()
export class MemoriesRepository {
  newest(db: Db, scope: OrgScope, owner: MemoryOwner, page: Slice): Promise<Memory[]> {
    return db.query(NEWEST, [scope.orgId, owner.kind, owner.id, ...sliceBounds(page)]);
  }

  async count(db: Db, scope: OrgScope, owner: MemoryOwner): Promise<number> {
    return (await db.query(COUNT, [scope.orgId, owner.kind, owner.id]))[0].total;
  }

  async insert(
    tx: Tx,
    scope: OrgScope,
    row: { id: string; owner: MemoryOwner; content: string; source: Memory['source'] },
  ): Promise<Memory> {
    const [memory] = await tx.query(INSERT, [
      row.id,
      scope.orgId,
      row.owner.kind,
      row.owner.id,
      row.content,
      row.source,
      scope.actor.userId,
    ]);
    return memory;
  }

  /** @returns whether it was there */
  async delete(tx: Tx, scope: OrgScope, owner: MemoryOwner, id: string): Promise<boolean> {
    return (await tx.execute(DELETE, [scope.orgId, owner.kind, owner.id, id])) > 0;
  }
}
