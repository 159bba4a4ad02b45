export * from './job-handler';
export * from './queues.config';
export * from './workers.module';
