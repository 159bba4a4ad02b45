export * from './billing-http.module';
