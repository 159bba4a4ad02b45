export * from './outbox';
export * from './outbox.module';
export { deleteJobs, insertJobs, redeliverJobs, type JobRow } from './outbox.sql';
export * from './relay';
