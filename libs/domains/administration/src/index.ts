export { DeletedOrganizationsModule } from './deleted-organizations';
export { SubscriptionBackfill } from './subscription-backfill';
