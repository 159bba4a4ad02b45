import { Injectable } from '@nestjs/common';
import type { FileReference } from '@aps/entities';
import { batchStatement, statement, type Db } from '@aps/platform/database';
import { insertJobs } from '@aps/platform/outbox';
import type { Destination, IncomingMessage } from './intake.port';
import { keyOf } from './text.policy';

/** A message as it is stored, with where it goes. */
interface StoredMessage extends Omit<IncomingMessage, 'files'>, Pick<Destination, 'org_id' | 'channel_id' | 'channel_kind' | 'recipient'> {
  id: string;
  sender_address: string | null;
  sender_name: string | null;
  sender_key: string | null;
  message_ref: string | null;
  attachments: FileReference[];
}

/**
 * The message, what it says, and its job, or nothing: where it is a duplicate, or its channel is closed meanwhile. Locks nothing; who stores
 * what another process is just storing waits for that commit, and two processes do so in the same order.
 */
const STORE = batchStatement<StoredMessage>(
  'inbox_message',
  ({ id, channel_id, dedupe_key }) => (dedupe_key === null ? id : `${channel_id} ${dedupe_key}`),
  () => `
  WITH n AS MATERIALIZED (
    SELECT n.*, i.* FROM jsonb_to_recordset($1::jsonb) AS n(id uuid, org_id uuid, channel_id uuid, channel_kind text, recipient text, sender_address text, sender_name text,
      sender_key text, subject text, size_bytes int, dedupe_key text, message_ref text, headers jsonb, body_text text, payload jsonb, attachments jsonb, auth jsonb, automatic text, reply_to text,
      "references" text[], participants text[])
    CROSS JOIN LATERAL (
      SELECT i.id AS inbox_id, i.current_revision_id, i.retention_days FROM inbox_channels c JOIN inboxes i ON i.id = c.inbox_id
      WHERE c.id = n.channel_id AND c.org_id = n.org_id AND c.enabled AND i.deleted_at IS NULL AND i.status <> 'disabled' LIMIT 1
    ) i
  ), m AS (
    INSERT INTO inbox_messages (id, org_id, inbox_id, channel_id, channel_kind, recipient, sender_address, sender_name, sender_key, subject, size_bytes,
      dedupe_key, message_ref, revision_id, raw_expires_at, status)
    SELECT id, org_id, inbox_id, channel_id, channel_kind, recipient, sender_address, sender_name, coalesce(sender_key, channel_id::text), subject, size_bytes,
      dedupe_key, message_ref, current_revision_id, now() + make_interval(days => retention_days), 'queued' FROM n ORDER BY channel_id, dedupe_key
    ON CONFLICT (channel_id, dedupe_key) DO NOTHING RETURNING id, org_id
  ), e AS (
    INSERT INTO inbox_envelopes (message_id, org_id, headers, body_text, payload, attachments, auth, automatic, reply_to, "references", participants)
    SELECT n.id, n.org_id, n.headers, n.body_text, n.payload, n.attachments, n.auth, n.automatic, n.reply_to, n."references", n.participants FROM m JOIN n ON n.id = m.id
  ), o AS (${insertJobs('inbox.evaluate', { from: 'm', id: 'm.id', payload: { org_id: 'm.org_id', message_id: 'm.id' } })})
  SELECT coalesce(n.channel_id || ' ' || n.dedupe_key, n.id::text) AS batch_key, to_json(true) AS answer FROM m JOIN n ON n.id = m.id`,
);
const AGAIN = statement<{ id: string }>(
  'UPDATE inbox_messages SET duplicates = duplicates + 1, last_duplicate_at = now() WHERE channel_id = $1 AND org_id = $2 AND dedupe_key = $3 RETURNING id',
);

/** The rows of messages as they come in. */
@Injectable()
export class IntakeRepository {
  /** @returns false where nothing was written */
  async store(db: Db, to: Destination, message: Omit<IncomingMessage, 'files'> & { id: string }, files: FileReference[]): Promise<boolean> {
    const { org_id, channel_id, channel_kind, recipient } = to;
    const stored: StoredMessage = {
      ...message,
      ...{ org_id, channel_id, channel_kind, recipient },
      sender_address: message.sender?.address ?? null,
      sender_name: message.sender?.name ?? null,
      sender_key: keyOf(message.sender?.address),
      // A webhook is known by what names its thread, so equal ones refer to each other.
      message_ref: message.message_id ?? (channel_kind === 'webhook' ? (message.references[0] ?? null) : null),
      attachments: files,
    };
    return (await db.batched(STORE, stored)) !== null;
  }

  /** Counts a duplicate by the first of its kind. @returns that one's id; null where there is none */
  async again(db: Db, { channel_id, org_id }: Destination, dedupeKey: string): Promise<string | null> {
    return (await db.query(AGAIN, [channel_id, org_id, dedupeKey]))[0]?.id ?? null;
  }
}
