export * from './administration.module';
export * from './org-overview.queries';
export * from './subscription-backfill';
export * from './usage/usage.queries';
export * from './workers.queries';
export * from './workers.service';
export type { UsageSummary, UsageWindow } from './usage/usage.summary';
