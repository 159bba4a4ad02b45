import type { EventType } from '@aps/contracts';
import { statement } from '@aps/platform/database';

/**
 * The part of a statement that appends to event logs: the list of each row of `from`, in its order. Whoever runs it holds the lock of the
 * row that the topic is about, and writes there the number that the log has come to.
 *
 * @param log SQL: `from` is what follows FROM, all else stands for a value of its rows; `after` is the newest number before, `events` a
 *   JSON list of `{type, data}`; `data` changes it, where `x.event` is the event
 */
export const appendEvents = (log: {
  from: string;
  topic: string;
  orgId: string;
  after: string;
  events: string;
  at: string;
  data?: string;
}): string => `
  INSERT INTO events (topic, seq, org_id, type, data, created_at)
  SELECT ${log.topic}, ${log.after} + x.ord, ${log.orgId}, x.event->>'type', ${log.data ?? `x.event->'data'`}, ${log.at}
  FROM ${log.from} CROSS JOIN LATERAL jsonb_array_elements(${log.events}) WITH ORDINALITY AS x(event, ord)`;

/** The same for one event for each row of `from`. */
export const appendEvent = (log: {
  from: string;
  topic: string;
  orgId: string;
  after: string;
  type: EventType;
  data: string;
  at: string;
}): string => `
  INSERT INTO events (topic, seq, org_id, type, data, created_at)
  SELECT ${log.topic}, ${log.after} + 1, ${log.orgId}, '${log.type}', ${log.data}, ${log.at} FROM ${log.from}`;

export const AFTER = statement<{ seq: number; type: EventType; data: Record<string, unknown>; created_at: Date }>(
  'SELECT seq, type, data, created_at FROM events WHERE topic = $1 AND seq > $2 ORDER BY seq LIMIT $3',
);
export const NEWEST = statement<{ topic: string; seq: number | null }>(
  'SELECT t.topic, (SELECT e.seq FROM events e WHERE e.topic = t.topic ORDER BY e.seq DESC LIMIT 1) AS seq FROM unnest($1::text[]) AS t(topic)',
);
