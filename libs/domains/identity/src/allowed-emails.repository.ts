import { Injectable } from '@nestjs/common';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';

/** An address that may sign up. */
export interface AllowedEmailView {
  id: string;
  email: string;
  added_by: { user_id: string; email: string } | null;
  created_at: Date;
}

const VIEW = `
  SELECT e.id, e.email, CASE WHEN a.id IS NOT NULL THEN jsonb_build_object('user_id', a.id, 'email', a.email) END AS added_by, e.created_at
  FROM allowed_emails e LEFT JOIN users a ON a.id = e.added_by`;

const LIST = statement<AllowedEmailView>(`${VIEW} ORDER BY e.created_at DESC, e.id DESC`);
const BY_ID = statement<AllowedEmailView>(`${VIEW} WHERE e.id = $1`);
const INSERT = statement(
  'INSERT INTO allowed_emails (id, email, email_canonical, added_by) VALUES ($1, $2, $3, $4) ON CONFLICT (email_canonical) DO NOTHING',
);
const DELETE = statement<{ email: string }>('DELETE FROM allowed_emails WHERE id = $1 RETURNING email');
const HAS = statement('SELECT 1 FROM allowed_emails WHERE email_canonical = $1');

@Injectable()
export class AllowedEmailsRepository {
  list(db: Db): Promise<AllowedEmailView[]> {
    return db.query(LIST);
  }

  async byId(db: Db, id: string): Promise<AllowedEmailView> {
    return (await db.query(BY_ID, [id]))[0];
  }

  /** @returns false when the address is there already */
  async insert(tx: Tx, id: string, email: string, addedBy: string): Promise<boolean> {
    return (await tx.execute(INSERT, [id, email, canonicalEmail(email), addedBy])) > 0;
  }

  /** @returns the address that was removed, or null */
  async remove(tx: Tx, id: string): Promise<string | null> {
    return (await tx.query(DELETE, [id]))[0]?.email ?? null;
  }

  async has(db: Db, email: string): Promise<boolean> {
    return (await db.query(HAS, [canonicalEmail(email)])).length > 0;
  }
}
