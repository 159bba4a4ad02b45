export * from './billing-http.module';
export * from './webhooks-http.module';
export { MAX_DELIVERY } from './webhooks.controller';
export * from './self-serve-http.module';
