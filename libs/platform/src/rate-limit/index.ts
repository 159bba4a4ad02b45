export * from './limiter';
export * from './rate-limit.config';
export * from './rate-limit.guard';
export * from './rate-limit.module';
