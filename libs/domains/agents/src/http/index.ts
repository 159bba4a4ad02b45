export * from './agents-http.module';
