export * from './eventually';
export * from './test-service';
export * from './random';
export * from './tallies';
