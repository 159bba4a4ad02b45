import { statement } from '@aps/platform/database';

/**
 * Puts an address on the list, as registered where it has an account. One statement for known and unknown ones: neither the answer nor the time
 * tells them apart.
 * Operators decide by name and note, and anybody can ask for an address: what was said first stays until that is decided against.
 * Values: an id for where it is new, the address, its canonical form, name, note.
 */
export const ASK = statement(`
  INSERT INTO waitlist_entries AS w (id, email, email_canonical, name, note, status)
  SELECT $1, $2, $3, $4, $5, CASE WHEN EXISTS (SELECT FROM users WHERE email_canonical = $3) THEN 'registered' ELSE 'pending' END
  ON CONFLICT (email_canonical) DO UPDATE SET
    asked_at = now(), updated_at = now(),
    name = CASE w.status WHEN 'dismissed' THEN coalesce(excluded.name, w.name) ELSE coalesce(w.name, excluded.name) END,
    note = CASE w.status WHEN 'dismissed' THEN coalesce(excluded.note, w.note) ELSE coalesce(w.note, excluded.note) END,
    status = CASE WHEN w.status = 'dismissed' OR excluded.status = 'registered' THEN excluded.status ELSE w.status END,
    dismissed_at = CASE w.status WHEN 'dismissed' THEN NULL ELSE w.dismissed_at END`);
/** The address, in its canonical form, has an account now: nobody needs to decide about it any more, or is told that it may sign up. */
export const REGISTER = statement(`
  UPDATE waitlist_entries SET status = 'registered', dismissed_at = NULL, updated_at = now() WHERE email_canonical = $1 AND status <> 'registered'`);
