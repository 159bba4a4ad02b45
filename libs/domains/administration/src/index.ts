export * from './administration.module';
export * from './org-overview.queries';
export * from './operator.queries';
export * from './subscription-backfill';
export * from './usage/usage.module';
export * from './usage/usage.queries';
export { USAGE_WINDOWS, type UsageSummary, type UsageWindow } from './usage/usage.summary';
