import type { InboxEnvelope, InboxMessage, TraceRow } from '@aps/entities';
import { statement } from '@aps/platform/database';

/** The newest messages of an inbox whose evaluation is over, and whether what they say is still kept. */
export const RECENT = statement<{ id: string; kept: boolean }>(`
  SELECT id, raw_available AND raw_expires_at > now() AS kept FROM inbox_messages
  WHERE org_id = $1 AND inbox_id = $2 AND received_at > now() - make_interval(hours => $3) AND state <> 'evaluating'
  ORDER BY received_at DESC, id DESC LIMIT $4`);

/** A message with what it says and the trace of its last evaluation. */
export type TracedMessage = Pick<
  InboxMessage,
  | 'id'
  | 'channel_kind'
  | 'recipient'
  | 'sender_address'
  | 'sender_name'
  | 'subject'
  | 'size_bytes'
  | 'state'
  | 'verdict'
  | 'decided_by'
  | 'revision_id'
> &
  Pick<InboxEnvelope, 'headers' | 'body_text' | 'payload' | 'attachments' | 'auth'> & { trace: TraceRow[] };

export const TRACED = statement<TracedMessage>(`
  SELECT m.id, m.channel_kind, m.recipient, m.sender_address, m.sender_name, m.subject, m.size_bytes, m.state, m.verdict, m.decided_by, m.revision_id,
    e.headers, e.body_text, e.payload, e.attachments, e.auth,
    coalesce((SELECT jsonb_agg(r.value ORDER BY t.id, r.n) FROM inbox_traces t, jsonb_array_elements(t.rows) WITH ORDINALITY r(value, n)
      WHERE t.message_id = m.id AND t.evaluation_no = m.evaluation_no), '[]') AS trace
  FROM inbox_messages m JOIN inbox_envelopes e ON e.message_id = m.id
  WHERE m.org_id = $1 AND m.id = ANY ($2) ORDER BY m.received_at DESC, m.id DESC`);
