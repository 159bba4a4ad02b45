import { Injectable } from '@nestjs/common';
import type { TopicEvent } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { AFTER, NEWEST } from './event-log.sql';

/**
 * Reads the event log: what happened on a topic, numbered 1, 2, 3 … without gaps in commit order. Writers number their events
 * under the lock of the row that the topic is about, which is what makes the order the order of commits.
 */
@Injectable()
export class EventLog {
  constructor(private readonly db: Database) {}

  /** The time by which events are dated. */
  now(): Date {
    return this.db.now();
  }

  async after(topic: string, seq: number, limit = 500): Promise<TopicEvent[]> {
    const rows = await this.db.query(AFTER, [topic, seq, limit]);
    return rows.map((r) => ({ id: Number(r.seq), type: r.type, at: r.created_at.toISOString(), data: r.data }));
  }

  /** The newest number of each topic that has any. */
  async newestOf(topics: string[]): Promise<Map<string, number>> {
    if (topics.length === 0) return new Map();
    const rows = await this.db.query(NEWEST, [topics]);
    return new Map(rows.flatMap((r) => (r.seq === null ? [] : [[r.topic, r.seq] as const])));
  }
}
