import { checkSchema, validate, withoutFaults, type Schema } from './schema';

const nested = (depth: number): Schema => (depth ? { type: 'array', items: nested(depth - 1) } : { type: 'string' });
const doubling = (levels: number): Schema => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_, i) => [
      `d${i}`,
      i + 1 < levels ? { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] } : { type: 'string' },
    ]),
  ),
});

const INVOICE: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://example.com/invoice',
  title: 'Invoice',
  type: 'object',
  required: ['number', 'lines'],
  additionalProperties: false,
  properties: {
    number: { type: 'string', pattern: '^[A-Z]{2}[0-9]+$' },
    day: { type: 'string', format: 'date' },
    lines: { type: 'array', minItems: 1, uniqueItems: true, items: { $ref: '#/$defs/line' } },
    currency: { enum: ['EUR', 'USD'] },
    constructor: { type: 'boolean' },
  },
  $defs: {
    line: {
      type: 'object',
      required: ['price'],
      properties: { price: { type: 'number', exclusiveMinimum: 0 }, tags: { prefixItems: [true] } },
    },
  },
};

const refused = (step: number, values: number[]) => values.filter((value) => validate({ multipleOf: step }, value).length);
it('takes every amount of cents for a multiple of 0.01, and nothing between', () => {
  const cents = [...Array.from({ length: 2_000 }, (_, i) => i / 100), 4_503_599.37, 83_886_080.29, 98_765_432_109.87];
  expect(refused(0.01, cents)).toEqual([]);
  expect(refused(0.01, [0.001, 0.295, -19.991, 4_503_599.371])).toHaveLength(4);
});

it('takes nothing for a multiple of a large step that is none', () => {
  expect(refused(1e10, [0, 1e10, -3e10, 1, 5e9, 1e10 + 1])).toEqual([1, 5e9, 1e10 + 1]);
  expect(validate({ multipleOf: 0.5 }, 0.3)).toMatchObject([{ message: expect.stringContaining('multiple of 0.5') as string }]);
});

it('leaves out what other drafts write otherwise, and nothing else', () => {
  const kept = {
    type: 'object',
    properties: { a: { type: 'integer', minimum: 0 }, 'b/c': { type: 'array' } },
    required: ['a'],
    nullable: true,
  };
  const schema = {
    ...kept,
    properties: {
      a: { ...kept.properties.a, exclusiveMinimum: true, required: true },
      'b/c': { type: 'array', items: [{ type: 'string' }] },
    },
  };
  const before = JSON.stringify(schema);
  expect(withoutFaults(schema)).toEqual(kept);
  expect(JSON.stringify(schema)).toBe(before);
  expect(withoutFaults(kept)).toBe(kept);
  expect(withoutFaults({ properties: { a: { type: 'any' } }, required: ['a', 'a'] })).toEqual({ properties: { a: {} } });
  expect(withoutFaults({ type: Array.from({ length: 300_000 }, (_, i) => `t${i}`) })).toEqual({});
  expect(withoutFaults({ allOf: Array.from({ length: 1_000 }, () => 1) })).toEqual({});
});

