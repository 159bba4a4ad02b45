import type { Usage } from './client';
import { chargedPrices, isPriced, plain, priceOf, remainingOf, type Prices } from './pricing';
import { receiptRow, receiptValues, RECEIPT_COLUMNS } from './receipts.repository';
import { aModel, aRoute } from './testing/views';

const prices = (p: Partial<Prices>): Prices => ({
  input_price_per_1m: null,
  output_price_per_1m: null,
  cached_input_price_per_1m: null,
  cache_write_price_per_1m: null,
  fallback_credits_per_1k_tokens: null,
  ...p,
});
const usage = (u: Partial<Usage>): Usage => ({ input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0, ...u });

describe('priceOf', () => {
  const full = prices({
    input_price_per_1m: '2',
    output_price_per_1m: '10',
    cached_input_price_per_1m: '0.2',
    cache_write_price_per_1m: '2.5',
  });
  const two = prices({ input_price_per_1m: '2', output_price_per_1m: '10' });

  it.each<[string, Prices, Partial<Usage>, string | null]>([
    ['nothing used', full, {}, '0'],
    ['input', full, { input: 1_000_000 }, '2'],
    ['cached input at its own price', full, { cached_input: 1_000_000 }, '0.2'],
    ['cached input at the input price where it has none', two, { cached_input: 1_000_000 }, '2'],
    ['written cache at its own price', full, { cache_write: 1_000_000 }, '2.5'],
    ['written cache at the input price where it has none', two, { cache_write: 1_000_000 }, '2'],
    ['reasoning at the output price', full, { reasoning: 1_000_000 }, '10'],
    [
      'all five, which are disjoint',
      full,
      { input: 100_000, cached_input: 200_000, cache_write: 300_000, output: 40_000, reasoning: 5_000 },
      '1.44',
    ],
    ['a cached price of zero, which is a price', prices({ ...two, cached_input_price_per_1m: '0' }), { cached_input: 1_000_000 }, '0'],
    ['half a millionth, rounded up', prices({ input_price_per_1m: '0.5', output_price_per_1m: '0' }), { input: 1 }, '0.000001'],
    ['less than half a millionth, rounded down', prices({ input_price_per_1m: '0.499999', output_price_per_1m: '0' }), { input: 1 }, '0'],
    [
      'five parts below half a millionth, rounded as one sum',
      prices({ input_price_per_1m: '0.2', output_price_per_1m: '0.2' }),
      { input: 1, cached_input: 1, cache_write: 1, output: 1, reasoning: 1 },
      '0.000001',
    ],
    [
      'figures that floats get wrong',
      prices({ input_price_per_1m: '0.1', output_price_per_1m: '0.2' }),
      { input: 1_000_000, output: 1_000_000 },
      '0.3',
    ],
    [
      'more digits than a float has',
      prices({ input_price_per_1m: '12345678901234.123456', output_price_per_1m: '0' }),
      { input: 1_000_000 },
      '12345678901234.123456',
    ],
    ['a zero price', prices({ input_price_per_1m: '0', output_price_per_1m: '0' }), { input: 5 }, '0'],
  ])('charges %s', (_, p, u, usd) => {
    expect(priceOf(p, usage(u))).toEqual({ usd, fallback_credits: null, unpriced: false });
  });

  it('takes fallback credits, for tokens of all kinds, only where a dollar price is missing', () => {
    const fallback = { fallback_credits_per_1k_tokens: '0.5' };
    const used = usage({ input: 1_000, cached_input: 500, cache_write: 250, output: 200, reasoning: 50 });
    expect(priceOf(prices({ input_price_per_1m: '2', ...fallback }), used)).toEqual({ usd: null, fallback_credits: '1', unpriced: false });
    expect(priceOf(prices({ ...two, ...fallback }), used).fallback_credits).toBeNull();
    expect(priceOf(prices({ fallback_credits_per_1k_tokens: '0.0005' }), usage({ input: 1 })).fallback_credits).toBe('0.000001');
  });

  it('knows what has no price', () => {
    expect(priceOf(prices({ output_price_per_1m: '1' }), usage({ input: 9 }))).toEqual({
      usd: null,
      fallback_credits: null,
      unpriced: true,
    });
    expect(isPriced(prices({ output_price_per_1m: '1' }))).toBe(false);
    expect(isPriced(prices({ input_price_per_1m: '0', output_price_per_1m: '0' }))).toBe(true);
    expect(isPriced(prices({ fallback_credits_per_1k_tokens: '1' }))).toBe(true);
  });

  it('writes decimals without the scale of their column', () => {
    expect(plain('2.500000')).toBe('2.5');
    expect(plain('0.000000')).toBe('0');
    expect(plain('100.000000')).toBe('100');
    expect(plain(null)).toBeNull();
    expect(remainingOf('10.000000', '3.25')).toBe('6.75');
    expect(remainingOf('10', '11')).toBe('0');
  });
});

