export * from './outbox';
export * from './outbox.module';
export { deleteJobs, insertJobs } from './outbox.sql';
export * from './relay';
