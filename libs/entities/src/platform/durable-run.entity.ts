import { Column, PrimaryColumn } from 'typeorm';

/** What a run waits for. */
export interface RunWait {
  /** When it goes on at the latest; null for never by itself. */
  resume_at: string | null;
}

/** The columns of every kind of durable run. Each kind has a table of its own with these and more. */
export abstract class DurableRun<Status extends string, Wait extends RunWait> {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') org_id: string;
  /** `queued`, `running` and `waiting` are those of every kind; all others are ends. */
  @Column('text') status: Status;
  @Column('text', { nullable: true }) lease_owner: string | null;
  @Column('timestamptz', { nullable: true }) lease_expires_at: Date | null;
  /** Raised by every claim; every later write names it, and a stale one touches no row. */
  @Column('bigint', { default: 0 }) fence: string;
  /** Over the organization's cap: it has left the queue and waits for a slot. */
  @Column('boolean', { default: false }) parked: boolean;
  @Column('jsonb', { nullable: true }) wait: Wait | null;
  /** Deliveries in a row that finished no step. */
  @Column('int', { default: 0 }) deliveries: number;
  @Column('int', { default: 0 }) steps_done: number;
  @Column('jsonb', { nullable: true }) error: { code: string; message: string; retryable: boolean } | null;
  @Column('timestamptz', { default: () => 'now()' }) dispatched_at: Date;
  @Column('timestamptz', { nullable: true }) started_at: Date | null;
  @Column('timestamptz', { nullable: true }) finished_at: Date | null;
}
