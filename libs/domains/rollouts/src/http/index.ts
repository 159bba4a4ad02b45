export * from './rollouts-http.module';
