export { SubscriptionBackfill } from './subscription-backfill';
