import { UsageSummaryResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { UsageSummary } from '../usage/usage.summary';

export const toUsageSummary = (usage: UsageSummary): UsageSummaryResponse => answer(UsageSummaryResponse, usage);
