import { Injectable } from '@nestjs/common';
import type { EventType, SpineEvent } from '@aps/contracts';
import { Database, statement } from '@aps/platform/database';

const AFTER = statement('SELECT seq, type, data, created_at FROM events WHERE topic = $1 AND seq > $2 ORDER BY seq LIMIT $3');
const NEWEST = statement('SELECT coalesce(max(seq), 0)::int AS seq FROM events WHERE topic = $1');

/**
 * Reads the event spine: what happened on a topic, numbered 1, 2, 3 … without gaps in commit order. Writers number their events
 * under the lock of the row that the topic is about, which is what makes the order the order of commits.
 */
@Injectable()
export class EventSpine {
  constructor(private readonly db: Database) {}

  async after(topic: string, seq: number, limit = 500): Promise<SpineEvent[]> {
    const rows = await this.db.query<{ seq: number; type: EventType; data: Record<string, unknown>; created_at: Date }>(AFTER, [topic, seq, limit]);
    return rows.map((r) => ({ id: Number(r.seq), type: r.type, at: r.created_at.toISOString(), data: r.data }));
  }

  async newest(topic: string): Promise<number> {
    return (await this.db.query<{ seq: number }>(NEWEST, [topic]))[0].seq;
  }
}
