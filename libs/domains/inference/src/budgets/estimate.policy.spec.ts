import { estimateOf, outputCapOf } from './estimate.policy';
import { aModel } from '../testing/views';

const entry = aModel('m', 'r', { input_price_per_1m: '1', output_price_per_1m: '2' });
const model = (over: Partial<Parameters<typeof estimateOf>[0]> = {}) => ({ entry, max_output_tokens: 1_000, ...over });
const call = { system: 'x'.repeat(400), messages: [{ role: 'user' as const, content: 'y'.repeat(3_600) }] };

describe('estimateOf', () => {
  it.each([
    // 1,000 tokens in; dollars per million: 1 in, 2 out
    ['the prompt, and all the output that the model may give', model(), call, '0.003'],
    ['the cap of the caller, where that is lower', model(), { ...call, maxOutputTokens: 100 }, '0.0012'],
    ['4,096 tokens of output without any cap', model({ max_output_tokens: null }), call, '0.009192'],
    ['nothing for a model without a price in dollars', model({ entry: { ...entry, output_price_per_1m: null } }), call, '0'],
    [
      'nothing in dollars for a price in credits',
      model({ entry: { ...entry, input_price_per_1m: null, fallback_credits_per_1k_tokens: '7' } }),
      call,
      '0',
    ],
  ])('is %s', (_, of, asked, usd) => {
    expect(estimateOf(of, asked)).toBe(usd);
  });

  it('counts the tools that are offered', () => {
    const tools = [{ name: 'look', parameters: { description: 'z'.repeat(1_000) } }];
    const told = Math.ceil(JSON.stringify(tools).length / 4);
    expect(estimateOf(model(), { ...call, tools })).toBe(String((1_000 + told + 2_000) / 1e6));
  });
});

describe('outputCapOf', () => {
  it.each([
    [null, undefined, undefined],
    [50, undefined, 50],
    [null, 60, 60],
    [50, 60, 50],
    [60, 50, 50],
  ])('is the lower of %s and %s', (ofModel, ofCall, cap) => {
    expect(outputCapOf({ max_output_tokens: ofModel }, { maxOutputTokens: ofCall })).toBe(cap);
  });
});
