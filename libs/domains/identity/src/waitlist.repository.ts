import { Injectable } from '@nestjs/common';
import type { WaitlistEntry, WaitlistStatus } from '@aps/entities';
import { sliceBounds, statement, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';

/** An entry as operators see it. */
export type WaitlistRow = Omit<WaitlistEntry, 'email_canonical'>;

const COLUMNS = 'id, email, name, note, status, asked_at, admitted_at, dismissed_at, last_mailed_at, created_at, updated_at';

// One statement for known and unknown addresses: neither the answer nor the time tells them apart.
const ASK = statement(`
  INSERT INTO waitlist_entries AS w (id, email, email_canonical, name, note) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (email_canonical) DO UPDATE SET
    asked_at = now(), updated_at = now(),
    name = coalesce(excluded.name, w.name), note = coalesce(excluded.note, w.note),
    status = CASE w.status WHEN 'dismissed' THEN 'pending' ELSE w.status END,
    dismissed_at = CASE w.status WHEN 'dismissed' THEN NULL ELSE w.dismissed_at END`);
const LIST = statement<WaitlistRow>(`
  SELECT ${COLUMNS} FROM waitlist_entries WHERE $1::text IS NULL OR status = $1 ORDER BY asked_at DESC, id DESC LIMIT $2 OFFSET $3`);
const COUNT = statement<{ n: number }>('SELECT count(*)::int AS n FROM waitlist_entries WHERE $1::text IS NULL OR status = $1');
const LOCK = statement<WaitlistRow>(`SELECT ${COLUMNS} FROM waitlist_entries WHERE id = $1 FOR UPDATE`);
const DISMISS = statement<WaitlistRow>(
  `UPDATE waitlist_entries SET status = 'dismissed', dismissed_at = now(), updated_at = now() WHERE id = $1 RETURNING ${COLUMNS}`,
);
const ADMIT = statement<WaitlistRow>(`
  UPDATE waitlist_entries SET status = 'admitted', admitted_at = now(), dismissed_at = NULL, last_mailed_at = now(), updated_at = now()
  WHERE id = $1 RETURNING ${COLUMNS}`);
const MAILED = statement<WaitlistRow>(
  `UPDATE waitlist_entries SET last_mailed_at = now(), updated_at = now() WHERE id = $1 RETURNING ${COLUMNS}`,
);
const IS_ADMITTED = statement(`SELECT 1 FROM waitlist_entries WHERE email_canonical = $1 AND status = 'admitted'`);
const REGISTER = statement(`
  UPDATE waitlist_entries SET status = 'registered', updated_at = now() WHERE email_canonical = $1 AND status IN ('admitted', 'pending')`);

@Injectable()
export class WaitlistRepository {
  async ask(db: Db, entry: { id: string; email: string; name: string | null; note: string | null }): Promise<void> {
    await db.execute(ASK, [entry.id, entry.email, canonicalEmail(entry.email), entry.name, entry.note]);
  }

  /** Most recently asked first. */
  async list(
    db: Db,
    query: { status?: WaitlistStatus; limit?: number; offset?: number },
  ): Promise<{ items: WaitlistRow[]; total: number }> {
    const items = await db.query(LIST, [query.status ?? null, ...sliceBounds(query)]);
    const [{ n }] = await db.query(COUNT, [query.status ?? null]);
    return { items, total: n };
  }

  async lock(tx: Tx, id: string): Promise<WaitlistRow | null> {
    return (await tx.query(LOCK, [id]))[0] ?? null;
  }

  async dismiss(tx: Tx, id: string): Promise<WaitlistRow> {
    return (await tx.query(DISMISS, [id]))[0];
  }

  async admit(tx: Tx, id: string): Promise<WaitlistRow> {
    return (await tx.query(ADMIT, [id]))[0];
  }

  async mailed(tx: Tx, id: string): Promise<WaitlistRow> {
    return (await tx.query(MAILED, [id]))[0];
  }

  async isAdmitted(db: Db, email: string): Promise<boolean> {
    return (await db.query(IS_ADMITTED, [canonicalEmail(email)])).length > 0;
  }

  /** The address has an account now: nobody needs to decide about it any more. */
  async register(tx: Tx, email: string): Promise<void> {
    await tx.execute(REGISTER, [canonicalEmail(email)]);
  }
}
