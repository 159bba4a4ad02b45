import { Decimal } from 'decimal.js';
import { breakdownOf, byType, TOKEN_TYPES, type Breakdown, type ModelSpend } from './cost.policy';

const Exact = Decimal.clone({ precision: 100 });
const sumOf = (b: Breakdown, figure: 'cost_usd' | 'credits') =>
  TOKEN_TYPES.reduce((sum, type) => sum.plus(b.by_token_type[type][figure]), new Exact(0));
const zero = byType(() => '0');
const spend = (over: Partial<ModelSpend>): ModelSpend => ({
  model_key: 'm',
  calls: 1,
  unpriced_calls: 0,
  tokens: byType(() => 0),
  cost_usd: '0',
  credits: '0',
  usd_of: zero,
  credits_of: zero,
  ...over,
});

describe('breakdownOf', () => {
  it('rounds each part, and says what that leaves of the total', () => {
    const b = breakdownOf(
      { cost_usd: '0.000002', credits: '0' },
      [spend({ cost_usd: '0.000002', usd_of: { ...zero, input: '0.0000004', cached_input: '0.0000004', output: '0.0000011' } })],
      'usd',
    );
    expect([b.by_token_type.input.cost_usd, b.by_token_type.cached_input.cost_usd, b.by_token_type.output.cost_usd, b.rounding]).toEqual([
      '0',
      '0',
      '0.000001',
      '0.000001',
    ]);
  });

  it('gives the remainder of the other unit to the largest part', () => {
    const b = breakdownOf(
      { cost_usd: '0', credits: '1' },
      [
        spend({
          credits: '1',
          credits_of: { ...zero, input: '0.3333333333333333', output: '0.3333333333333334', reasoning: '0.3333333333333333' },
        }),
      ],
      'usd',
    );
    expect(b.rounding).toBe('0');
    expect(sumOf(b, 'credits').toFixed()).toBe('1');
    expect(b.by_token_type.input.credits).toBe('0.333334');
  });

  it('has what no token cost in the remainder', () => {
    const b = breakdownOf({ cost_usd: '0', credits: '2.5' }, [], 'credits');
    expect([b.rounding, b.total_credits, sumOf(b, 'credits').toFixed()]).toEqual(['2.5', '2.5', '0']);
  });

  it('names models, the dearest in the unit of the bill first', () => {
    const models = [
      spend({ model_key: 'b', cost_usd: '1.5', credits: '1' }),
      spend({ model_key: 'a', cost_usd: '1.50', credits: '1' }),
      spend({ model_key: 'c', cost_usd: '0.1', credits: '20' }),
    ];
    const order = (unit: 'usd' | 'credits') =>
      breakdownOf({ cost_usd: '3.1', credits: '22' }, models, unit).by_model.map((m) => m.model_key);
    expect([order('usd'), order('credits')]).toEqual([
      ['a', 'b', 'c'],
      ['c', 'a', 'b'],
    ]);
  });

  it('sums exactly in both units, whatever was spent', () => {
    let seed = 42;
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
    const figure = () =>
      new Exact(random())
        .times(10 ** Math.floor(random() * 12 - 4))
        .toDecimalPlaces(12)
        .toFixed();
    for (let i = 0; i < 500; i++) {
      const models = Array.from({ length: Math.floor(random() * 4) }, (_, m) => {
        const [usd_of, credits_of] = [byType(figure), byType(figure)];
        const total = (of: Record<string, string>) =>
          Object.values(of)
            .reduce((a, b) => a.plus(b), new Exact(0))
            .toDecimalPlaces(6)
            .toFixed();
        return spend({ model_key: `m${m}`, usd_of, credits_of, cost_usd: total(usd_of), credits: total(credits_of) });
      });
      const total = {
        cost_usd: models.reduce((a, m) => a.plus(m.cost_usd), new Exact(0)).toFixed(),
        credits: models.reduce((a, m) => a.plus(m.credits), new Exact(0)).toFixed(),
      };
      for (const unit of ['usd', 'credits'] as const) {
        const b = breakdownOf(total, models, unit);
        const [usd, credits] = [sumOf(b, 'cost_usd'), sumOf(b, 'credits')];
        expect((unit === 'usd' ? usd.plus(b.rounding) : usd).toFixed()).toBe(total.cost_usd);
        expect((unit === 'credits' ? credits.plus(b.rounding) : credits).toFixed()).toBe(total.credits);
        // Five parts and each model's own rounding, half a millionth each.
        expect(new Exact(b.rounding).abs().toNumber()).toBeLessThanOrEqual(0.0000005 * (5 + models.length));
        expect(JSON.stringify(b)).not.toMatch(/\d[eE][+-]\d|"-0"|\.\d{7}/);
      }
    }
  });
});
