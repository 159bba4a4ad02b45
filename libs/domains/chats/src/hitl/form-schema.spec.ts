import { formProblems, MAX_SCHEMA_CHARS, schemaFault } from './form-schema';

const form = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({ type: 'object', properties, ...more });
const nested = (levels: number): Record<string, unknown> =>
  levels === 0 ? { type: 'string' } : { type: 'array', items: nested(levels - 1) };

describe('the schema of a form', () => {
  it.each([
    ['a field', form({ name: { type: 'string', title: 'Name', maxLength: 10 } }, { required: ['name'] })],
    ['lists and objects', form({ rows: { type: 'array', minItems: 1, items: form({ n: { type: ['integer', 'null'], minimum: 0 } }) } })],
    ['a field that is named like a part of every object', form({ constructor: { type: 'string' }, toString: { type: 'string' } })],
    ['a format that nobody knows', form({ plate: { type: 'string', format: 'number-plate' } })],
  ])('may have %s', (_, schema) => expect(schemaFault(schema)).toBeNull());

  it.each([
    ['a list', [], /type object/],
    ['another type', { type: 'string' }, /type object/],
    ['no fields', { type: 'object', properties: {} }, /have properties/],
    [
      'a rule that would not be kept',
      form({ a: { type: 'string', pattern: '(a+)+$' } }),
      /schema\.properties\.a\.pattern is not supported/,
    ],
    ['a reference', form({ a: { $ref: '#/$defs/a' } }), /\$ref is not supported/],
    ['an unknown type', form({ a: { type: 'text' } }), /a\.type should be of/],
    ['an empty list of types', form({ a: { type: [] } }), /a\.type should be of/],
    ['an empty choice', form({ a: { enum: [] } }), /a\.enum should be a list/],
    ['a bound that is no number', form({ a: { minimum: '1' } }), /a\.minimum should be a number/],
    ['a length that is no whole number', form({ a: { maxLength: 1.5 } }), /a\.maxLength should be a whole number/],
    ['a field that is no schema', form({ a: true }), /properties\.a should be a schema/],
    [
      'a fault deep inside',
      form({ a: { type: 'array', items: form({ b: { required: 'c' } }) } }),
      /a\.items\.properties\.b\.required should be a list/,
    ],
    [
      'schemas for further fields',
      form({ a: {} }, { additionalProperties: { type: 'string' } }),
      /additionalProperties should be true or false/,
    ],
    ['too many levels', form({ a: nested(5) }), /nests too deeply/],
    ['too much text', form({ a: { type: 'string', description: 'x'.repeat(MAX_SCHEMA_CHARS) } }), /at most/],
  ])('may not be or have %s', (_, schema, says) => expect(schemaFault(schema)).toMatch(says));
});

describe('what is filled into a form', () => {
  const problems = (schema: Record<string, unknown>, value: unknown) =>
    formProblems(schema, value, ['body', 'values']).map((p) => `${p.loc.slice(2).join('.')} ${p.type}`);

  it.each([
    ['as it should be', form({ a: { type: 'string' }, n: { type: 'integer' } }, { required: ['a'] }), { a: 'x', n: 3 }],
    ['null where null is allowed', form({ a: { type: ['string', 'null'] } }), { a: null }],
    ['without what is not required', form({ a: { type: 'string' } }), {}],
    ['with further fields', form({ a: {} }), { b: 1 }],
    ['a whole number for a number', form({ a: { type: 'number', exclusiveMinimum: 1, maximum: 2 } }), { a: 2 }],
    ['one of a choice, whatever the order of keys', form({ a: { enum: [{ x: 1, y: [2] }] } }), { a: { y: [2], x: 1 } }],
    ['characters counted as people do', form({ a: { type: 'string', maxLength: 2 } }), { a: '👩👩' }],
    [
      'formats',
      form({
        d: { format: 'date' },
        t: { format: 'date-time' },
        e: { format: 'email' },
        u: { format: 'uri' },
        i: { format: 'uuid' },
        p: { format: 'number-plate' },
      }),
      { d: '2024-02-29', t: '2024-02-29T10:00:00Z', e: 'a@b.c', u: 'https://a.b', i: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11', p: '?' },
    ],
  ])('passes: %s', (_, schema, value) => expect(problems(schema, value)).toEqual([]));

  it.each([
    [
      'every problem at once',
      form({ a: { type: 'string' }, n: { type: 'integer', minimum: 1 } }, { required: ['a', 'b'] }),
      { a: 1, n: 0 },
      ['b missing', 'a string_type', 'n greater_than_equal'],
    ],
    ['a fraction for a whole number', form({ n: { type: 'integer' } }), { n: 1.5 }, ['n integer_type']],
    ['null', form({ a: { type: 'object' } }), { a: null }, ['a object_type']],
    ['a list for an object', form({ a: { type: 'object' } }), { a: [] }, ['a object_type']],
    ['lengths', form({ a: { minLength: 2 }, b: { maxLength: 1 } }), { a: 'x', b: 'xx' }, ['a string_too_short', 'b string_too_long']],
    [
      'lists',
      form({ a: { type: 'array', maxItems: 1, items: { type: 'string' } }, b: { minItems: 1 } }),
      { a: ['x', 2], b: [] },
      ['a too_long', 'a.1 string_type', 'b too_short'],
    ],
    [
      'bounds',
      form({ a: { exclusiveMinimum: 1 }, b: { exclusiveMaximum: 1 }, c: { maximum: 1 } }),
      { a: 1, b: 1, c: 2 },
      ['a greater_than', 'b less_than', 'c less_than_equal'],
    ],
    [
      'choices',
      form({ a: { enum: ['x'] }, b: { const: { y: 1 } }, c: { enum: [[1]] } }),
      { a: 'y', b: { y: 1, z: 2 }, c: [1, 2] },
      ['a enum', 'b literal_error', 'c enum'],
    ],
    [
      'formats',
      form({ d: { format: 'date' }, t: { format: 'date-time' }, e: { format: 'email' }, u: { format: 'uri' }, i: { format: 'uuid' } }),
      { d: '2023-02-29', t: 'today', e: 'a', u: 'a', i: 'a' },
      ['d value_error', 't value_error', 'e value_error', 'u value_error', 'i value_error'],
    ],
    [
      'fields that the form does not have',
      form({ a: {} }, { additionalProperties: false }),
      { toString: 1, b: 1 },
      ['toString extra_forbidden', 'b extra_forbidden'],
    ],
    ['inherited names for required fields', form({ a: {} }, { required: ['toString'] }), {}, ['toString missing']],
  ])('is refused: %s', (_, schema, value, wanted) => expect(problems(schema, value)).toEqual(wanted));
});
