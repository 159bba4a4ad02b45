export * from './platform.module';
export * from './process-identity';
export * from './readiness';
export * from './repeatedly';
export * from './run-app';
