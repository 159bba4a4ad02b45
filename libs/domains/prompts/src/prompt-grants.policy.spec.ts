import { reachesPrompt } from './prompt-grants.policy';

it.each<[string, string[], string[], boolean]>([
  ['everything granted', ['*'], [], true],
  ['its scope granted', ['prompt:greet'], [], true],
  ['nothing of it granted', ['core', 'prompt:greet-2'], [], false],
  ['its scope denied', ['*', 'prompt:greet'], ['prompt:greet'], false],
  ['everything denied', ['*', 'prompt:greet'], ['*'], false],
])('an agent reaches a template with %s', (_, allowed_tools, denied_tools, reached) =>
  expect(reachesPrompt({ allowed_tools, denied_tools }, 'greet')).toBe(reached),
);
