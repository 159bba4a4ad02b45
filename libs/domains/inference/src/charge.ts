import { chargeOf, type Card, type Charge } from '@aps/billing';
import type { Usage } from './client';
import type { CatalogEntry, ModelChoice } from './inference.types';
import { priceOf, type Prices } from './pricing';

/** What calls are charged by; as it was when the work began that makes them. */
export interface Terms {
  /** The rate card in force; null without one. */
  card: Card | null;
  /** The organization pays in credits. */
  enforced: boolean;
}

/** What of a resolved model rules look at. */
export type Called = Pick<ModelChoice, 'mode'> & {
  entry: Prices & Pick<CatalogEntry, 'key' | 'kind' | 'provider' | 'cost_tier'>;
  byo_key: boolean;
};

/** What a call costs in credits. The one computation: of receipts, of what is held for a call, and of what is shown before one. */
export function chargeFor(card: Card | null, { entry, mode, byo_key }: Called, feature: string, usage: Usage, seconds: number): Charge {
  const { usd, fallback_credits } = priceOf(entry, usage);
  const tokens = usage.input + usage.cached_input + usage.cache_write + usage.output + usage.reasoning;
  const { key: model_key, kind, provider, cost_tier } = entry;
  return chargeOf(card, { feature, kind, provider, model_key, cost_tier, mode, byo_key }, { usd, fallback_credits, tokens, seconds });
}