describe('schemas', () => {
  it.each<[string, Schema]>([
    ['a whole one', INVOICE],
    ['nothing', {}],
    ['what is not known, which says nothing', { type: 'string', example: 'x', format: 'colour' }],
    ['names that are keywords elsewhere', { properties: { $ref: { type: 'string' }, default: { $ref: '#/$defs/a' } }, $defs: { a: true } }],
    ['values that look like schemas', { const: { $ref: 'http://example.com' }, enum: [{ $id: 1 }] }],
    ['20 levels', nested(20)],
    ['parts that are referred to often', doubling(6)],
    ['500 parts', { allOf: Array.from({ length: 500 }, () => true) }],
  ])('may be %s', (_, schema) => expect(checkSchema(schema)).toBeNull());

  it.each<[string, unknown, RegExp]>([
    ['no object', 'string', /should be an object/],
    ['a list', [], /should be an object/],
    ['an unknown type', { properties: { a: { type: 'text' } } }, /properties\.a\.type .*"string"/],
    ['a bound of the wrong type', { minLength: '1' }, /minLength/],
    ['lists of another draft', { items: [{ type: 'string' }] }, /schema\.items should be a schema/],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, /\$schema should be/],
    ['what lies elsewhere', { properties: { a: { $ref: 'https://example.com/a.json' } } }, /properties\.a\.\$ref should be a place within/],
    ['what lies nowhere', { $ref: '#/$defs/a' }, /names nothing/],
    ['names of the host', { $ref: '#/constructor' }, /names nothing/],
    ['itself', { properties: { a: { $ref: '#' } } }, /leads back to itself/],
    [
      'itself, by others',
      { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { not: { $ref: '#/$defs/a' } } } },
      /leads back to itself/,
    ],
    ['a name of a part', { properties: { a: { $id: 'urn:a' } } }, /\$id is not supported/],
    ['later answers', { $async: true }, /\$async is not supported/],
    ['dynamic references', { $dynamicRef: '#a' }, /\$dynamicRef is not supported/],
    ['values of data', { properties: { a: { minimum: { $data: '1/b' } } } }, /minimum/],
    ['patterns that go back', { pattern: '(?=a)' }, /RE2/],
    ['patterns that are too large', { patternProperties: { '^a{900}$': true, '^b{900}$': true, '^c{900}$': true } }, /too large together/],
    ['too many levels', nested(21), /nests too deeply/],
    ['any number of levels', nested(1_500), /nests too deeply/],
    ['too many bytes', { description: 'é'.repeat(33_000) }, /65536 bytes/],
    ['too many parts', { allOf: Array.from({ length: 501 }, () => true) }, /more than 500/],
    ['doubling parts', doubling(40), /more than 500/],
    ['too many values', { enum: Array.from({ length: 1_001 }, (_, i) => i) }, /at most 1000/],
  ])('may not be %s', (_, schema, problem) => expect(checkSchema(schema)).toMatch(problem));

  it('knows each by itself, whatever they call themselves', () => {
    const named = (type: string) => ({ $id: 'urn:same', $ref: '#/$defs/a', $defs: { a: { type } } });
    expect([validate(named('string'), 1), validate(named('number'), 1)].map((found) => found.length)).toEqual([1, 0]);
  });

  it.each<[string, Schema, unknown, [string, RegExp][]]>([
    ['what fits', INVOICE, { number: 'AB1', day: '2024-02-29', lines: [{ price: 1 }, { price: 2 }], currency: 'EUR' }, []],
    [
      'every misfit',
      INVOICE,
      { number: 'ab', day: '2023-02-29', lines: [{}, { price: 0 }], currency: 'GBP', 'odd/key': 1 },
      [
        ['', /odd\/key/],
        ['number', /pattern/],
        ['day', /format "date"/],
        ['lines.0', /property 'price'/],
        ['lines.1.price', /> 0/],
        ['currency', /allowed values: \["EUR","USD"\]/],
      ],
    ],
    [
      'what is there twice',
      INVOICE,
      {
        number: 'AB1',
        lines: [
          { price: 1, a: 2 },
          { a: 2, price: 1 },
        ],
      },
      [['lines', /same item twice/]],
    ],
    ['names of the host, which nobody wrote', INVOICE, JSON.parse('{"number": "AB1", "lines": [{"price": 1}]}'), []],
    ['what is required of the host', { required: ['toString'] }, {}, [['', /toString/]]],
    ['a long text of no format', { format: 'email' }, `${'a'.repeat(3_000)}@example.com`, [['', /format/]]],
    ['a text that is too long for its pattern', { pattern: '^[a-z]{200}$' }, 'a'.repeat(100_000), [['', /too long/]]],
    ['patterns that would go back', { pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`, [['', /pattern/]]],
  ])('tells %s', (_, schema, value, expected) => {
    const before = JSON.stringify(value);
    expect(validate(schema, value)).toEqual(
      expected.map(([path, message]) => ({ path, message: expect.stringMatching(message) as string })),
    );
    expect(JSON.stringify(value)).toBe(before);
  });

  it('tells no more than somebody reads, and the first alone of what is large', () => {
    const wrong = (count: number) => Array.from({ length: count }, () => 'x');
    expect(validate({ items: { type: 'number' } }, wrong(100))).toHaveLength(20);
    expect(validate({ items: { type: 'number' } }, wrong(50_000))).toHaveLength(1);
  });

  it('tells all of a long list whose rows have many fields', () => {
    const names = Array.from({ length: 20 }, (_, i) => `field${i}`);
    const row = { required: names, properties: Object.fromEntries(names.map((name) => [name, { type: 'number' }])) };
    const lines: object[] = Array.from({ length: 120 }, () => Object.fromEntries(names.map((name) => [name, 1])));
    lines[3] = { ...lines[3], field7: 'x' };
    lines[110] = { ...lines[110], field0: undefined };
    const found = validate({ required: ['lines'], properties: { lines: { items: row } } }, { lines: JSON.parse(JSON.stringify(lines)) });
    expect(found.map(({ path }) => path)).toEqual(['lines.3.field7', 'lines.110']);
  });

  it.each<[string, (rule: Schema) => Schema]>([
    ['all at once', (rule) => ({ items: { allOf: [rule, rule, rule] } })],
    ['in several places of one schema', (rule) => ({ contains: rule, unevaluatedItems: rule, items: rule })],
    [
      'that are referred to',
      (rule) => ({ allOf: Array.from({ length: 3 }, () => ({ $ref: '#/$defs/a' })), $defs: { a: { items: rule } } }),
    ],
  ])('adds up what one part is asked %s', (_, schema) => {
    const rule = { required: Array.from({ length: 15 }, (_, i) => `n${i}`) };
    const parts = Array.from({ length: 3_000 }, () => ({}));
    expect(validate({ items: rule }, parts)).toHaveLength(20);
    expect(validate(schema(rule), parts)).toHaveLength(1);
  });

  it('comes to the end of long lists of what is allowed, wherever they are referred to', () => {
    const allowed = [...Array.from({ length: 998 }, (_, i) => `v${i}`), null, { b: [1], a: 0 }];
    const other = { not: { $ref: '#/$defs/allowed' } };
    const schema = (items: Schema) => ({ items, $defs: { allowed: { enum: allowed } } });
    const values = Array.from({ length: 20_000 }, () => 'x');
    expect(validate(schema({ allOf: Array.from({ length: 160 }, () => other) }), values)).toEqual([]);
    expect(validate(schema({ $ref: '#/$defs/allowed' }), ['v0', 'v997', null, { a: 0, b: [1] }])).toEqual([]);
    expect(validate(schema({ $ref: '#/$defs/allowed' }), [{}, [], 'null', 0])).toHaveLength(4);
  });

  it.each<[string, Schema]>([
    ['whether it is allowed', { not: { enum: [{}] } }],
    ['for what is there twice', { not: { uniqueItems: true } }],
  ])('looks once through a part of a value that is asked many times %s', (_, rule) => {
    let looks = 0;
    const item = {
      get a() {
        looks++;
        return 1;
      },
    };
    const times = Array.from({ length: 160 }, () => ({ $ref: '#/$defs/rule' }));
    expect(validate({ allOf: times, $defs: { rule } }, [item, item])).toEqual([]);
    expect(looks).toBe(2);
  });

  it('knows nothing of what an older draft has, and would never come to an end', () => {
    const { $ref, $defs } = doubling(60);
    const schema = { dependencies: { a: { $ref } }, $defs };
    expect([checkSchema(schema), validate(schema, { a: 1 })]).toEqual([null, []]);
  });

  it.each<[string, (names: string[]) => Schema]>([
    ['names', (required) => ({ required })],
    ['names beside another', (names) => ({ dependentRequired: { a: names } })],
    ['names elsewhere', (required) => ({ $ref: '#/$defs/a', $defs: { a: { required } } })],
  ])('tells the first alone of many parts that miss many %s each', (_, missing) => {
    const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
    const parts = (count: number) => Array.from({ length: count }, () => ({ a: 1 }));
    const { $defs, ...items } = missing(names(5_000));
    expect(validate({ items, $defs }, parts(8_000))).toHaveLength(1);
    expect(validate(missing(names(30)), { a: 1 })).toHaveLength(20);
  });
});
