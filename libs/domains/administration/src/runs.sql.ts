import { JOBS, RUN_KINDS, type JobName, type QueueName, type RunKindName } from '@aps/contracts';

/** A kind of run, and where it is. */
interface RunsOf {
  kind: RunKindName;
  /** It has the kind's name, in the plural. */
  table: string;
  job: JobName;
  queue: QueueName;
}

/** Every kind of run. */
export const RUNS: readonly RunsOf[] = Object.entries(RUN_KINDS).map(([kind, { job }]) => ({
  kind: kind as RunKindName,
  table: `${kind}s`,
  job,
  queue: JOBS[job].queue,
}));
