import { Injectable } from '@nestjs/common';
import type { InboxMessage, InboxReply, InboxSettings } from '@aps/entities';
import { advisoryLock, statement, type Db, type Tx } from '@aps/platform/database';
import { mailOfRetry } from '../pipeline/evaluation.sql';

/** A message of mail that a turn or a run answers. */
export interface AnsweredMessage extends Pick<InboxMessage, 'id' | 'org_id' | 'inbox_id' | 'subject' | 'message_ref'> {
  /** Since its newest evaluation began. */
  terminated: boolean;
  settings: InboxSettings;
  automatic: string | null;
  reply_to: string | null;
}

/** A reply that is to go out, with where it goes from. */
export interface DueReply extends Pick<InboxReply, 'id' | 'org_id' | 'message_id' | 'to_address' | 'body_text'> {
  subject: string | null;
  message_ref: string | null;
  references: string[];
  recipient: string | null;
  settings: InboxSettings;
  org_suspended: boolean;
  org_deleted: boolean;
}

const answered = (from: string, on: string) => `
  SELECT m.id, m.org_id, m.inbox_id, m.subject, m.message_ref, coalesce(m.terminated_at >= m.dispatched_at, false) AS terminated, i.settings, e.automatic, e.reply_to
  FROM ${from} JOIN inbox_messages m ON ${on} JOIN inboxes i ON i.id = m.inbox_id JOIN inbox_envelopes e ON e.message_id = m.id WHERE m.channel_kind = 'email'`;
/** What a turn answers; of one that goes on after another, what that answers. A retry begins with a copy of the mail, and answers that if nothing has, and no member has spoken after it. */
const ANSWERING = `(
  SELECT coalesce((SELECT x.id FROM inbox_messages x WHERE x.chat_message_id = b.message_id LIMIT 1), CASE b.cause WHEN 'retry' THEN (
    SELECT x.id FROM (${mailOfRetry('b.chat_id')}) x JOIN messages s ON s.id = b.message_id AND s.author_id IS NULL
    WHERE NOT EXISTS (SELECT FROM inbox_replies r WHERE r.message_id = x.id AND r.state IN ('armed', 'sent') AND r.source_id <> t.id)) END) AS mail_id
  FROM turns t CROSS JOIN LATERAL (SELECT b.* FROM turns b WHERE b.chat_id = t.chat_id AND b.seq <= t.seq AND b.message_id IS NOT NULL ORDER BY b.seq DESC LIMIT 1) b
  WHERE t.id = $1) t`;
const ANSWERED_BY = statement<AnsweredMessage>(answered(ANSWERING, 'm.id = t.mail_id'));
/** The newest mail of a chat, those among them that have begun another since, and that which a retry begins with again. */
const NEWEST_OF_CHAT = statement<AnsweredMessage>(
  `${answered(
    `(
    SELECT id FROM inbox_messages WHERE dispatched->>'chat_id' = $1
    UNION ALL
    SELECT id FROM inbox_messages WHERE previous_dispatches <> '[]' AND previous_dispatches @> jsonb_build_array(jsonb_build_object('chat_id', $1::text))
    UNION ALL
    ${mailOfRetry('$1::uuid')}
  ) c`,
    'm.id = c.id',
  )} ORDER BY m.received_at DESC, m.id DESC LIMIT 1`,
);
// Whoever terminates the message stands its replies down under its lock: one that is armed later would go out after all.
const ANSWERED_BY_RUN = statement<AnsweredMessage>(`
  WITH RECURSIVE r AS (
    SELECT id, org_id, source_kind, source_ref_id, restarted_from FROM process_runs WHERE id = $1
    UNION SELECT p.id, p.org_id, p.source_kind, p.source_ref_id, p.restarted_from FROM r JOIN process_runs p ON p.id = r.restarted_from
  ) ${answered('r', `m.org_id = r.org_id AND m.id = CASE r.source_kind WHEN 'inbox' THEN r.source_ref_id::uuid END`)} FOR SHARE OF m`);
