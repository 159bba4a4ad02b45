import { ApiProperty } from '@nestjs/swagger';
import { DateField, DecimalField, DecimalString, EnumField, IntField, ListField, NestedField, ObjectField } from '@aps/platform/http';

const MAX_RULES = 200;

const RULES =
  'The first that matches a call decides what it costs: `match` (by `feature`, `kind`, `provider`, `model_key`, `cost_tier`, `mode` and `byo_key`; of every call where it is empty), and `multiplier`, ' +
  '`credits_per_unit` with its `unit` (`usd`, `1k_tokens`, `call`, `second`, `gb_day`), or `min_credits`. Calls that none matches cost their dollars times `credits_per_usd`. ' +
  'Calls with an organization’s own key, or on its own route, cost nothing unless a rule matches them that says `byo_key: true`.';
const RULE = { match: { cost_tier: 'premium' }, multiplier: '1.2', min_credits: '0.5' };

export class PublishRateCardRequest {
  @IntField({ min: 1, description: 'One more than the newest; of a version that is replaced, its own.', example: 2 }) version: number;
  @DateField({ description: 'The day on which it begins, in UTC: today or later.', example: '2027-01-01' }) effective_from: string;
  @DecimalField({ positive: true, description: 'Credits for what costs a US dollar.', example: '100' }) credits_per_usd: string;

  @ListField('object', { optional: true, max: MAX_RULES, description: RULES, example: [RULE] })
  rules?: Record<string, unknown>[];
}

export class SetDisplayFxRequest {
  @ApiProperty({ type: 'object', additionalProperties: { oneOf: [{ type: 'number' }, { type: 'string', format: 'decimal' }] } })
  @ObjectField({ description: 'Units of each currency for a US dollar, by its code of ISO 4217.', example: { EUR: '0.92' } })
  rates: Record<string, unknown>;
}

export class RateCardVersion {
  @IntField({ description: 'Counts from 1.', example: 1 }) version: number;
  @DateField({ description: 'The day on which it begins, in UTC.', example: '2026-11-20' }) effective_from: string;
  @DecimalString({ description: 'Credits for what costs a US dollar.', example: '100' }) credits_per_usd: string;
  @ListField('object', { description: RULES, example: [RULE] }) rules: object[];

  @EnumField(['past', 'current', 'future'], { name: 'RateCardStatus', description: 'Whether it is in force.', example: 'current' })
  status: 'past' | 'current' | 'future';
}

export class CreditMargin {
  @IntField({ description: 'Days that it looks back.', example: 30 }) window_days: number;
  @DecimalString({ description: 'Credits that calls have burned.', example: '125000' }) credits: string;
  @DecimalString({ description: 'US dollars that those calls have cost.', example: '1041.666667' }) usd_cost: string;

  @DecimalString({ nullable: true, description: 'The credits in US dollars, by the version in force.', example: '1250' })
  usd_value: string | null;

  @DecimalString({ nullable: true, description: 'Value divided by cost; null where nothing was spent.', example: '1.2' })
  ratio: string | null;
}

export class CreditRateCardResponse {
  @ListField(() => RateCardVersion, { description: 'Every version, the newest first.' }) versions: RateCardVersion[];
  @IntField({ nullable: true, description: 'The version in force.', example: 1 }) current_version: number | null;
  @NestedField(() => CreditMargin, { description: 'What credits bring in beside what they cost.' }) margin: CreditMargin;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', format: 'decimal' },
    description: 'Units of each currency for a US dollar; amounts are shown by them.',
    example: { EUR: '0.92' },
  })
  display_fx: Record<string, string>;
}
