import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A queue as one process consumes it. */
export interface ConsumedQueue {
  name: string;
  /** Jobs of it that the process ran when it was last seen. */
  active: number;
  concurrency: number;
}

/** A process that consumes queues, as long as it is alive: it writes its row every few seconds. */
@Entity('workers')
export class WorkerRow {
  /** As in the leases that it holds. One that restarts is another. */
  @PrimaryColumn('text') id: string;
  @Column('text') app: string;
  @Column('text') version: string;
  @Column('timestamptz') started_at: Date;
  @Column('timestamptz') last_seen_at: Date;
  /** It begins nothing new. */
  @Column('boolean') draining: boolean;
  @Column('jsonb') queues: ConsumedQueue[];
}
