import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '@aps/platform/database';
import { appendEvents } from '@aps/platform/realtime';
import type { NewEvent } from './chat.types';
import { topicOf } from './chat-state.sql';

const APPEND = statement<{ chat_id: string; before: number }>(`
  WITH n AS (
    SELECT (x->>'chat_id')::uuid AS chat_id, x->'events' AS events FROM jsonb_array_elements($1::jsonb) AS x
  ), c AS (
    UPDATE chats SET event_seq = event_seq + jsonb_array_length(n.events), updated_at = $2 FROM n WHERE chats.id = n.chat_id
    RETURNING chats.id, chats.org_id, chats.event_seq - jsonb_array_length(n.events) AS before, n.events
  ), e AS (${appendEvents({ from: 'c', topic: topicOf('c.id'), orgId: 'c.org_id', after: 'c.before', events: 'c.events', at: '$2' })}
  )
  SELECT id AS chat_id, before FROM c`);

/** The event logs of chats, where no other statement writes them. */
@Injectable()
export class ChatLogRepository {
  /** Appends to the event logs of locked chats. @returns the number before each chat's first */
  async append(tx: Tx, of: { chat_id: string; events: NewEvent[] }[], at: Date): Promise<Map<string, number>> {
    const rows = await tx.query(APPEND, [JSON.stringify(of), at]);
    return new Map(rows.map((r) => [r.chat_id, r.before]));
  }
}
