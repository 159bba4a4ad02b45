export * from './identity-http.module';
