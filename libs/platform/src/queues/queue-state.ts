import type { Queue } from 'bullmq';

/** What waits and runs in a queue, in all processes. */
export interface QueueState {
  ready: number;
  active: number;
  delayed: number;
  failed: number;
  oldest_ready_s: number;
}

/** Asks Redis. @param now the time of jobs is the database's */
export async function queueState(queue: Queue, now: Date): Promise<QueueState> {
  const [counts, oldest] = await Promise.all([
    queue.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'),
    oldestReadySeconds(queue, now),
  ]);
  const { wait, prioritized, active, delayed, failed } = counts;
  return { ready: wait + prioritized, active, delayed, failed, oldest_ready_s: oldest };
}

/** Age of the job that has waited longest; 0 when none waits. */
export async function oldestReadySeconds(queue: Queue, now: Date): Promise<number> {
  // The first of those with a priority is not always the oldest, but near to it.
  const jobs = await Promise.all([queue.getJobs(['wait'], 0, 0, true), queue.getJobs(['prioritized'], 0, 0, true)]);
  // One that was taken meanwhile is not there.
  const ages = jobs
    .flat()
    .filter(Boolean)
    .map((job) => (now.getTime() - job.timestamp) / 1000);
  return Math.max(0, ...ages);
}
