import { fits, jsonAnswer, type Schema } from './json-answer';

const one = (schema: Schema, text = '') =>
  (JSON.parse(jsonAnswer({ type: 'object', required: ['x'], properties: { x: schema } }, text)) as { x: unknown }).x;
const LEVELS = { type: 'string', enum: ['low', 'very high', 'high'] };

describe('an object that is made', () => {
  it.each<[string, Schema, string, unknown]>([
    ['a number', { type: 'number' }, 'x: 12.50', 12.5],
    ['an integer', { type: 'integer' }, 'total\nx: 7', 7],
    ['a boolean', { type: 'boolean' }, 'x: true', true],
    ['a text, to the end of its line', { type: 'string' }, 'x:  a: b \r\nx: c', 'a: b'],
    ['a date', { type: 'string', format: 'date' }, 'x: 2026-02-28', '2026-02-28'],
    ['a moment', { type: 'string', format: 'date-time' }, 'x: 2026-02-28T10:00:00+01:00', '2026-02-28T10:00:00+01:00'],
    ['an enum value', LEVELS, 'high\nx: very high', 'very high'],
    ['an enum value that is no text', { enum: [1, 2] }, 'x: 2', 2],
    ['a list', { type: 'array', items: { type: 'integer' } }, 'x: [1, 2]', [1, 2]],
    ['an object', { type: 'object', properties: { y: { type: 'integer' } } }, 'x: {"y": 1}', { y: 1 }],
  ])('takes %s that the text gives', (_, schema, text, expected) => {
    expect(one(schema, text)).toEqual(expected);
  });

  it.each<[string, Schema, string, unknown]>([
    ['a number that is none', { type: 'number' }, 'x: 12 EUR', 0.9],
    ['a number out of bounds', { type: 'number', maximum: 10 }, 'x: 12', 0.9],
    ['half a number', { type: 'integer' }, 'x: 1.5', 0],
    ['nothing', { type: 'integer' }, 'x:\ny: 1', 0],
    ['a name within a line', { type: 'integer' }, 'and x: 7', 0],
    ['a name that ends so', { type: 'integer' }, 'max: 7', 0],
    ['a text that is too long', { type: 'string', maxLength: 3 }, 'x: four', 'moc'],
    ['a text of another pattern', { type: 'string', pattern: '^\\d+$' }, 'x: four', 'mock'],
    ['a day that there is not', { type: 'string', format: 'date' }, 'x: 2026-02-30', '2026-01-01'],
    ['no moment', { type: 'string', format: 'date-time' }, 'x: 2026-02-28', '2026-01-01T00:00:00Z'],
    ['a list of other things', { type: 'array', items: { type: 'integer' } }, 'x: ["a"]', []],
    ['too short a list', { type: 'array', items: { type: 'integer' }, minItems: 1 }, 'x: []', [0]],
    ['an object that is not it', { type: 'object', required: ['y'], properties: { y: { type: 'integer' } } }, 'x: {}', { y: 0 }],
    ['an object with more', { type: 'object', additionalProperties: false }, 'x: {"y": 1}', {}],
  ])('does not take %s', (_, schema, text, expected) => {
    expect(one(schema, text)).toEqual(expected);
  });

  it.each<[string, Schema, unknown]>([
    ['number', { type: 'number' }, 0.9],
    ['number from 2 on', { type: 'number', minimum: 2 }, 2],
    ['number up to 0.5', { type: 'number', maximum: 0.5 }, 0.5],
    ['integer', { type: 'integer' }, 0],
    ['integer from 2.5 on', { type: 'integer', minimum: 2.5 }, 3],
    ['integer up to -2', { type: 'integer', maximum: -2 }, -2],
    ['string', { type: 'string' }, 'mock'],
    ['string of at least 6', { type: 'string', minLength: 6 }, 'mockmo'],
    ['string of at most 2', { type: 'string', maxLength: 2 }, 'mo'],
    ['boolean', { type: 'boolean' }, false],
    ['null', { type: 'null' }, null],
    ['date', { type: 'string', format: 'date' }, '2026-01-01'],
    ['date-time', { type: 'string', format: 'date-time' }, '2026-01-01T00:00:00Z'],
    ['enum', LEVELS, 'low'],
    ['const', { const: 7 }, 7],
    ['array', { type: 'array', items: { type: 'string' } }, []],
    ['array of at least two', { type: 'array', minItems: 2, items: LEVELS }, ['low', 'low']],
    ['nullable', { type: ['null', 'integer'] }, 0],
    ['alternatives', { anyOf: [{ type: 'null' }, { type: 'integer', minimum: 1 }, { type: 'string' }] }, 1],
    ['anything', {}, 'mock'],
    ['what Google sends', { type: 'ARRAY', minItems: 1, items: { type: 'INTEGER' } }, [0]],
  ])('has %s where the text gives none', (_, schema, expected) => {
    expect(one(schema)).toEqual(expected);
    expect(fits(expected, schema)).toBe(true);
  });

  it('takes the first enum value that is a word of the text', () => {
    expect(one(LEVELS, 'this is high, the rest is very high')).toBe('very high');
    expect(one(LEVELS, 'as high as it gets')).toBe('high');
    expect(one(LEVELS, 'highly below')).toBe('low');
    expect(one({ enum: ['c++', 'ök'] }, 'in c++ (not Rökk)')).toBe('c++');
  });

  it('has what is required, at every depth, each by its own name', () => {
    const schema = {
      type: 'object',
      required: ['lines', 'seller'],
      properties: {
        seller: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, tax_id: { type: 'string' } } },
        lines: { type: 'array', minItems: 1, items: { type: 'object', required: ['total'], properties: { total: { type: 'number' } } } },
        note: { type: 'string' },
      },
    };
    expect(JSON.parse(jsonAnswer(schema, 'name: Miller\nnote: none\ntotal: 3\ntax_id: 7'))).toEqual({
      lines: [{ total: 3 }],
      seller: { name: 'Miller' },
    });
  });
});

describe('a block of the text', () => {
  const schema = { type: 'object', required: ['x'], properties: { x: { type: 'integer' } } };

  it('is the answer as it stands, the first that fits', () => {
    const text = [
      '```json',
      '{"x": "1"}',
      '```',
      '```',
      '{"x": 2}',
      '```',
      '```json',
      '',
      ' {"x":  3}',
      '```',
      '```json',
      '{"x": 4}',
      '```',
    ];
    expect(jsonAnswer(schema, text.join('\n'))).toBe('{"x":  3}');
  });

  it.each([
    '```json\n{"x": 1}',
    '```json\n{"x": 1\n```',
    '```json\n[1]\n```',
    '```json5\n{"x": 1}\n```',
    '````json\n```json\n{"x": 1}\n```\n````',
  ])('is none in %j', (text) => {
    expect(JSON.parse(jsonAnswer(schema, text))).toEqual({ x: 0 });
  });

  it('is JSON, whatever the schema', () => {
    expect(jsonAnswer({}, '```json\n{\n```')).toBe('"mock"');
  });
});
