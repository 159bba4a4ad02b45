import { jsonIn } from './answers';

const NONE = { problem: 'The answer is no JSON.' };
const TOO_DEEP = { problem: 'The answer nests more than 100 levels deep.' };
const fenced = (content: string) => `\`\`\`${content}\n\`\`\``;

it.each<[string, string, unknown]>([
  ['bare', '{"a":1}', { a: 1 }],
  ['in a block of code', fenced('json\n{"a":1}'), { a: 1 }],
  ['in a block that does not say what it is', ` \n${fenced('\n\n{"a":1}\n')}\n`, { a: 1 }],
  ['in a block among words', `Here it is:\n${fenced('json\n{"a":1}')}\nAnything else?`, { a: 1 }],
  ['in a block after others', `${fenced('sh\nls')}\n${fenced('JSON\n{"a":1}')}\n${fenced('\n{"a":2}')}`, { a: 1 }],
  ['with blocks in its texts', fenced('json\n{"a":"```js```"}'), { a: '```js```' }],
  ['of as many levels as may be walked', `${'['.repeat(100)}${']'.repeat(100)}`, expect.any(Array)],
])('JSON is found %s', (_, text, value) => expect(jsonIn(text)).toEqual({ value }));

it.each<[string, string, unknown]>([
  ['nothing', '', NONE],
  ['prose', 'The total is 12.', NONE],
  ['half an object', '{"total": 1', NONE],
  ['half a block', '```json\n{"total": 1}', NONE],
  ['what nests deeper than may be walked', `${'['.repeat(101)}${']'.repeat(101)}`, TOO_DEEP],
  ['what nests so deep that nobody could', fenced(`\n${'['.repeat(100_000)}${']'.repeat(100_000)}`), TOO_DEEP],
])('there is none in %s', (_, text, problem) => expect(jsonIn(text)).toEqual(problem));

it.each<[string, string]>([
  ['blank lines in a block', `\`\`\`\n${'\n'.repeat(1_000_000)}x`],
  ['blank lines in a block without an end', `\`\`\`${'\n'.repeat(1_000_000)}`],
  ['blanks', `${' '.repeat(1_000_000)}x`],
  ['fences', '```\n'.repeat(250_000)],
  ['fences on one line', '`'.repeat(1_000_000)],
  ['brackets', '{'.repeat(1_000_000)],
])('a million characters of %s are read to their end', (_, text) => expect(jsonIn(text)).toEqual(NONE));
