export * from './connections-http.module';
