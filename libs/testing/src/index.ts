export * from './eventually';
export * from './test-service';
