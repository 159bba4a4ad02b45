import { estimateOf, outputCapOf } from './estimate.policy';

const call = { system: 'x'.repeat(400), messages: [{ role: 'user' as const, content: 'y'.repeat(3_600) }] };

describe('estimateOf', () => {
  it.each([
    ['the prompt, and all the output that the model may give', 1_000, call, 1_000],
    ['the cap of the caller, where that is lower', 1_000, { ...call, maxOutputTokens: 100 }, 100],
    ['4,096 tokens of output without any cap', null, call, 4_096],
  ])('is %s', (_, max_output_tokens, asked, output) => {
    expect(estimateOf({ max_output_tokens }, asked)).toEqual({ input: 1_000, cached_input: 0, cache_write: 0, output, reasoning: 0 });
  });

  it.each([
    // By o200k_base 5, 14 and 13.
    ['English', 'Where is my order?', 5],
    ['Japanese', '返金は三十日以内に受け付ける。', 12],
    ['numbers', '2026-11-28T10:35:51Z', 12],
  ])('counts %s as what it is', (_, content, input) => {
    expect(estimateOf({ max_output_tokens: 1 }, { messages: [{ role: 'user', content }] }).input).toBe(input);
  });

  it('counts the tools that are offered', () => {
    const tools = [{ name: 'look', parameters: { description: 'z'.repeat(1_000) } }];
    const told = Math.ceil(JSON.stringify(tools).length / 4);
    expect(estimateOf({ max_output_tokens: 1 }, { ...call, tools }).input).toBe(1_000 + told);
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
