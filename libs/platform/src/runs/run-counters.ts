import { counter } from '@aps/platform/observability';

// Each kind has them from when it registers.
export const givenUp = counter('runs_given_up_total', 'Runs that were ended because three deliveries in a row had finished no step', [
  'kind',
]);
export const redelivered = counter('lease_expired_total', 'Runs that were claimed again after their owner had gone silent', ['kind']);
export const reaped = counter('runs_reaped_total', 'Runs that were given to other workers because their owner had died', ['kind']);
