import type { ReasoningEffort } from '@aps/contracts';
import { clampEffort } from './effort.policy';

type Effort = ReasoningEffort | null;

describe('clampEffort', () => {
  it.each<
    [
      string,
      { wanted: Effort; allowed?: string[]; reasons?: boolean; max?: Effort; thinking?: boolean },
      { effort: Effort; clamped: boolean },
    ]
  >([
    ['leaves the choice to the model', { wanted: null }, { effort: null, clamped: false }],
    ['takes any effort where the model lists none', { wanted: 'xhigh' }, { effort: 'xhigh', clamped: false }],
    ['sends none to a model that does not reason', { wanted: 'high', reasons: false }, { effort: null, clamped: true }],
    ['which is no change when none was asked for', { wanted: 'none', reasons: false }, { effort: null, clamped: false }],
    ['keeps under the ceiling', { wanted: 'xhigh', max: 'medium' }, { effort: 'medium', clamped: true }],
    ['does not lift to the ceiling', { wanted: 'low', max: 'medium' }, { effort: 'low', clamped: false }],
    ['goes down to what the model takes', { wanted: 'xhigh', allowed: ['low', 'high'] }, { effort: 'high', clamped: true }],
    [
      'goes down to what the model takes under the ceiling',
      { wanted: 'xhigh', allowed: ['low', 'high'], max: 'medium' },
      { effort: 'low', clamped: true },
    ],
    ['goes up only when there is nothing below', { wanted: 'none', allowed: ['high', 'low'] }, { effort: 'low', clamped: true }],
    ['gives a model its only effort, asked or not', { wanted: null, allowed: ['none'] }, { effort: 'none', clamped: false }],
    ['and says so when another was asked for', { wanted: 'high', allowed: ['none'] }, { effort: 'none', clamped: true }],
    ['switches thinking off', { wanted: null, thinking: false }, { effort: 'none', clamped: false }],
    ['as far as the model lets it', { wanted: null, thinking: false, allowed: ['low', 'high'] }, { effort: 'low', clamped: false }],
  ])('%s', (_, { wanted, allowed = [], reasons = true, max = null, thinking = true }, want) => {
    expect(clampEffort(wanted, { allowed_efforts: allowed, supports_reasoning: reasons }, { max, thinking })).toEqual(want);
  });
});
