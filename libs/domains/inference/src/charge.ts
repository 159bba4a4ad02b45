import { chargeOf, Money, text, type Card, type Charge } from '@aps/billing';
import type { Decimal } from 'decimal.js';
import type { Usage } from './client';
import type { CatalogEntry, ModelChoice } from './inference.types';
import { ESTIMATED_SECONDS } from './holds/estimate.policy';
import { blendedPrice, isPriced, priceOf, type Prices } from './pricing';

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

/** A call of a turn with the platform's key, for comparing models. */
const creditsOfTurn = (card: Card, entry: Called['entry'], mode: Called['mode'], input: number, output: number): string => {
  const usage = { input, cached_input: 0, cache_write: 0, output, reasoning: 0 };
  return chargeFor(card, { entry, mode, byo_key: false }, 'turn', usage, ESTIMATED_SECONDS).credits;
};

/** What a thousand tokens of a kind cost in a mode; null without a card or a price. */
export function creditsPer1k(card: Card | null, entry: Called['entry'], mode: Called['mode'], kind: 'input' | 'output'): string | null {
  if (!card || !isPriced(entry)) return null;
  return kind === 'input' ? creditsOfTurn(card, entry, mode, 1_000, 0) : creditsOfTurn(card, entry, mode, 0, 1_000);
}

/** What a typical call costs, three input tokens to one of output: in credits, without a card in dollars; null without a price. */
function burnOf(card: Card | null, { entry, mode }: Pick<Called, 'entry' | 'mode'>): Decimal | null {
  if (!card) return blendedPrice(entry);
  return isPriced(entry) ? new Money(creditsOfTurn(card, entry, mode, 30_000, 10_000)) : null;
}

/** How much a typical call costs compared with another; null where one of them has no price, or that costs nothing. */
export function burnRatio(card: Card | null, of: Pick<Called, 'entry' | 'mode'>, base: Pick<Called, 'entry' | 'mode'>): string | null {
  const [burn, compared] = [burnOf(card, of), burnOf(card, base)];
  return burn && compared && !compared.isZero() ? text(burn.div(compared)) : null;
}
