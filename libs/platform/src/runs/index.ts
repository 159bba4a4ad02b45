export * from './effects';
export * from './plain-kind';
export * from './run-kind';
export * from './run-leases';
export * from './run-owner';
export * from './run-reaper';
export * from './run-rows';
export * from './run-standing';
export * from './run-standing.sql';
export * from './run-sweeper';
export {
  claimStatement,
  lastStepDone,
  LEASE_S,
  MAX_DELIVERIES,
  runOver,
  runStatements,
  stepDone,
  WORKERS_LOST,
  type Claiming,
  type RunTable,
} from './run.sql';
export * from './runs';
export * from './runs.module';
