import { Decimal } from 'decimal.js';

// Own precision, so that no other code's settings change what a sum comes to.
const Money = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP });
/** Digits after the point that money and credits are kept with. */
const SCALE = 6;

/** Kinds of tokens, disjoint. */
export const TOKEN_TYPES = ['input', 'cached_input', 'cache_write', 'output', 'reasoning'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];
export type BillingUnit = 'usd' | 'credits';

/** What one model has used in some chats. Figures of money are decimals; `usd_of` and `credits_of` are not rounded. */
export interface ModelSpend {
  model_key: string;
  calls: number;
  /** Calls whose model had no price. */
  unpriced_calls: number;
  tokens: Record<TokenType, number>;
  cost_usd: string;
  credits: string;
  usd_of: Record<TokenType, string>;
  credits_of: Record<TokenType, string>;
}

export interface TypeCost {
  tokens: number;
  cost_usd: string;
  credits: string;
}

export interface ModelCost {
  model_key: string;
  calls: number;
  unpriced_calls: number;
  tokens: Record<TokenType, number>;
  cost_usd: string;
  credits: string;
}

export interface Breakdown {
  total_cost_usd: string;
  total_credits: string;
  by_token_type: Record<TokenType, TypeCost>;
  /** Dearest first. */
  by_model: ModelCost[];
  /** What the parts lack of the total in the unit that the organization is billed in: their roundings, and what no token cost. */
  rounding: string;
}

/** Decimals as they travel: no exponent, no trailing zeros. */
const text = (value: Decimal): string => value.toFixed();

/**
 * Parts and their remainder, which sum exactly to the stored total. In the unit of the bill the remainder stands by itself; in the other,
 * which has no room for one, it is within the largest part.
 */
export function breakdownOf(total: { cost_usd: string; credits: string }, spend: ModelSpend[], unit: BillingUnit): Breakdown {
  const usd = partsOf(
    total.cost_usd,
    spend.map((s) => s.usd_of),
  );
  const credits = partsOf(
    total.credits,
    spend.map((s) => s.credits_of),
  );
  const remainder = unit === 'usd' ? usd.remainder : credits.remainder;
  absorb(unit === 'usd' ? credits : usd);
  const ofType = (type: TokenType): TypeCost => ({
    tokens: spend.reduce((n, s) => n + s.tokens[type], 0),
    cost_usd: text(usd.parts[type]),
    credits: text(credits.parts[type]),
  });
  const paid = (s: ModelSpend) => new Money(unit === 'usd' ? s.cost_usd : s.credits);
  return {
    total_cost_usd: text(new Money(total.cost_usd)),
    total_credits: text(new Money(total.credits)),
    by_token_type: byType(ofType),
    by_model: [...spend]
      .sort((a, b) => paid(b).comparedTo(paid(a)) || (a.model_key < b.model_key ? -1 : 1))
      .map(({ model_key, calls, unpriced_calls, tokens, cost_usd, credits: c }) => ({
        model_key,
        calls,
        unpriced_calls,
        tokens,
        cost_usd: text(new Money(cost_usd)),
        credits: text(new Money(c)),
      })),
    rounding: text(remainder),
  };
}

interface Parts {
  parts: Record<TokenType, Decimal>;
  remainder: Decimal;
}

function partsOf(total: string, figures: Record<TokenType, string>[]): Parts {
  const parts = byType((type) => figures.reduce((sum, f) => sum.plus(f[type]), new Money(0)).toDecimalPlaces(SCALE));
  return { parts, remainder: TOKEN_TYPES.reduce((left, type) => left.minus(parts[type]), new Money(total)) };
}

function absorb({ parts, remainder }: Parts): void {
  const largest = TOKEN_TYPES.reduce((a, b) => (parts[b].greaterThan(parts[a]) ? b : a));
  parts[largest] = parts[largest].plus(remainder);
}

export const byType = <T>(of: (type: TokenType) => T): Record<TokenType, T> =>
  Object.fromEntries(TOKEN_TYPES.map((type) => [type, of(type)])) as Record<TokenType, T>;
