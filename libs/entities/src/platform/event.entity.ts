import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The event log: what happened on a topic, numbered without gaps in commit order. Streams and timelines read it. */
@Entity('events')
export class EventRow {
  @PrimaryColumn('text') topic: string;
  @PrimaryColumn('int') seq: number;
  @Column('uuid') org_id: string;
  @Column('text') type: string;
  @Column('jsonb') data: Record<string, unknown>;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}