const SAID = statement<Pick<InboxReply, 'reason' | 'due_at'>>(
  'SELECT reason, due_at FROM inbox_replies WHERE source_id = $1 AND call_key = $2',
);
const LOCK_INBOX = statement<{ id: string }>('SELECT id FROM inboxes WHERE id = $1 FOR NO KEY UPDATE');
const SENT_LATELY = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM inbox_replies WHERE org_id = $1 AND to_address = $2 AND state IN ('armed', 'sent') AND created_at > now() - interval '1 hour'`);
const INSERT = statement<{ due_at: Date }>(`
  INSERT INTO inbox_replies (id, org_id, inbox_id, message_id, chat_id, source_id, call_key, to_address, body_text, state, reason, due_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + make_interval(secs => $12)) ON CONFLICT (source_id, call_key) DO NOTHING RETURNING due_at`);
const LOCK_DUE = statement<DueReply>(`
  SELECT r.id, r.org_id, r.message_id, r.to_address, r.body_text, m.subject, m.message_ref, m.recipient, i.settings, e."references",
         o.suspended_at IS NOT NULL AS org_suspended, o.deleted_at IS NOT NULL AS org_deleted
  FROM inbox_replies r JOIN inbox_messages m ON m.id = r.message_id JOIN inboxes i ON i.id = r.inbox_id JOIN inbox_envelopes e ON e.message_id = m.id JOIN organizations o ON o.id = r.org_id
  WHERE r.id = $1 AND r.state = 'armed' FOR NO KEY UPDATE OF r`);
const SENT = statement(`UPDATE inbox_replies SET state = 'sent', sent_at = now(), message_ref = $2 WHERE id = $1`);
const STAND_DOWN = statement<{ id: string }>(
  `UPDATE inbox_replies SET state = 'stood_down' WHERE message_id = $1 AND state = 'armed' RETURNING id`,
);

/** The rows of mails that answer messages. */
@Injectable()
export class RepliesRepository {
  /** The mail that a turn answers; null where it answers none. */
  async answeredBy(db: Db, turnId: string): Promise<AnsweredMessage | null> {
    return (await db.query(ANSWERED_BY, [turnId]))[0] ?? null;
  }

  /** The same where somebody else has spoken since: the newest mail of the turn's chat; null where it has none. */
  async newestOfChat(db: Db, chatId: string): Promise<AnsweredMessage | null> {
    return (await db.query(NEWEST_OF_CHAT, [chatId]))[0] ?? null;
  }

  /** The mail that a run answers: the one that it was begun by, or the run that it does again. It is not terminated before the transaction ends. */
  async answeredByRun(tx: Tx, runId: string): Promise<AnsweredMessage | null> {
    return (await tx.query(ANSWERED_BY_RUN, [runId]))[0] ?? null;
  }

  /** What became of what was said by the same call before. */
  async said(
    tx: Tx,
    { source_id, call_key }: Pick<InboxReply, 'source_id' | 'call_key'>,
  ): Promise<Pick<InboxReply, 'reason' | 'due_at'> | null> {
    return (await tx.query(SAID, [source_id, call_key]))[0] ?? null;
  }

  /** Takes what arming a reply locks, in the order in which that does. */
  async hold(tx: Tx, { org_id, inbox_id, reply_to }: AnsweredMessage): Promise<void> {
    if (reply_to !== null) await this.lockSender(tx, org_id, reply_to);
    await tx.query(LOCK_INBOX, [inbox_id]);
  }

  private lockSender(tx: Tx, orgId: string, address: string): Promise<void> {
    return advisoryLock(tx, `replies:${orgId}:${address}`);
  }

  /** How many have been armed for an address within an hour. None is armed for it by others before the transaction ends. */
  async sentLately(tx: Tx, orgId: string, address: string): Promise<number> {
    await this.lockSender(tx, orgId, address);
    return (await tx.query(SENT_LATELY, [orgId, address]))[0].n;
  }

  /** @returns when it is due; null where it is there already */
  async insert(
    tx: Tx,
    reply: Pick<
      InboxReply,
      'id' | 'org_id' | 'inbox_id' | 'message_id' | 'chat_id' | 'source_id' | 'call_key' | 'to_address' | 'body_text' | 'state' | 'reason'
    >,
    delayS: number,
  ): Promise<Date | null> {
    const { id, org_id, inbox_id, message_id, chat_id, source_id, call_key, to_address, body_text, state, reason } = reply;
    const values = [id, org_id, inbox_id, message_id, chat_id, source_id, call_key, to_address, body_text, state, reason, delayS];
    return (await tx.query(INSERT, values))[0]?.due_at ?? null;
  }

  async lockDue(tx: Tx, id: string): Promise<DueReply | null> {
    return (await tx.query(LOCK_DUE, [id]))[0] ?? null;
  }

  async sent(tx: Tx, id: string, messageRef: string): Promise<void> {
    await tx.execute(SENT, [id, messageRef]);
  }

  /** @returns those that will not go out */
  async standDown(tx: Tx, messageId: string): Promise<string[]> {
    return (await tx.query(STAND_DOWN, [messageId])).map(({ id }) => id);
  }
}
