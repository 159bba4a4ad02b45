import { chargeOf, creditsBy, type CallAmounts, type CallFacts, type Card, type CreditRule } from './rate-card.policy';

const facts = (over: Partial<CallFacts> = {}): CallFacts => ({
  feature: 'turn',
  kind: 'chat',
  provider: 'openai',
  model_key: 'gpt',
  cost_tier: 'low',
  mode: 'normal',
  byo_key: false,
  ...over,
});
const amounts = (over: Partial<CallAmounts> = {}): CallAmounts => ({
  usd: '0.02',
  fallback_credits: null,
  tokens: 1_500,
  seconds: 2.5,
  ...over,
});
const card = (...rules: CreditRule[]): Card => ({ version: 7, effective_from: '2026-01-01', credits_per_usd: '100', rules });
const charged = (rules: CreditRule[], of: Partial<CallFacts> = {}, used: Partial<CallAmounts> = {}) => {
  const { rule_index, credits } = chargeOf(card(...rules), facts(of), amounts(used));
  return [rule_index, credits];
};

describe('what a call costs', () => {
  it('is its dollars times the rate of the card where no rule matches', () => {
    expect(chargeOf(card(), facts(), amounts())).toEqual({ rate_card_version: 7, rule_index: null, credits: '2' });
    expect(charged([{ match: { feature: 'title' }, multiplier: '9' }])).toEqual([null, '2']);
  });

  it('is nothing without a card', () => {
    expect(chargeOf(null, facts(), amounts())).toEqual({ rate_card_version: null, rule_index: null, credits: '0' });
  });

  it('is decided by the first rule that matches all that it names', () => {
    const rules: CreditRule[] = [
      { match: { cost_tier: 'low', mode: 'high_effort' }, multiplier: '5' },
      { match: { cost_tier: 'low', mode: 'normal' }, multiplier: '3' },
      { match: { cost_tier: 'low' }, multiplier: '2' },
    ];
    expect([charged(rules), charged(rules, { mode: null }), charged(rules, { cost_tier: null })]).toEqual([
      [1, '6'],
      [2, '4'],
      [null, '2'],
    ]);
  });

  it.each<[string, Omit<CreditRule, 'match'>, Partial<CallAmounts>, string]>([
    ['a multiple', { multiplier: '1.5' }, {}, '3'],
    ['nothing times itself', { multiplier: '0' }, {}, '0'],
    ['by the dollar', { credits_per_unit: '250', unit: 'usd' }, {}, '5'],
    ['by a thousand tokens', { credits_per_unit: '4', unit: '1k_tokens' }, {}, '6'],
    ['by the call', { credits_per_unit: '0.3', unit: 'call' }, {}, '0.3'],
    ['by the second', { credits_per_unit: '2', unit: 'second' }, {}, '5'],
    ['a multiple of that', { credits_per_unit: '2', unit: 'second', multiplier: '2' }, {}, '10'],
    ['at least', { min_credits: '2.5' }, {}, '2.5'],
    ['at least, and more', { min_credits: '1.5' }, {}, '2'],
    ['by the rate of its model where no dollars are known', { multiplier: '2' }, { usd: null, fallback_credits: '9' }, '18'],
    ['by that, where it would be by the dollar', { credits_per_unit: '1', unit: 'usd' }, { usd: null, fallback_credits: '9' }, '9'],
    ['by the call, whatever its model’s rate', { credits_per_unit: '1', unit: 'call' }, { usd: null, fallback_credits: '9' }, '1'],
  ])('is %s', (_, price, used, credits) => {
    expect(charged([{ match: { kind: 'chat' }, ...price }], {}, used)).toEqual([0, credits]);
  });

  it('is the rate of its model where it has no dollar price', () => {
    expect(charged([], {}, { usd: null, fallback_credits: '1.25' })).toEqual([null, '1.25']);
  });

  it('is nothing without any price, whatever rules say', () => {
    expect(charged([{ match: { kind: 'chat' }, min_credits: '5' }], {}, { usd: null })).toEqual([null, '0']);
  });

  it('is nothing with a key of one’s own, unless a rule is about those', () => {
    const any: CreditRule = { match: { kind: 'chat' }, multiplier: '3' };
    const own: CreditRule = { match: { byo_key: true }, credits_per_unit: '0.1', unit: 'call' };
    expect([charged([any], { byo_key: true }), charged([any, own], { byo_key: true }), charged([own, any])]).toEqual([
      [null, '0'],
      [1, '0.1'],
      [1, '6'],
    ]);
  });

  it('is rounded once, half up, at six digits', () => {
    const by = (credits_per_unit: string, multiplier?: string): unknown[] =>
      charged([{ match: { kind: 'chat' }, credits_per_unit, unit: 'call', ...(multiplier && { multiplier }) }]);
    expect([by('0.000001', '0.5'), by('0.000001', '0.499999'), by('33333333333333.333333', '3')]).toEqual([
      [0, '0.000001'],
      [0, '0'],
      [0, '99999999999999.999999'],
    ]);
  });

  it('is never by what no call takes', () => {
    expect(charged([{ match: { kind: 'chat' }, credits_per_unit: '1', unit: 'gb_day' }])).toEqual([null, '2']);
  });

  it('follows again from what its receipt says', () => {
    const rules: CreditRule[] = [
      { match: { kind: 'image' }, multiplier: '9' },
      { match: { kind: 'chat' }, multiplier: '1.1', min_credits: '0.001' },
    ];
    const { rule_index, credits } = chargeOf(card(...rules), facts(), amounts());
    expect(creditsBy(card(...rules), rule_index, false, amounts())).toBe(credits);
  });
});
