import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The event log: what happened on a topic, numbered without gaps in commit order. Streams and timelines read it. */
// What a chat was escalated by outlives its decisions.
@Index('events_escalated', ['topic'], { where: `type = 'decision_recorded' AND data->>'kind' = 'escalate'` })
@Entity('events')
export class EventRow {
  @PrimaryColumn('text') topic: string;
  @PrimaryColumn('int') seq: number;
  @Column('uuid') org_id: string;
  @Column('text') type: string;
  @Column('jsonb') data: Record<string, unknown>;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** After so many events of a topic it is counted what they were. */
export const EVENTS_COUNTED_EVERY = 1_000;

/** How many events of each type a topic has up to a number, itself included: so nobody has to count them all. Kept by a trigger. */
@Entity('event_counts')
export class EventCounts {
  @PrimaryColumn('text') topic: string;
  @PrimaryColumn('int') seq: number;
  @Column('uuid') org_id: string;
  @Column('jsonb') counts: Record<string, number>;
}
