import type { EventType } from '@aps/contracts';
import type { Dispatched, HoldReason, MessageState, MessageVerdict } from '@aps/entities';
import { statement } from '@aps/platform/database';
import { appendEvents } from '@aps/platform/realtime';

export const TYPE = 'inbox_message_updated' satisfies EventType;

/** What readers of an inbox are told of a message. */
export interface MessageUpdate extends Record<string, unknown> {
  message_id: string;
  state: MessageState;
  verdict: MessageVerdict | null;
  evaluation_state: 'evaluating' | 'settled';
  hold_reason: HoldReason | null;
  dispatched: Dispatched | null;
}

/** The row of the inbox, whose lock numbers its events, is locked here, and no sooner: so transactions wait for each other as late as may be. */
export const APPEND = statement<{ inbox_id: string; before: number; told: MessageUpdate[] }>(`
  WITH m AS (
    SELECT inbox_id, count(*)::int AS n, jsonb_agg(jsonb_build_object('type', '${TYPE}', 'data', jsonb_build_object('message_id', id, 'state', state, 'verdict', verdict,
      'evaluation_state', CASE state WHEN 'evaluating' THEN state ELSE 'settled' END, 'hold_reason', hold_reason, 'dispatched', dispatched)) ORDER BY received_at, id) AS events
    FROM inbox_messages WHERE id = ANY ($1) GROUP BY inbox_id
  ), i AS (
    UPDATE inboxes i SET event_seq = i.event_seq + m.n FROM m WHERE i.id = m.inbox_id RETURNING i.id, i.org_id, i.event_seq - m.n AS before, m.events
  ), e AS (${appendEvents({ from: 'i', topic: `'inbox:' || i.id`, orgId: 'i.org_id', after: 'i.before', events: 'i.events', at: '$2' })}
  )
  SELECT id AS inbox_id, before, (SELECT jsonb_agg(x.event->'data' ORDER BY x.ord) FROM jsonb_array_elements(events) WITH ORDINALITY x(event, ord)) AS told FROM i`);
