import { parsed } from './output.policy';

it.each<[string, string, unknown]>([
  ['JSON', '{"a":1}', { value: { a: 1 } }],
  ['JSON in a block of code among words', 'So:\n```json\n{"a":1}\n```\nRight?', { value: { a: 1 } }],
  ['something else', 'a', { problem: 'The answer is no JSON.' }],
  ['something that does not fit', '[]', { problem: 'output: must be object' }],
  ['what nests deeper than may be walked', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, { problem: 'The answer nests more than 100 levels deep.' }], // prettier-ignore
])('an answer that is %s', (_, text, expected) => expect(parsed({ type: 'object' }, text)).toEqual(expected));
