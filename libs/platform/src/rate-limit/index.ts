export * from './limiter';
export * from './open-streams';
export * from './rate-limit.config';
export * from './rate-limit.guard';
export * from './rate-limit.module';
