export { Chance, eventually } from '@aps/platform/testing';
export { TEST_PLAN } from './plan';
export * from './test-service';
export * from './schedules';
export * from './tallies';
