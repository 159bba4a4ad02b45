import { sql, randomly } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { storedForm } from './stored-form';

const t = testService(BASE_MODULES);
const READ_BACK = sql<{ value: unknown }>('SELECT value FROM unnest($1::jsonb[]) WITH ORDINALITY AS x(value, i) ORDER BY i');

const PARTS = [
  'a',
  'b',
  'A',
  '0',
  '10',
  '2',
  '-',
  ' ',
  '"',
  '\\',
  '\n',
  '\0',
  '\x7f',
  'é',
  'ß',
  '人',
  '\uffff',
  '\u{1f600}',
  '\ud800',
  '__proto__',
  '',
];
const NUMBERS = [0, -0, 1, -1.5, 0.1 + 0.2, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 2 ** 53];

/** Some JSON with such keys, texts and numbers. */
function anyValue(next: () => number, levels: number): unknown {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)];
  const text = () => Array.from({ length: Math.floor(next() * 4) }, () => pick(PARTS)).join('');
  const some = <T>(make: () => T) => Array.from({ length: Math.floor(next() * 6) }, make);
  if (levels === 0 || next() < 0.2) return pick<unknown>([null, true, text(), pick(NUMBERS)]);
  if (next() < 0.3) return some(() => anyValue(next, levels - 1));
  return Object.fromEntries(some(() => [text(), anyValue(next, levels - 1)]));
}

it('is what PostgreSQL makes of a value, whatever its keys', async () => {
  const next = randomly(7);
  const values = Array.from({ length: 2_000 }, () => storedForm(anyValue(next, 3)));
  const read = await t.db.query(READ_BACK, [values.map((value) => JSON.stringify(value))]);
  expect(read.map(({ value }) => JSON.stringify(value))).toEqual(values.map((value) => JSON.stringify(value)));
  expect(read.map(({ value }) => value)).toEqual(values);
});
