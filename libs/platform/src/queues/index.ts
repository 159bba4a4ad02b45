export * from './job-handler';
export { queueState, type QueueState } from './queue-state';
export * from './queues.config';
export { REMOVE_SILENT, SEEN_LATELY } from './worker-registry.sql';
export * from './workers.module';
