import { Injectable } from '@nestjs/common';
import type { LinkPurpose } from '@aps/entities';
import { statement, type Db, type Tx } from '@aps/platform/database';

/** For how long a link is good, in hours. */
const LIFE_H: Record<LinkPurpose, number> = { password_reset: 1, email_proof: 24 };

const INSERT = statement(`
  INSERT INTO mailed_links (id, user_id, purpose, token_hash, expires_at) VALUES ($1, $2, $3, $4, now() + make_interval(hours => $5::int))`);
// The link of a signup goes out at the moment of the user's row: it is not asked for.
const ASKED = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM mailed_links l JOIN users u ON u.id = l.user_id
  WHERE l.user_id = $1 AND l.purpose = $2 AND l.created_at > u.created_at AND l.created_at > now() - interval '1 hour'`);
const GOOD = 'purpose = $1 AND token_hash = $2 AND used_at IS NULL AND expires_at > now()';
const OWNER = statement<{ user_id: string }>(`SELECT user_id FROM mailed_links WHERE ${GOOD}`);
const TAKE = statement(`UPDATE mailed_links SET used_at = now() WHERE ${GOOD}`);
const VOID = statement('UPDATE mailed_links SET used_at = now() WHERE user_id = $1 AND purpose = $2 AND used_at IS NULL');
const PURGE = statement(
  `DELETE FROM mailed_links WHERE id IN (SELECT id FROM mailed_links WHERE expires_at < now() - interval '1 day' LIMIT $1)`,
);

/** Secrets that were mailed to a user, and prove by coming back that they have the mailbox: each good for one purpose, for a time and once. */
@Injectable()
export class MailedLinksRepository {
  async insert(tx: Tx, purpose: LinkPurpose, link: { id: string; userId: string; tokenHash: Buffer }): Promise<void> {
    await tx.execute(INSERT, [link.id, link.userId, purpose, link.tokenHash, LIFE_H[purpose]]);
  }

  async askedInLastHour(tx: Tx, purpose: LinkPurpose, userId: string): Promise<number> {
    return (await tx.query(ASKED, [userId, purpose]))[0].n;
  }

  /** @returns whose token it is, or null when it is not good */
  async ownerOf(db: Db, purpose: LinkPurpose, tokenHash: Buffer): Promise<string | null> {
    return (await db.query(OWNER, [purpose, tokenHash]))[0]?.user_id ?? null;
  }

  /** Uses a token up. Of several that try at once, one succeeds. */
  async take(tx: Tx, purpose: LinkPurpose, tokenHash: Buffer): Promise<boolean> {
    return (await tx.execute(TAKE, [purpose, tokenHash])) > 0;
  }

  async voidAllOf(tx: Tx, purpose: LinkPurpose, userId: string): Promise<void> {
    await tx.execute(VOID, [userId, purpose]);
  }

  /** @returns how many that have long ended were removed */
  purge(db: Db, limit: number): Promise<number> {
    return db.execute(PURGE, [limit]);
  }
}
