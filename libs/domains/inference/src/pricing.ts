import { Money, text } from '@aps/billing';
import type { Decimal } from 'decimal.js';
import type { Usage } from './client';
import type { CatalogEntry } from './inference.types';

/** Dollar prices of a model, of which the last two may be missing. */
export const DOLLAR_PRICES = [
  'input_price_per_1m',
  'output_price_per_1m',
  'cached_input_price_per_1m',
  'cache_write_price_per_1m',
] as const;
type DollarPrices = Pick<CatalogEntry, (typeof DOLLAR_PRICES)[number]>;
export type Prices = DollarPrices & Pick<CatalogEntry, 'fallback_credits_per_1k_tokens'> & Partial<Pick<CatalogEntry, 'price_tiers'>>;

export interface Price {
  /** US dollars, rounded half up to six digits; null when the model has no dollar prices. */
  usd: string | null;
  /** Credits by the model's fallback rate; null when dollar prices decide, or there is no such rate. */
  fallback_credits: string | null;
  /** Neither is known: the call cannot be charged for. */
  unpriced: boolean;
}

/** Whether its calls have a price in dollars. */
export const dollarPriced = (p: Prices): boolean => p.input_price_per_1m !== null && p.output_price_per_1m !== null;

/** Whether a call of the model has a price: input and output price, or fallback credits. A price of zero is a price. */
export function isPriced(prices: Prices): boolean {
  return dollarPriced(prices) || prices.fallback_credits_per_1k_tokens !== null;
}

/** Why a model is not called where credits are paid. */
export const withoutPrice = ({ key }: Pick<CatalogEntry, 'key'>): string =>
  `The model ${key} has no price, so its cost in credits is not known.`;

/**
 * The prices per million tokens that a call is charged by, the missing ones filled in; all null without dollar prices. A prompt that
 * is longer than a tier begins is charged by that tier, and so is all that the call wrote.
 */
export function chargedPrices(prices: Prices, usage: Usage): DollarPrices {
  if (!dollarPriced(prices)) return NO_DOLLAR_PRICES;
  const prompt = usage.input + usage.cached_input + usage.cache_write;
  const tier = prices.price_tiers?.filter(({ above_tokens }) => prompt > above_tokens).at(-1);
  const [input, output, cached, written] = DOLLAR_PRICES.map((price) => tier?.[price] ?? prices[price]);
  return {
    input_price_per_1m: input,
    output_price_per_1m: output,
    cached_input_price_per_1m: cached ?? input,
    cache_write_price_per_1m: written ?? input,
  };
}

const NO_DOLLAR_PRICES: DollarPrices = {
  input_price_per_1m: null,
  output_price_per_1m: null,
  cached_input_price_per_1m: null,
  cache_write_price_per_1m: null,
};

/**
 * What a call costs. The five counts are disjoint; reasoning is billed at the output price, and a missing cached or write price is
 * the input price. Rounded once, at the end: rounding each part would cost or give away up to five times as much.
 */
export function priceOf(prices: Prices, usage: Usage): Price {
  if (dollarPriced(prices)) {
    const charged = chargedPrices(prices, usage) as Record<keyof DollarPrices, string>;
    const sum = new Money(charged.input_price_per_1m)
      .times(usage.input)
      .plus(new Money(charged.cached_input_price_per_1m).times(usage.cached_input))
      .plus(new Money(charged.cache_write_price_per_1m).times(usage.cache_write))
      .plus(new Money(charged.output_price_per_1m).times(usage.output + usage.reasoning));
    return { usd: text(sum.div(1_000_000)), fallback_credits: null, unpriced: false };
  }
  if (prices.fallback_credits_per_1k_tokens === null) return { usd: null, fallback_credits: null, unpriced: true };
  const tokens = usage.input + usage.cached_input + usage.cache_write + usage.output + usage.reasoning;
  return { usd: null, fallback_credits: text(new Money(prices.fallback_credits_per_1k_tokens).times(tokens).div(1_000)), unpriced: false };
}

/** A model's price for a typical call, three input tokens to one of output; null without dollar prices. Only for comparing models. */
export function blendedPrice(prices: Prices): Decimal | null {
  if (!dollarPriced(prices)) return null;
  return new Money(prices.input_price_per_1m!).times(3).plus(prices.output_price_per_1m!);
}

/** A numeric column's text, which has all the digits of its scale, as answers carry it. */
export const plain = (value: string | null): string | null => value && text(new Money(value));

/** What is left of a budget; never below zero. */
export const remainingOf = (budget: string, spent: string): string => text(Money.max(new Money(budget).minus(spent), 0));
