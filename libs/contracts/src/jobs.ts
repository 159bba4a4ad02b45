import { z } from 'zod';

/** The queues of the service. A worker app consumes the ones named in `QUEUES`. */
export const QUEUES = [
  'turns',
  'titles',
  'maintenance',
  'billing',
  'inbox-messages',
  'process-runs',
  'knowledge',
  'environments',
  'replays',
] as const;
export type QueueName = (typeof QUEUES)[number];

const ids = {
  org_id: z.uuid(),
};

/** An id that somebody else has given: no text. */
export const ForeignId = z.string().regex(/^[\w-]{1,128}$/);

/**
 * Every job of the service: the queue that carries it and the schema of its payload.
 *
 * Payloads carry ids only: the rows they name are the truth, and a job that is lost, repeated or late does no harm.
 * A changed payload gets a new `version`; the old schema stays until no such job can be in flight any more.
 */
export const JOBS = {
  'turn.run': { queue: 'turns', version: 1, payload: z.object({ ...ids, chat_id: z.uuid(), turn_id: z.uuid() }) },
  'chat.title': { queue: 'titles', version: 1, payload: z.object({ ...ids, chat_id: z.uuid(), turn_id: z.uuid() }) },
  'agent.end_chats': { queue: 'maintenance', version: 1, payload: z.object({ ...ids, agent_id: z.uuid() }) },
  'member.end_chats': { queue: 'maintenance', version: 1, payload: z.object({ ...ids, user_id: z.uuid() }) },
  'mail.send': { queue: 'maintenance', version: 1, payload: z.object({ mail_id: z.uuid() }) },
  'inbox.evaluate': { queue: 'inbox-messages', version: 1, payload: z.object({ ...ids, message_id: z.uuid() }) },
  'inbox.reply': { queue: 'inbox-messages', version: 1, payload: z.object({ ...ids, reply_id: z.uuid() }) },
  'process.run': { queue: 'process-runs', version: 1, payload: z.object({ ...ids, run_id: z.uuid() }) },
  'process.end_runs': { queue: 'process-runs', version: 1, payload: z.object({ ...ids, process_id: ForeignId }) },
  'knowledge.index': { queue: 'knowledge', version: 1, payload: z.object({ ...ids, source_id: z.uuid() }) },
  'knowledge.sync': { queue: 'knowledge', version: 1, payload: z.object({ ...ids, sync_id: z.uuid() }) },
  'environment.command': { queue: 'environments', version: 1, payload: z.object({ ...ids, command_id: z.uuid() }) },
  'environment.validate': { queue: 'environments', version: 1, payload: z.object({ ...ids, environment_id: z.uuid() }) },
  'environment.remove': { queue: 'environments', version: 1, payload: z.object({ ...ids, environment_id: z.uuid() }) },
  'replay.run': { queue: 'replays', version: 1, payload: z.object({ ...ids, replay_id: z.uuid() }) },
  'connection.forget_account': {
    queue: 'maintenance',
    version: 1,
    payload: z.object({ ...ids, connection_id: z.uuid(), account_id: ForeignId }),
  },
  'connection.revoke': { queue: 'maintenance', version: 1, payload: z.object({ ...ids, connection_id: z.uuid() }) },
  'billing.apply': { queue: 'billing', version: 1, payload: z.object({ event_id: z.uuid() }) },
  'billing.cancel': { queue: 'billing', version: 1, payload: z.object(ids) },
  'billing.prove': { queue: 'billing', version: 1, payload: z.object({ proof_id: z.uuid() }) },
} as const satisfies Record<string, { queue: QueueName; version: number; payload: z.ZodType }>;

export type JobName = keyof typeof JOBS;
export type JobPayload<N extends JobName> = z.infer<(typeof JOBS)[N]['payload']>;

/** What travels through the queue: the payload with the version of its schema and the request that caused it. */
export interface JobEnvelope<N extends JobName = JobName> {
  v: number;
  payload: JobPayload<N>;
  /** Id of the HTTP request that caused the job; ties worker logs to gateway logs. */
  request_id?: string;
  /** W3C trace context of that request. */
  traceparent?: string;
}

export interface QueuePolicy {
  /** Jobs one process runs at the same time; `CONCURRENCY_<QUEUE>` overrides it. */
  concurrency: number;
  /** Tries, whether the handler threw an error or its process died. Jobs that are runs bound theirs by themselves. */
  attempts: number;
  /** First wait of the exponential backoff between tries, milliseconds; jittered by half. */
  backoffMs: number;
  /** How long a silent worker keeps its job, milliseconds. */
  lockMs: number;
  /** How often lost jobs are looked for, milliseconds. */
  stalledMs: number;
  /** How often a job may lose its worker before the queue drops it, and its row brings it again after a minute. */
  maxStalledCount: number;
}

/**
 * The policy of every queue. `turns` bounds its own redeliveries in PostgreSQL (three in a row without a finished step), so the
 * carrier's count stands far above it and never decides.
 */
export const QUEUE_POLICY: Record<QueueName, QueuePolicy> = {
  turns: { concurrency: 1024, attempts: 1, backoffMs: 1_000, lockMs: 15_000, stalledMs: 5_000, maxStalledCount: 1_000 },
  titles: { concurrency: 16, attempts: 3, backoffMs: 2_000, lockMs: 30_000, stalledMs: 15_000, maxStalledCount: 3 },
  maintenance: { concurrency: 8, attempts: 8, backoffMs: 5_000, lockMs: 30_000, stalledMs: 15_000, maxStalledCount: 3 },
  // Redeliveries of messages are bounded in PostgreSQL, as those of turns; replies are tried for some minutes.
  'inbox-messages': { concurrency: 64, attempts: 8, backoffMs: 1_000, lockMs: 15_000, stalledMs: 5_000, maxStalledCount: 1_000 },
  // As turns.
  'process-runs': { concurrency: 256, attempts: 1, backoffMs: 1_000, lockMs: 15_000, stalledMs: 5_000, maxStalledCount: 1_000 },
  // As turns. Of an organization six run at once, and may all wait for its servers: three of those leave places to the others. Few are read at a
  // time, whatever runs, but each may hold a file of 50 MiB until it is read.
  knowledge: { concurrency: 20, attempts: 1, backoffMs: 1_000, lockMs: 15_000, stalledMs: 5_000, maxStalledCount: 1_000 },
  // A command is taken once: of one whose process has died, the next delivery finds that, and leaves it.
  environments: { concurrency: 16, attempts: 5, backoffMs: 2_000, lockMs: 30_000, stalledMs: 15_000, maxStalledCount: 3 },
  // As turns. They wait for models, and of an organization two run at once.
  replays: { concurrency: 64, attempts: 1, backoffMs: 1_000, lockMs: 15_000, stalledMs: 5_000, maxStalledCount: 1_000 },
  // Deliveries are applied under the lock of their organization, and beside the door that the provider waits at.
  billing: { concurrency: 2, attempts: 8, backoffMs: 2_000, lockMs: 30_000, stalledMs: 15_000, maxStalledCount: 3 },
};
