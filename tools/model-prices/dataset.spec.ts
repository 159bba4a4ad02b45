import { pricesIn, source } from './dataset';

describe('The dataset of prices', () => {
  const chat = { mode: 'chat', input_cost_per_token: 2.5e-7, output_cost_per_token: 0.000002 };

  it('becomes dollars per million tokens, exactly', () => {
    expect(
      pricesIn({
        plain: { ...chat, cache_read_input_token_cost: 2.5e-8, cache_creation_input_token_cost: 3e-7 },
        long: {
          ...chat,
          input_cost_per_token_above_200k_tokens: 5e-7,
          output_cost_per_token_above_200k_tokens: 0.000003,
          input_cost_per_token_above_128k_tokens: 3e-7,
        },
        embedding: { mode: 'embedding', input_cost_per_token: 1.3e-7, output_cost_per_token: 0 },
      }),
    ).toEqual({
      embedding: ['0.13', null, null, null],
      long: ['0.25', '2', null, null, { '200000': ['0.5', '3', null, null], '128000': ['0.3', null, null, null] }],
      plain: ['0.25', '2', '0.025', '0.3'],
    });
  });

  it('leaves out what is not charged by tokens, and what has no price', () => {
    const free = { ...chat, input_cost_per_token: 0 };
    expect(
      pricesIn({ free, speech: { ...chat, mode: 'audio_speech' }, text: { ...chat, input_cost_per_token: '1' }, none: { mode: 'chat' } }),
    ).toEqual({});
  });

  it('is written as code that says nothing else', () => {
    expect(source(pricesIn({ "it's": chat }))).toContain(`\n  "it's": ["0.25","2",null,null],\n};\n`);
  });
});
