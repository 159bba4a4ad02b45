import { Injectable } from '@nestjs/common';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { uuidv7 } from 'uuidv7';

// One statement for known and unknown addresses: neither the answer nor the time tells them apart.
const ASK = statement(`
  INSERT INTO waitlist_entries AS w (id, email, email_canonical, name, note) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (email_canonical) DO UPDATE SET
    asked_at = now(), updated_at = now(),
    name = coalesce(excluded.name, w.name), note = coalesce(excluded.note, w.note),
    status = CASE w.status WHEN 'dismissed' THEN 'pending' ELSE w.status END,
    dismissed_at = CASE w.status WHEN 'dismissed' THEN NULL ELSE w.dismissed_at END`);
const REGISTER = statement(`
  UPDATE waitlist_entries SET status = 'registered', updated_at = now() WHERE email_canonical = $1 AND status IN ('admitted', 'pending')`);

/** What changes an entry by its address, in whichever state it is. */
@Injectable()
export class WaitlistRepository {
  async ask(db: Db, email: string, name: string | null, note: string | null): Promise<void> {
    await db.execute(ASK, [uuidv7(), email, canonicalEmail(email), name, note]);
  }

  /** The address has an account now: nobody needs to decide about it any more. */
  async register(tx: Tx, email: string): Promise<void> {
    await tx.execute(REGISTER, [canonicalEmail(email)]);
  }
}
