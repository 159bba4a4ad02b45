import { RUN_KINDS, type RunKindName } from '@aps/contracts';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NumberField,
  PageOf,
  StringField,
  UuidField,
} from '@aps/platform/http';

export class WorkerQueueResponse {
  @StringField({ description: 'The queue.', example: 'turns' }) name: string;
  @IntField({ description: 'Jobs of it that the worker ran when it was last seen.', example: 3 }) active: number;
  @IntField({ description: 'Jobs of it that the worker runs at most.', example: 1024 }) concurrency: number;
}

export class WorkerLeaseResponse {
  @EnumField(Object.keys(RUN_KINDS) as RunKindName[], { name: 'WorkerLeaseKind', description: 'What is held.', example: 'turn' })
  kind: RunKindName;
  @UuidField({ description: 'Its id.' }) id: string;
  @UuidField({ description: 'The organization whose work it is.' }) org_id: string;
  @StringField({ description: 'Every owner has its own; what is written with an older one is refused.' }) fence: string;
  @DateTimeField({ description: 'Another worker may take it over then, unless this one is heard of before.' }) expires_at: string;
}

export class WorkerResponse {
  @StringField({ description: 'The worker, as leases name it: host, process and a part drawn at its start.', example: 'worker-1:1:9f31c2' })
  id: string;

  @StringField({ description: 'Its app.', example: 'chat-worker' }) app: string;
  @StringField({ description: 'Version of its code.', example: '0.1.0' }) version: string;
  @DateTimeField({ description: 'Since when it runs.' }) started_at: string;
  @DateTimeField({ description: 'When it was last heard of; every five seconds.' }) last_seen_at: string;
  @BooleanField({ description: 'Whether it begins nothing new.', example: false }) draining: boolean;
  @ListField(() => WorkerQueueResponse, { description: 'The queues that it consumes.' }) queues: WorkerQueueResponse[];
  @ListField(() => WorkerLeaseResponse, { description: 'What it holds, by when that ends.' }) leases: WorkerLeaseResponse[];
}

const UNKNOWN = 'null while Redis cannot be asked.';

export class QueueResponse {
  @StringField({ description: 'The queue.', example: 'turns' }) name: string;
  @IntField({ nullable: true, description: `Jobs that wait for a worker; ${UNKNOWN}` }) ready: number | null;
  @IntField({ nullable: true, description: `Jobs that run, in all workers; ${UNKNOWN}` }) active: number | null;
  @IntField({ nullable: true, description: `Jobs that wait for a time; ${UNKNOWN}` }) delayed: number | null;

  @IntField({ nullable: true, description: `Jobs that the queue has given up; what failed all its tries is a dead letter. ${UNKNOWN}` })
  failed: number | null;

  @NumberField({ nullable: true, description: `Age of the job that has waited longest, in seconds; 0 when none waits, ${UNKNOWN}` })
  oldest_ready_s: number | null;
}

export class WorkerListResponse extends PageOf(WorkerResponse) {
  @ListField(() => QueueResponse, { description: 'Every queue of the service, whoever consumes it.' }) queues: QueueResponse[];
}

export class WorkerDrainResponse {
  @StringField({ description: 'The worker.', example: 'worker-1:1:9f31c2' }) id: string;
  @BooleanField({ description: 'Whether it begins nothing new from now on.', example: true }) draining: boolean;
}
