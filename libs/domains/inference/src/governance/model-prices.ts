import type { PriceTier } from '@aps/entities';
import type { CatalogEntry } from '../inference.types';
import { MODEL_PRICES } from './model-prices.data';
import { DOLLAR_PRICES } from '../pricing';

type Prices = readonly [input: string | null, output: string | null, cachedInput: string | null, cacheWrite: string | null];
/** US dollars per million tokens, then those of prompts above so many tokens; null: not known. */
export type ListedPrices = readonly [...Prices, tiers?: Readonly<Record<string, Prices>>];

type Known = Partial<Pick<CatalogEntry, (typeof DOLLAR_PRICES)[number]>> & { price_tiers?: PriceTier[] };

/**
 * What the price list says of a model, by the provider's name of it or by its key; what it does not know is left out.
 *
 * @returns undefined for a model that is not on the list
 */
export function pricesOf({
  key,
  provider,
  remote_model_id,
}: Pick<CatalogEntry, 'key' | 'provider' | 'remote_model_id'>): Known | undefined {
  const name = [remote_model_id, `${provider}/${key}`, key].find((n) => n !== null && Object.hasOwn(MODEL_PRICES, n));
  if (!name) return undefined;
  const [input, output, cachedInput, cacheWrite, tiers] = MODEL_PRICES[name];
  const named = (prices: Prices) => DOLLAR_PRICES.map((price, i) => [price, prices[i]] as const);
  const known = named([input, output, cachedInput, cacheWrite]).filter(([, price]) => price !== null);
  const price_tiers = Object.entries(tiers ?? {}).map(
    ([above, prices]) => ({ above_tokens: Number(above), ...Object.fromEntries(named(prices)) }) as PriceTier,
  );
  return { ...(Object.fromEntries(known) as Known), ...(price_tiers.length && { price_tiers }) };
}
