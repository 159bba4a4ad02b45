export * from './billing-jobs.module';
