export * from './platform.module';
export * from './readiness';
export * from './run-app';
