export * from './projects.module';
