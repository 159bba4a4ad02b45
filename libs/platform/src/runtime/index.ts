export * from './platform.module';
export * from './process-identity';
export * from './readiness';
export * from './run-app';
