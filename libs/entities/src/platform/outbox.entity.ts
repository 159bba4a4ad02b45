import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { DatedRow } from '../rows';

/** Work that was handed out and is not done yet. The row is written with the change that causes it and deleted with the effect. */
@Entity('outbox')
@Index('outbox_available', ['available_at'])
export class OutboxRow extends DatedRow {
  @Column('text') job: string;
  @Column('int') version: number;
  @Column('jsonb') payload: unknown;
  @Column('text', { nullable: true }) request_id: string | null;
  @Column('text', { nullable: true }) traceparent: string | null;
  /** When the relay publishes it (again). */
  @Column('timestamptz') available_at: Date;
  /** How often the relay has published it; 0 = only its writer has. */
  @Column('int', { default: 0 }) publishes: number;
  /** Of its delivery: a new one does not wait for the queue to give up the old one, whose worker is gone. */
  @Column('int', { default: 0 }) generation: number;
  @Column('int', { default: 0 }) failures: number;
  @Column('text', { nullable: true }) last_error: string | null;
}

/** Jobs that were given up after their last try. An operator reads these; nothing runs them again by itself. */
@Entity('dead_letters')
@Index('dead_letters_failed', ['failed_at'])
export class DeadLetter {
  @PrimaryColumn('uuid') id: string;
  @Column('text') job: string;
  @Column('int') version: number;
  @Column('jsonb') payload: unknown;
  @Column('text', { nullable: true }) request_id: string | null;
  @Column('text') error: string;
  @Column('timestamptz', { default: () => 'now()' }) failed_at: Date;
}
