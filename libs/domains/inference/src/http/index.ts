export * from './inference-http.module';
