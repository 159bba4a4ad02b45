export * from './projects-http.module';
