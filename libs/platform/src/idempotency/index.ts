export * from './idempotency.interceptor';
export * from './idempotency.module';
export { idempotencyKeyOf, requestHash } from './request';
export * from './store';
