import { carriedChoices } from './turn-choices';

it('a retry carries the choices that a message may make now', () => {
  const choices = { model: 'mock', model_mode_override: 'normal', reasoning_effort: 'low' } as const;
  expect(carriedChoices(choices, true)).toEqual({ model: 'mock', model_mode_override: null, reasoning_effort: 'low' });
  expect(carriedChoices(choices, false)).toEqual({ model: null, model_mode_override: 'normal', reasoning_effort: null });
});