describe('chargedPrices', () => {
  it('are all that a call is charged by, so that its parts can be told later', () => {
    expect(chargedPrices(prices({ input_price_per_1m: '2', output_price_per_1m: '10', cache_write_price_per_1m: '0' }), usage({}))).toEqual(
      {
        input_price_per_1m: '2',
        cached_input_price_per_1m: '2',
        cache_write_price_per_1m: '0',
        output_price_per_1m: '10',
      },
    );
  });

  it('are those of the highest tier that the prompt is longer than, cached and written tokens included, and for all that was written', () => {
    const tier = (above_tokens: number, input: string, cached: string | null = null) => ({
      above_tokens,
      input_price_per_1m: input,
      output_price_per_1m: '20',
      cached_input_price_per_1m: cached,
      cache_write_price_per_1m: null,
    });
    const tiered = prices({
      input_price_per_1m: '2',
      output_price_per_1m: '10',
      cached_input_price_per_1m: '0.2',
      price_tiers: [tier(200_000, '4', '0.4'), tier(500_000, '8')],
    });
    const short = usage({ input: 100_000, cached_input: 60_000, cache_write: 40_000, output: 1_000_000 });
    expect(chargedPrices(tiered, short)).toMatchObject({ input_price_per_1m: '2', output_price_per_1m: '10' });
    expect(priceOf(tiered, short).usd).toBe('10.292');
    const long = { ...short, cache_write: 40_001 };
    expect(chargedPrices(tiered, long)).toEqual({
      input_price_per_1m: '4',
      output_price_per_1m: '20',
      cached_input_price_per_1m: '0.4',
      cache_write_price_per_1m: '4',
    });
    expect(priceOf(tiered, long).usd).toBe('20.584004');
    // What the tier does not say is as for shorter prompts.
    expect(chargedPrices(tiered, usage({ input: 500_001 }))).toMatchObject({ input_price_per_1m: '8', cached_input_price_per_1m: '0.2' });
  });

  it('are null together', () => {
    const none = { input_price_per_1m: null, cached_input_price_per_1m: null, cache_write_price_per_1m: null, output_price_per_1m: null };
    expect(chargedPrices(prices({ input_price_per_1m: '2', cached_input_price_per_1m: '1' }), usage({}))).toEqual(none);
    expect(chargedPrices(prices({ fallback_credits_per_1k_tokens: '1' }), usage({}))).toEqual(none);
  });
});

describe('receiptRow', () => {
  const resolved = {
    entry: aModel('m', 'r'),
    route: aRoute('r'),
    requested_model: 'wished',
    reason: 'replaced' as const,
    mode: null,
    byo_key: true,
  };
  const terms = { card: null, enforced: false };

  it('holds what the call tells', () => {
    const row = receiptRow({
      id: 'id',
      resolved,
      usage: usage({ input: 1_000_000, reasoning: 7 }),
      feature: 'turn',
      terms,
      durationMs: 12.6,
      firstTokenMs: 3.2,
    });
    expect(row).toEqual({
      id: 'id',
      feature: 'turn',
      requested_model: 'wished',
      model_key: 'm',
      resolve_reason: 'replaced',
      route_id: resolved.route.id,
      byo_key: true,
      input_tokens: 1_000_000,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 7,
      input_price_per_1m: '1',
      cached_input_price_per_1m: '1',
      cache_write_price_per_1m: '1',
      output_price_per_1m: '2',
      usd_cost: '1.000014',
      fallback_credits_per_1k_tokens: null,
      credits: '0',
      rate_card_version: null,
      rule_index: null,
      enforced: false,
      unpriced: false,
      duration_ms: 13,
      first_token_ms: 3,
    });
    expect(receiptRow({ resolved, terms, usage: usage({}), feature: 'turn', durationMs: 0, firstTokenMs: null }).first_token_ms).toBeNull();
  });

  it('gives its values in the order of the columns', () => {
    const row = {
      ...receiptRow({ resolved, terms, usage: usage({ output: 3 }), feature: 'turn', durationMs: 1 }),
      org_id: 'o',
      chat_id: null,
      turn_id: 't',
      step_no: 2,
      agent_id: null,
    };
    const values = receiptValues(row);
    expect(values).toHaveLength(RECEIPT_COLUMNS.length);
    expect(values[RECEIPT_COLUMNS.indexOf('output_tokens')]).toBe(3);
    expect(values[RECEIPT_COLUMNS.indexOf('step_no')]).toBe(2);
    expect(values).not.toContain(undefined);
  });
});
