export * from './prompts-http.module';
