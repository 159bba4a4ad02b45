export * from './billing-http.module';
export * from './webhooks-http.module';
export * from './self-serve-http.module';
