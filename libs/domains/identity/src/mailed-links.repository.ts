import { Injectable } from '@nestjs/common';
import type { LinkPurpose } from '@aps/entities';
import { hashToken, newOpaqueToken } from '@aps/platform/crypto';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';

/** For how many hours a link is good, and how many an hour may be asked for: nobody's mailbox is flooded by asking often. */
const RULES: Record<LinkPurpose, { lifeH: number; perHour: number }> = {
  password_reset: { lifeH: 1, perHour: 5 },
  email_proof: { lifeH: 24, perHour: 3 },
};

const INSERT = statement(`
  INSERT INTO mailed_links (id, user_id, purpose, token_hash, expires_at) VALUES ($1, $2, $3, $4, now() + make_interval(hours => $5::int))`);
// The link of a signup, which is not asked for, is no newer than the user: now() is when their transaction began.
const ASKED = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM mailed_links l JOIN users u ON u.id = l.user_id
  WHERE l.user_id = $1 AND l.purpose = $2 AND l.created_at > u.created_at AND l.created_at > now() - interval '1 hour'`);
const GOOD = 'purpose = $1 AND token_hash = $2 AND used_at IS NULL AND expires_at > now()';
const OWNER = statement<{ user_id: string }>(`SELECT user_id FROM mailed_links WHERE ${GOOD}`);
const TAKE = statement(`UPDATE mailed_links SET used_at = now() WHERE ${GOOD}`);
const VOID = statement('UPDATE mailed_links SET used_at = now() WHERE user_id = $1 AND purpose = $2 AND used_at IS NULL');
/** Removes some that have long ended. Values: how many. */
export const PURGE_MAILED_LINKS = statement(
  `DELETE FROM mailed_links WHERE id IN (SELECT id FROM mailed_links WHERE expires_at < now() - interval '1 day' LIMIT $1)`,
);

/** Secrets that were mailed to a user, and prove by coming back that they have the mailbox: each good for one purpose, for a time and once. */
@Injectable()
export class MailedLinksRepository {
  /** @returns the link's secret, to be mailed */
  async issue(tx: Tx, purpose: LinkPurpose, userId: string): Promise<string> {
    const token = newOpaqueToken();
    await tx.execute(INSERT, [uuidv7(), userId, purpose, hashToken(token), RULES[purpose].lifeH]);
    return token;
  }

  /** @param userId whose row is locked: of several who ask at once, each counts those before */
  async mayAsk(tx: Tx, purpose: LinkPurpose, userId: string): Promise<boolean> {
    return (await tx.query(ASKED, [userId, purpose]))[0].n < RULES[purpose].perHour;
  }

  /** @returns whose token it is, or null when it is not good */
  async ownerOf(db: Db, purpose: LinkPurpose, token: string): Promise<string | null> {
    return (await db.query(OWNER, [purpose, hashToken(token)]))[0]?.user_id ?? null;
  }

  /** Uses a token up. Of several that try at once, one succeeds. */
  async take(tx: Tx, purpose: LinkPurpose, token: string): Promise<boolean> {
    return (await tx.execute(TAKE, [purpose, hashToken(token)])) > 0;
  }

  async voidAllOf(tx: Tx, purpose: LinkPurpose, userId: string): Promise<void> {
    await tx.execute(VOID, [userId, purpose]);
  }
}
