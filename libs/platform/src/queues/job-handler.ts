import { SetMetadata } from '@nestjs/common';
import { JOBS, type JobName, type JobPayload, type QueueName } from '@aps/contracts';

export const JOB_HANDLER = 'aps:job-handler';

export interface JobHandlerOptions {
  /**
   * The handler itself removes the outbox row, in the transaction that records its effect (`DELETE FROM outbox WHERE id = …`).
   * Then nothing is read or written around it.
   */
  ownsRow?: boolean;
}

export interface JobHandlerMetadata extends JobHandlerOptions {
  name: JobName;
}

/** What a handler is told beside the payload. */
export interface JobContext {
  /** Id of the job and of its outbox row. */
  jobId: string;
  requestId?: string;
  traceparent?: string;
  /** Aborts when the process must end and the grace is over. */
  signal: AbortSignal;
}

/** Thrown by a handler that has not begun its job, because its worker begins nothing new any more: the job goes to another one. */
export class NotBegun extends Error {
  constructor() {
    super('This worker begins nothing new');
    this.name = 'NotBegun';
  }
}

/** Thrown by a handler that cannot begin its job before a time, which says nothing about the job: no try counts, and it comes again then. */
export class PutOff extends Error {
  constructor(
    readonly seconds: number,
    why: string,
  ) {
    super(why);
    this.name = 'PutOff';
  }
}

/** A method with this decorator runs the jobs of that name. Delivery is at least once: the method must bear repetition. */
export function JobHandler<N extends JobName>(name: N, options: JobHandlerOptions = {}) {
  return <T extends (payload: JobPayload<N>, context: JobContext) => Promise<void>>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<T>,
  ): void => {
    SetMetadata(JOB_HANDLER, { name, ...options } satisfies JobHandlerMetadata)(target, key, descriptor);
  };
}

/**
 * Proves at boot that each job of the consumed queues has exactly one handler.
 *
 * @throws Error naming every job without a handler or with several
 */
export function proveHandlers(found: { name: JobName; owner: string }[], queues: readonly QueueName[]): void {
  const problems: string[] = [];
  for (const [name, { queue }] of Object.entries(JOBS)) {
    if (!queues.includes(queue)) continue;
    const owners = found.filter((f) => f.name === name).map((f) => f.owner);
    if (owners.length === 0) problems.push(`job ${name} of queue ${queue} has no handler`);
    if (owners.length > 1) problems.push(`job ${name} has several handlers: ${owners.join(', ')}`);
  }
  if (problems.length) throw new Error(`Job handlers do not match the registry: ${problems.join('; ')}`);
}
