export * from './eviction';
export * from './redis.config';
export * from './redis.module';
export * from './script';
