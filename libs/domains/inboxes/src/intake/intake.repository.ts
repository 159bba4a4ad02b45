import { Injectable } from '@nestjs/common';
import type { EnvelopeFile } from '@aps/entities';
import { statement, type Db } from '@aps/platform/database';
import { insertJobs } from '@aps/platform/outbox';
import type { Destination, IncomingMessage } from './intake.port';

/** The message, what it says, and its job, or nothing: where it is a duplicate, or its channel is closed meanwhile. */
const STORE = statement<{ id: string }>(`
  WITH i AS (
    SELECT i.id AS inbox_id, i.org_id, i.current_revision_id, i.retention_days FROM inbox_channels c JOIN inboxes i ON i.id = c.inbox_id
    WHERE c.id = $2 AND c.org_id = $3 AND c.enabled AND i.deleted_at IS NULL AND i.status <> 'disabled'
  ), m AS (
    INSERT INTO inbox_messages (id, org_id, inbox_id, channel_id, channel_kind, recipient, sender_address, sender_name, sender_key, subject, size_bytes,
      dedupe_key, message_ref, revision_id, raw_expires_at, status)
    SELECT $1, i.org_id, i.inbox_id, $2, $4, $5, $6, $7, coalesce($6, $2::text), $8, $9, $10, $11, i.current_revision_id, now() + make_interval(days => i.retention_days), 'queued' FROM i
    ON CONFLICT (channel_id, dedupe_key) DO NOTHING RETURNING id, org_id
  ), e AS (
    INSERT INTO inbox_envelopes (message_id, org_id, headers, body_text, payload, attachments, auth, automatic, reply_to, "references", participants)
    SELECT m.id, m.org_id, $12::jsonb, $13, $14::jsonb, $15::jsonb, $16::jsonb, $17, $18, $19::text[], $20::text[] FROM m
  ), o AS (${insertJobs('inbox.evaluate', { from: 'm', id: 'm.id', payload: { org_id: 'm.org_id', message_id: 'm.id' } })})
  SELECT m.id FROM m`);
const AGAIN = statement<{ id: string }>(
  'UPDATE inbox_messages SET duplicates = duplicates + 1, last_duplicate_at = now() WHERE channel_id = $1 AND org_id = $2 AND dedupe_key = $3 RETURNING id',
);

/** The rows of messages as they come in. */
@Injectable()
export class IntakeRepository {
  /** @returns false where nothing was written */
  async store(db: Db, to: Destination, message: Omit<IncomingMessage, 'files'> & { id: string }, files: EnvelopeFile[]): Promise<boolean> {
    const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));
    const rows = await db.query(STORE, [
      message.id,
      to.channel_id,
      to.org_id,
      to.channel_kind,
      to.recipient,
      message.sender?.address ?? null,
      message.sender?.name ?? null,
      message.subject,
      message.size_bytes,
      message.dedupe_key,
      // A webhook is known by what names its thread, so equal ones refer to each other.
      message.message_id ?? (to.channel_kind === 'webhook' ? (message.references[0] ?? null) : null),
      JSON.stringify(message.headers),
      message.body_text,
      json(message.payload),
      JSON.stringify(files),
      json(message.auth),
      message.automatic,
      message.reply_to,
      message.references,
      message.participants,
    ]);
    return rows.length > 0;
  }

  /** Counts a duplicate by the first of its kind. @returns that one's id; null where there is none */
  async again(db: Db, { channel_id, org_id }: Destination, dedupeKey: string): Promise<string | null> {
    return (await db.query(AGAIN, [channel_id, org_id, dedupeKey]))[0]?.id ?? null;
  }
}
