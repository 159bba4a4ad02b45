import type { UsageSummaryResponse } from '@aps/dtos';
import type { UsageSummary } from '../usage/usage.summary';

export const toUsageSummary = (usage: UsageSummary): UsageSummaryResponse => ({
  ...usage,
  from: usage.from.toISOString(),
  to: usage.to.toISOString(),
});
