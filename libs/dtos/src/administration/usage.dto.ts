import { DateTimeField, DecimalString, EnumField, IntField, ListField, NestedField, StringField, UuidField } from '@aps/platform/http';

/** How far back usage is summed up. */
export const USAGE_WINDOW_VALUES = ['24h', '7d', '30d'] as const;

export class UsageQuery {
  @EnumField(USAGE_WINDOW_VALUES, { name: 'UsageWindow', optional: true, default: '30d', description: 'The window, ending now.' })
  window: (typeof USAGE_WINDOW_VALUES)[number] = '30d';
}

class Spend {
  @IntField({ description: 'Tokens of all kinds.', example: 18250 }) tokens: number;

  @DecimalString({ nullable: true, description: 'US dollars; null where the plan bills in credits.', example: '0.4215' })
  cost_usd: string | null;

  @DecimalString({ description: 'Credits.', example: '42.15' }) credits: string;
}

export class UsageTotals extends Spend {
  @IntField({ description: 'Chats begun in the window.', example: 12 }) chats: number;
  @IntField({ description: 'Turns dispatched in the window.', example: 48 }) turns: number;
}

export class UsageByDay extends UsageTotals {
  @StringField({ format: 'date', description: 'The day, in UTC. Days without use are listed too.', example: '2026-11-20' }) day: string;
}

export class UsageByAgent extends UsageTotals {
  @UuidField({ nullable: true, description: 'The agent; null for calls that no agent made.' }) agent_id: string | null;
  @StringField({ nullable: true, description: 'Its name today.', example: 'Support' }) agent_name: string | null;
}

export class UsageByModel extends Spend {
  @StringField({ description: 'Key of the model that answered.', example: 'mock-large' }) model_key: string;
  @IntField({ description: 'Model calls.', example: 96 }) calls: number;
}

export class UsageByFeature extends Spend {
  @StringField({ description: 'What the call was for.', example: 'turn' }) feature: string;
  @IntField({ description: 'Model calls.', example: 96 }) calls: number;
}

export class UsageSummaryResponse {
  @EnumField(USAGE_WINDOW_VALUES, { name: 'UsageWindow', description: 'The window that was asked for.', example: '30d' })
  window: (typeof USAGE_WINDOW_VALUES)[number];

  @DateTimeField({ description: 'Begin of the window.', example: '2026-10-21T09:30:00.000Z' }) from: string;
  @DateTimeField({ description: 'End of the window.' }) to: string;
  @NestedField(() => UsageTotals, { description: 'The sums.' }) totals: UsageTotals;
  @ListField(() => UsageByDay, { description: 'By day, oldest first.' }) by_day: UsageByDay[];
  @ListField(() => UsageByAgent, { description: 'By agent, most tokens first.' }) by_agent: UsageByAgent[];
  @ListField(() => UsageByModel, { description: 'By model, most tokens first.' }) by_model: UsageByModel[];
  @ListField(() => UsageByFeature, { description: 'By what the calls were for, most tokens first.' }) by_feature: UsageByFeature[];
}
