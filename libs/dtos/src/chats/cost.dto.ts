import { DecimalString, EnumField, IntField, ListField, NestedField, StringField, UuidField } from '@aps/platform/http';

const DOLLARS = 'Null where the organization pays in credits.';

export class TokenCost {
  @IntField({ description: 'Tokens of this kind.' }) tokens: number;
  @DecimalString({ nullable: true, description: DOLLARS }) cost_usd: string | null;
  @DecimalString({ description: 'Credits. They are charged by call, and shared out by what its tokens cost.' }) credits: string;
}

export class TokenTypeCosts {
  @NestedField(() => TokenCost, { description: 'What models read, without what came from a cache or was written to one.' })
  input: TokenCost;
  @NestedField(() => TokenCost, { description: 'Read from a cache.' }) cached_input: TokenCost;
  @NestedField(() => TokenCost, { description: 'Written to a cache.' }) cache_write: TokenCost;
  @NestedField(() => TokenCost, { description: 'What models wrote, without reasoning.' }) output: TokenCost;
  @NestedField(() => TokenCost, { description: 'Reasoning, at the price of output.' }) reasoning: TokenCost;
}

export class TokenCounts {
  @IntField({ description: 'Tokens read.' }) input: number;
  @IntField({ description: 'Read from a cache.' }) cached_input: number;
  @IntField({ description: 'Written to a cache.' }) cache_write: number;
  @IntField({ description: 'Tokens written.' }) output: number;
  @IntField({ description: 'Reasoning.' }) reasoning: number;
}

export class ChatModelCost {
  @StringField({ description: 'Key of the model that answered.', example: 'mock' }) model_key: string;
  @IntField({ description: 'Calls of it, whatever they were for.' }) calls: number;
  @IntField({ description: 'Of these, calls that had no price: their cost is not known, and not in any sum.' }) unpriced_calls: number;
  @NestedField(() => TokenCounts, { description: 'Its tokens.' }) tokens: TokenCounts;
  @DecimalString({ nullable: true, description: DOLLARS }) cost_usd: string | null;
  @DecimalString({ description: 'Credits.' }) credits: string;
}

class CostParts {
  @DecimalString({ nullable: true, description: `As the chat shows it. ${DOLLARS}` }) total_cost_usd: string | null;
  @DecimalString({ description: 'Credits, as the chat shows them.' }) total_credits: string;
  @NestedField(() => TokenTypeCosts, {
    description: 'By kind of token, at the prices of the time of each call. With `rounding`, the parts sum to the total.',
  })
  by_token_type: TokenTypeCosts;
  @ListField(() => ChatModelCost, { description: 'By model, the dearest first.' }) by_model: ChatModelCost[];
  @DecimalString({
    description: 'What the parts of `by_token_type` lack of the total, in the `billing_unit`; may be negative.',
    example: '0.000001',
  })
  rounding: string;
}

export class DescendantCosts extends CostParts {
  @IntField({ description: 'Chats that this one delegated to, at any depth.' }) chats: number;
}

export class ChatCostBreakdownResponse extends CostParts {
  @UuidField({ description: 'The chat.' }) chat_id: string;
  @EnumField(['usd', 'credits'], { name: 'BillingUnit', description: 'What the organization pays in.' }) billing_unit: string;
  @NestedField(() => DescendantCosts, { description: 'The same of all chats below this one; not part of its totals.' })
  descendants: DescendantCosts;
}
