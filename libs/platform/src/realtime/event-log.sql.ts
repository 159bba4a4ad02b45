import type { EventType } from '@aps/contracts';
import { statement } from '@aps/platform/database';

export const AFTER = statement<{ seq: number; type: EventType; data: Record<string, unknown>; created_at: Date }>(
  'SELECT seq, type, data, created_at FROM events WHERE topic = $1 AND seq > $2 ORDER BY seq LIMIT $3',
);
export const NEWEST = statement<{ topic: string; seq: number | null }>(
  'SELECT t.topic, (SELECT e.seq FROM events e WHERE e.topic = t.topic ORDER BY e.seq DESC LIMIT 1) AS seq FROM unnest($1::text[]) AS t(topic)',
);
