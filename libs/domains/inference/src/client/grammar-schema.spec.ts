import { grammarSchema } from './grammar-schema';

const WIDE = { optional: Infinity, unions: Infinity, bounds: Infinity };
const object = (properties: object, more: object = {}) => ({ type: 'object', required: Object.keys(properties), properties, ...more });

describe('grammarSchema', () => {
  it('closes objects, tells bounds in words and keeps what is compiled', () => {
    expect(
      grammarSchema(
        {
          $schema: 'x',
          type: 'object',
          required: ['a', 'b'],
          properties: {
            a: { type: 'string', description: 'A name.', minLength: 1, format: 'uri' },
            b: { type: ['integer', 'null'], minimum: 0 },
            c: { type: 'string', format: 'date' },
            d: { type: 'array', items: object({ e: { type: 'string', enum: ['x', 'y'] } }, { additionalProperties: false }) },
            f: { oneOf: [{ type: 'string' }, { type: 'number' }] },
          },
        },
        WIDE,
      ),
    ).toEqual({
      type: 'object',
      required: ['a', 'b'],
      additionalProperties: false,
      properties: {
        a: { type: 'string', description: 'A name. {minLength: 1, format: "uri"}' },
        b: { type: ['integer', 'null'], description: '{minimum: 0}' },
        c: { type: 'string', format: 'date' },
        d: {
          type: 'array',
          items: { type: 'object', required: ['e'], additionalProperties: false, properties: { e: { type: 'string', enum: ['x', 'y'] } } },
        },
        f: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
    });
  });

  it.each([
    ['no object', { type: 'array', items: { type: 'string' } }],
    ['alternatives of the whole', object({ a: { type: 'string' } }, { anyOf: [{ type: 'object', additionalProperties: false }] })],
    ['a free object', object({ a: { type: 'object' } })],
    ['an object that asks for other names', object({ a: { type: 'string' } }, { additionalProperties: true })],
    ['a map', object({ a: { type: 'object', additionalProperties: { type: 'string' } } })],
    ['a value of any type', object({ a: {} })],
    ['an array of anything', object({ a: { type: 'array' } })],
    ['a required name without a property', { type: 'object', required: ['b'], properties: { a: { type: 'string' } } }],
    ['a reference', object({ a: { $ref: '#' } })],
    ['allOf', object({ a: { type: 'string', allOf: [{ minLength: 1 }] } })],
    ['objects in each other, six deep', [1, 2, 3, 4, 5].reduce((inner: object) => object({ a: inner }), object({ a: { type: 'string' } }))],
    ['101 properties', object(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, { type: 'string' }])))],
    ['501 enum values', object({ a: { type: 'string', enum: Array.from({ length: 501 }, (_, i) => `v${i}`) } })],
  ])('is none for %s', (_, schema) => {
    expect(grammarSchema(schema as Record<string, unknown>, WIDE)).toBeUndefined();
  });

  it.each([
    ['optional', { a: { type: 'object', properties: { b: { type: 'string' } } } }],
    ['unions', { a: { type: ['string', 'null'] } }],
    ['unions', { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } }],
    ['bounds', { a: { type: 'string', format: 'date' } }],
    ['bounds', { a: { type: 'array', items: { type: 'string', maxLength: 3 } } }],
  ])('is none past the limit of %s', (kind, properties) => {
    expect(grammarSchema(object(properties), { ...WIDE, [kind]: 1 })).toBeDefined();
    expect(grammarSchema(object(properties), { ...WIDE, [kind]: 0 })).toBeUndefined();
  });

  it('takes five levels, 100 properties and 500 enum values', () => {
    const deep = [1, 2, 3, 4].reduce((inner: object) => object({ a: inner }), object({ a: { type: 'string' } }));
    expect(grammarSchema(deep as Record<string, unknown>, WIDE)).toBeDefined();
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`p${i}`, { type: 'string' }]));
    const values = Array.from({ length: 500 }, (_, i) => `v${i}`);
    expect(grammarSchema(object({ ...many, e: { type: 'string', enum: values } }), WIDE)).toBeDefined();
  });
});
