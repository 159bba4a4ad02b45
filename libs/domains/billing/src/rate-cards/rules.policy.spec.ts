import type { DomainError } from '@aps/contracts';
import { rulesOf } from './rules.policy';

const problems = (...rules: Record<string, unknown>[]) => {
  try {
    rulesOf(rules);
    return [];
  } catch (error) {
    return (error as DomainError).problems!.map(({ loc, type }) => [loc.slice(2).join('.'), type]);
  }
};
const MATCH = { kind: 'chat' };

describe('rules of a rate card', () => {
  it('are kept as they are said, decimals as text, and null as nothing', () => {
    const sent = { match: { kind: 'chat', provider: null, byo_key: false }, multiplier: 1.5, min_credits: '0.25', unit: null };
    expect(rulesOf([sent])).toEqual([{ match: { kind: 'chat', byo_key: false }, multiplier: '1.5', min_credits: '0.25' }]);
  });

  it('are about every call where they do not say about which', () => {
    expect(rulesOf([{ match: {}, multiplier: '2' }])).toEqual([{ match: {}, multiplier: '2' }]);
  });

  it('are kept without what a rule has no field for', () => {
    const sent = { match: { kind: 'chat', modell: 'x', toString: 'x' }, multiplier: '1', multiplyer: 2, constructor: 'x' };
    expect(rulesOf([sent])).toEqual([{ match: { kind: 'chat' }, multiplier: '1' }]);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['has no match', { multiplier: 1 }, '0.match', 'dict_type'],
    ['has a list for a match', { match: ['chat'], multiplier: 1 }, '0.match', 'dict_type'],
    ['names no kind that there is', { match: { kind: 'video' }, multiplier: 1 }, '0.match.kind', 'value_error'],
    ['names no mode that there is', { match: { mode: 'turbo' }, multiplier: 1 }, '0.match.mode', 'value_error'],
    ['takes a text for a boolean', { match: { byo_key: 'true' }, multiplier: 1 }, '0.match.byo_key', 'value_error'],
    ['names no model', { match: { model_key: '' }, multiplier: 1 }, '0.match.model_key', 'value_error'],
    ['charges nothing', { match: MATCH }, '0', 'missing'],
    ['has a unit alone', { match: MATCH, unit: 'call' }, '0', 'missing'],
    ['has an amount without its unit', { match: MATCH, credits_per_unit: 1 }, '0', 'missing'],
    ['has a unit without its amount', { match: MATCH, multiplier: 1, unit: 'call' }, '0', 'missing'],
    ['charges by an unknown unit', { match: MATCH, credits_per_unit: 1, unit: 'token' }, '0.unit', 'value_error'],
    ['charges less than nothing', { match: MATCH, multiplier: -1 }, '0.multiplier', 'value_error'],
    ['charges by seven digits', { match: MATCH, min_credits: '0.0000001' }, '0.min_credits', 'value_error'],
    ['charges by a number that is none', { match: MATCH, multiplier: '1e3' }, '0.multiplier', 'value_error'],
  ])('refuse one that %s', (_, rule, loc, type) => {
    expect(problems(rule)).toContainEqual([loc, type]);
  });

  it('name what is wrong in each of them', () => {
    expect(problems({ match: MATCH, multiplier: 1 }, { match: MATCH, multiplier: 'x' }, { match: { kind: 1 }, multiplier: 1 })).toEqual([
      ['1.multiplier', 'value_error'],
      ['2.match.kind', 'value_error'],
    ]);
  });
});
