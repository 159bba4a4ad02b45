import { Injectable } from '@nestjs/common';
import { StoredFile } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, storable, type Db, type Tx } from '@aps/platform/database';

/** A file that is whole and not expired. It is no larger than a number counts exactly. */
export type FileRow = Omit<StoredFile, 'size_bytes' | 'org_id' | 'created_at' | 'text'> & { size_bytes: number };

/** Where it lies, for who removes it. */
export type StoredAt = Pick<FileRow, 'id' | 'storage_key'>;

/** How long an upload may take before it counts as one whose process has died. */
const UPLOAD_TIME = `interval '1 hour'`;
/** How long a file lives that nothing refers to. */
const UNATTACHED_TIME = `interval '24 hours'`;

const COLUMNS = 'f.id, f.filename, f.media_type, f.size_bytes::int AS size_bytes, f.sha256, f.storage_key, f.created_by, f.expires_at';
/** Whole, not expired, and nobody has begun to remove it. */
const THERE = `f.sha256 <> '' AND (f.expires_at IS NULL OR f.expires_at > now())`;

/** What a file takes at least, its row and blocks of a disk: many small ones fill a storage, too. */
const LEAST_BYTES = 64 * 1024;
const UNATTACHED = statement<{ bytes: number }>(
  `SELECT coalesce(sum(greatest(size_bytes, ${LEAST_BYTES})), 0)::float8 AS bytes FROM files WHERE org_id = $1 AND expires_at IS NOT NULL`,
);
const FINISH = statement<FileRow>(`
  UPDATE files f SET media_type = $3, size_bytes = $4, sha256 = $5, expires_at = now() + ${UNATTACHED_TIME}
  WHERE f.org_id = $1 AND f.id = $2 AND f.sha256 = '' AND f.expires_at > now() RETURNING ${COLUMNS}`);
const FIND = statement<FileRow>(`SELECT ${COLUMNS} FROM files f WHERE f.org_id = $1 AND f.id = ANY($2::uuid[]) AND ${THERE}`);
const TEXT = statement<Pick<StoredFile, 'text'>>('SELECT text FROM files WHERE org_id = $1 AND id = $2');
const KEEP_TEXT = statement('UPDATE files SET text = $3 WHERE org_id = $1 AND id = $2 AND text IS NULL');
// The row locks settle who was first, this or a removal; in the order of the ids, so that two of these never wait for each other.
const LINK = statement<{ id: string }>(`
WITH f AS MATERIALIZED (
  SELECT f.id, f.expires_at FROM files f WHERE f.org_id = $1 AND f.id = ANY($2::uuid[]) AND ${THERE} ORDER BY f.id FOR NO KEY UPDATE
), u AS (
  UPDATE files SET expires_at = NULL FROM f WHERE files.id = f.id AND f.expires_at IS NOT NULL
), l AS (
  INSERT INTO file_links (file_id, target_kind, target_id, org_id) SELECT f.id, $3, $4, $1 FROM f ON CONFLICT DO NOTHING
)
SELECT id FROM f`);
// Whoever links one of them meanwhile is seen by the next statement, or sees that it is on its way out.
const HOLD_LINKED = statement(`
  SELECT f.id FROM files f JOIN file_links l ON l.file_id = f.id
  WHERE l.org_id = $1 AND l.target_kind = $2 AND l.target_id = ANY ($3) AND l.file_id <> ALL ($4::uuid[]) ORDER BY f.id FOR NO KEY UPDATE OF f`);
const UNLINK = statement(`
WITH l AS (
  DELETE FROM file_links WHERE org_id = $1 AND target_kind = $2 AND target_id = ANY ($3) AND file_id <> ALL ($4::uuid[]) RETURNING file_id
)
UPDATE files f SET expires_at = now() FROM (SELECT DISTINCT file_id FROM l) l
WHERE f.id = l.file_id AND NOT EXISTS (SELECT 1 FROM file_links o WHERE o.file_id = l.file_id AND NOT (o.target_kind = $2 AND o.target_id = ANY ($3)))`);
// What could not be removed before comes last, so that it never stands in the way of the others.
const BEGIN_REMOVAL = statement<StoredAt>(`
  WITH x AS MATERIALIZED (SELECT id FROM files WHERE expires_at <= now() ORDER BY expires_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED)
  UPDATE files f SET expires_at = '-infinity' FROM x WHERE f.id = x.id RETURNING f.id, f.storage_key`);
const ABANDON = statement(`UPDATE files SET expires_at = '-infinity' WHERE org_id = $1 AND id = $2`);
const REMOVE = statement(`DELETE FROM files WHERE id = $1 AND expires_at = '-infinity'`);

/**
 * The tables of files and of what refers to them.
 *
 * A row is there before its bytes and after them, and seen only while they are: so nothing lies in the storage that no row tells of.
 */
@Injectable()
export class FilesRepository {
  private readonly files = new OrgTable(StoredFile);

  /** Announces bytes that are about to be stored. */
  async begin(tx: Tx, scope: OrgScope, file: StoredAt & { filename: string }): Promise<void> {
    const unknown = { media_type: '', size_bytes: '0', sha256: '' };
    const expires_at = () => `now() + ${UPLOAD_TIME}`;
    await this.files.insert(tx, scope, { ...file, ...unknown, created_by: scope.actor.userId, expires_at });
  }

  /** The bytes are there. @returns null when the file has been given up meanwhile */
  async finish(db: Db, scope: OrgScope, id: string, found: { mediaType: string; size: number; sha256: string }): Promise<FileRow | null> {
    const [row] = await db.query(FINISH, [scope.orgId, id, found.mediaType, found.size, found.sha256]);
    return row ?? null;
  }

  /** What an organization's files take to which nothing refers, those on their way in or out included. */
  async unattachedBytes(db: Db, scope: OrgScope): Promise<number> {
    return (await db.query(UNATTACHED, [scope.orgId]))[0].bytes;
  }

  find(db: Db, scope: OrgScope, ids: string[]): Promise<FileRow[]> {
    return db.query(FIND, [scope.orgId, ids]);
  }

  async text(db: Db, scope: OrgScope, id: string): Promise<string | null> {
    return (await db.query(TEXT, [scope.orgId, id]))[0]?.text ?? null;
  }

  async keepText(db: Db, scope: OrgScope, id: string, text: string): Promise<void> {
    await db.execute(KEEP_TEXT, [scope.orgId, id, storable(text)]);
  }

  /** From here on the files live as long as what refers to them. @returns those that are still there */
  async link(tx: Db, scope: OrgScope, target: { kind: string; id: string }, ids: string[]): Promise<string[]> {
    return (await tx.query(LINK, [scope.orgId, ids, target.kind, target.id])).map((row) => row.id);
  }

  /** These refer to no file any more but those that are kept; what nothing else refers to is removed. */
  async unlink(tx: Db, orgId: string, target: { kind: string; ids: string[] }, kept: string[]): Promise<void> {
    const released = [orgId, target.kind, target.ids, kept];
    await tx.execute(HOLD_LINKED, released);
    await tx.execute(UNLINK, released);
  }

  /** From here on nobody sees them, and nothing can refer to them any more. */
  beginRemoval(db: Db, limit: number): Promise<StoredAt[]> {
    return db.query(BEGIN_REMOVAL, [limit]);
  }

  async abandon(db: Db, scope: OrgScope, id: string): Promise<void> {
    await db.execute(ABANDON, [scope.orgId, id]);
  }

  /** The bytes are gone. */
  async remove(db: Db, id: string): Promise<void> {
    await db.execute(REMOVE, [id]);
  }
}
