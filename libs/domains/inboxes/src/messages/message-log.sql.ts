import type { EventType } from '@aps/contracts';
import type { Dispatched, HoldReason, MessageState, MessageVerdict } from '@aps/entities';
import { statement } from '@aps/platform/database';
import { appendEvent } from '@aps/platform/realtime';

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

/** An update as it is written down, behind the event with the number `before`. */
export interface Told {
  inbox_id: string;
  before: number;
  data: MessageUpdate;
}

/** What readers are told, in SQL. @param m a row of `inbox_messages` as it is now */
export const updateOf = (m: string): string =>
  `jsonb_build_object('message_id', ${m}.id, 'state', ${m}.state, 'verdict', ${m}.verdict, 'evaluation_state', CASE ${m}.state WHEN 'evaluating' THEN ${m}.state ELSE 'settled' END,
      'hold_reason', ${m}.hold_reason, 'dispatched', ${m}.dispatched)`;

/**
 * Parts of a statement that write updates of messages down; one of them, `told`, has each message with its {@link Told}. The row of the
 * inbox, whose lock numbers its events, is locked here at the latest, and best no sooner: so transactions wait for each other as late as may
 * be.
 *
 * @param from rows with `id`, `org_id`, `inbox_id`, `received_at`, `data` and `at`
 */
export const appendUpdates = (from: string): string => `
  numbered AS (SELECT *, row_number() OVER (PARTITION BY inbox_id ORDER BY received_at, id) AS n FROM ${from}
  ), counted AS (SELECT inbox_id, count(*)::int AS n FROM numbered GROUP BY inbox_id
  ), i AS (UPDATE inboxes i SET event_seq = i.event_seq + c.n FROM counted c WHERE i.id = c.inbox_id RETURNING i.id AS inbox_id, i.event_seq - c.n AS before
  ), told AS MATERIALIZED (SELECT x.*, (i.before + x.n - 1)::int AS before FROM numbered x JOIN i ON i.inbox_id = x.inbox_id
  ), e AS (${appendEvent({ from: 'told x', topic: `'inbox:' || x.inbox_id`, orgId: 'x.org_id', after: 'x.before', type: TYPE, data: 'x.data', at: 'x.at' })}
  )`;

export const APPEND = statement<Told>(`
  WITH m AS (SELECT m.id, m.org_id, m.inbox_id, m.received_at, ${updateOf('m')} AS data, $2::timestamptz AS at FROM inbox_messages m WHERE m.id = ANY ($1)
  ), ${appendUpdates('m')}
  SELECT inbox_id, before, data FROM told ORDER BY inbox_id, before`);
