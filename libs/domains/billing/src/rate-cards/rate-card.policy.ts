import { Money, text } from '../money';

/** What of a call a rule looks at; what it does not name may be anything. */
export interface CallFacts {
  feature: string;
  kind: string;
  provider: string;
  model_key: string;
  cost_tier: string | null;
  /** The mode that chose how it was made, if one did. */
  mode: string | null;
  /** It was made with the organization's own key, or on its own route. */
  byo_key: boolean;
}

export const CREDIT_UNITS = ['usd', '1k_tokens', 'call', 'second', 'gb_day'] as const;
export type CreditUnit = (typeof CREDIT_UNITS)[number];

/** Decimal texts. */
export interface CreditRule {
  match: Partial<{ [F in keyof CallFacts]: NonNullable<CallFacts[F]> }>;
  multiplier?: string;
  credits_per_unit?: string;
  unit?: CreditUnit;
  min_credits?: string;
}

/** A version of the rate card, as far as it says what calls cost. */
export interface Card {
  version: number;
  /** A day in UTC. */
  effective_from: string;
  credits_per_usd: string;
  rules: CreditRule[];
}

/** What a call has used. */
export interface CallAmounts {
  /** Null without a dollar price. */
  usd: string | null;
  /** By the rate of its model, which is used in place of dollars; null where there is none. */
  fallback_credits: string | null;
  /** Of all kinds. */
  tokens: number;
  seconds: number;
}

/** What a call costs, and why. */
export interface Charge {
  /** Null where no card is in force. */
  rate_card_version: number | null;
  /** Null where no rule matches. */
  rule_index: number | null;
  credits: string;
}

/**
 * What a call costs by a card: by its first rule that matches, else its dollars times `credits_per_usd`. What the organization has paid
 * for itself, with its own key or on its own route, is charged by rules alone that say `byo_key: true`.
 *
 * A call without any price costs nothing, whatever rules say. Without a card, all do.
 */
export function chargeOf(card: Card | null, facts: CallFacts, amounts: CallAmounts): Charge {
  if (!card) return { rate_card_version: null, rule_index: null, credits: '0' };
  const found = card.rules.findIndex((rule) => matches(rule, facts));
  const rule_index = found < 0 || isUnpriced(amounts) ? null : found;
  return { rate_card_version: card.version, rule_index, credits: creditsBy(card, rule_index, facts.byo_key, amounts) };
}

/** The same where it is known which rule decided: what a receipt can be checked by. */
export function creditsBy(
  card: Pick<Card, 'credits_per_usd' | 'rules'>,
  ruleIndex: number | null,
  byoKey: boolean,
  amounts: CallAmounts,
): string {
  if (isUnpriced(amounts) || (ruleIndex === null && byoKey)) return '0';
  const base = amounts.usd === null ? new Money(amounts.fallback_credits!) : new Money(amounts.usd).times(card.credits_per_usd);
  if (ruleIndex === null) return text(base);
  const rule = card.rules[ruleIndex];
  const units = unitsOf(rule.unit, amounts);
  const credits = rule.credits_per_unit === undefined || units === null ? base : new Money(rule.credits_per_unit).times(units);
  return text(Money.max(credits.times(rule.multiplier ?? 1), rule.min_credits ?? 0));
}

const isUnpriced = ({ usd, fallback_credits }: CallAmounts): boolean => usd === null && fallback_credits === null;

/** No call takes room for days, and so what is charged by it is about none. */
function matches({ match, unit }: CreditRule, facts: CallFacts): boolean {
  if (unit === 'gb_day' || (match.byo_key ?? false) !== facts.byo_key) return false;
  return Object.entries(match).every(([field, value]) => facts[field as keyof CallFacts] === value);
}

/** Null where dollars are not known: then the model's own rate decides. */
function unitsOf(unit: CreditUnit | undefined, { usd, tokens, seconds }: CallAmounts) {
  if (unit === '1k_tokens') return new Money(tokens).div(1_000);
  if (unit === 'second') return new Money(seconds);
  if (unit === 'call') return new Money(1);
  return usd === null ? null : new Money(usd);
}
