export * from './orgs-http.module';
