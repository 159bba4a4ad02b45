import type { JobName, QueueName } from './jobs';

/** How many workers something wants that users wait for. */
export interface WaitingPolicy {
  /** The app that runs it. */
  app: string;
  /** One pod more for so many that wait for a worker. */
  ready_per_pod: number;
  /** More pods while the first of them has waited for longer, seconds. */
  scale_after_s: number;
  /** Somebody is called when the first of them has waited for longer, seconds, for five minutes. */
  late_after_s: number;
}

/** How workers of a queue are scaled whose jobs cannot be handed over to another one: by those that run as well. */
export interface WaitedQueuePolicy extends WaitingPolicy {
  /** One pod for so many that run. */
  active_per_pod: number;
}

/** How a kind of run is delivered, and how many workers it wants. */
export interface RunKindPolicy extends WaitingPolicy {
  /** What delivers a run. */
  job: JobName;
}

/**
 * Every kind of durable run. Metrics name them as here; what scales the workers and what tells that runs wait is made from this list
 * (`npm run manifests`).
 */
export const RUN_KINDS = {
  turn: { job: 'turn.run', app: 'chat-worker', ready_per_pod: 20, scale_after_s: 2, late_after_s: 10 },
  inbox_message: { job: 'inbox.evaluate', app: 'inbox-intake', ready_per_pod: 200, scale_after_s: 5, late_after_s: 30 },
  process_run: { job: 'process.run', app: 'process-engine', ready_per_pod: 50, scale_after_s: 5, late_after_s: 30 },
  // Files may be large, and whoever adds many expects to wait.
  knowledge_source: { job: 'knowledge.index', app: 'process-engine', ready_per_pod: 50, scale_after_s: 30, late_after_s: 120 },
  knowledge_sync: { job: 'knowledge.sync', app: 'process-engine', ready_per_pod: 50, scale_after_s: 30, late_after_s: 120 },
  // Whoever replays many chats expects to wait.
  replay: { job: 'replay.run', app: 'chat-worker', ready_per_pod: 50, scale_after_s: 30, late_after_s: 120 },
} as const satisfies Record<string, RunKindPolicy>;

/**
 * Queues of jobs that are no runs, and that users wait for all the same: workers are scaled by them, and who is called is called, as by runs.
 * A job over the cap of its organization, or its share of a process, is put off, and so does not wait here.
 */
export const WAITED_QUEUES = {
  // Half of what a pod runs at once: who is put off by a share finds a place in another pod. One that waits for five minutes is given up.
  environments: { app: 'process-engine', ready_per_pod: 8, active_per_pod: 8, scale_after_s: 5, late_after_s: 60 },
} as const satisfies Partial<Record<QueueName, WaitedQueuePolicy>>;

export type RunKindName = keyof typeof RUN_KINDS;
/** The kind that a job delivers. */
export type RunKindOf<N extends JobName> = { [K in RunKindName]: (typeof RUN_KINDS)[K]['job'] extends N ? K : never }[RunKindName];
