import { Injectable } from '@nestjs/common';
import type { EventType, SpineEvent } from '@aps/contracts';
import { Database, statement } from '@aps/platform/database';

const AFTER = statement('SELECT seq, type, data, created_at FROM events WHERE topic = $1 AND seq > $2 ORDER BY seq LIMIT $3');
const NEWEST = statement(
  'SELECT t.topic, (SELECT e.seq FROM events e WHERE e.topic = t.topic ORDER BY e.seq DESC LIMIT 1) AS seq FROM unnest($1::text[]) AS t(topic)',
);

/**
 * Reads the event spine: what happened on a topic, numbered 1, 2, 3 … without gaps in commit order. Writers number their events
 * under the lock of the row that the topic is about, which is what makes the order the order of commits.
 */
@Injectable()
export class EventSpine {
  constructor(private readonly db: Database) {}

  /** The time by which events are dated. */
  now(): Date {
    return this.db.now();
  }

  async after(topic: string, seq: number, limit = 500): Promise<SpineEvent[]> {
    const rows = await this.db.query<{ seq: number; type: EventType; data: Record<string, unknown>; created_at: Date }>(AFTER, [
      topic,
      seq,
      limit,
    ]);
    return rows.map((r) => ({ id: Number(r.seq), type: r.type, at: r.created_at.toISOString(), data: r.data }));
  }

  /** The newest number of each topic that has any. */
  async newestOf(topics: string[]): Promise<Map<string, number>> {
    if (topics.length === 0) return new Map();
    const rows = await this.db.query<{ topic: string; seq: number | null }>(NEWEST, [topics]);
    return new Map(rows.flatMap((r) => (r.seq === null ? [] : [[r.topic, r.seq] as const])));
  }
}
