export * from './outbox';
export * from './outbox.module';
export { deleteJobs, insertJobs, nextGeneration, redeliverJobs, type JobRow } from './outbox.sql';
export * from './relay';
