export * from './knowledge-http.module';
