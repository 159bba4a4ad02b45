import { checkSchema, validate, type Schema } from '@aps/platform/json-schema';
import { stubOf } from './schema.stub';

describe('the stub of a schema', () => {
  it.each<[Schema, unknown]>([
    [{}, null],
    [{ type: 'string' }, ''],
    [{ type: 'string', minLength: 3 }, 'xxx'],
    [{ type: 'string', format: 'date-time' }, '2000-01-01T00:00:00Z'],
    [{ type: ['number', 'null'] }, 0],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 1 }, 0.5],
    [{ type: 'integer', minimum: 3 }, 3],
    [{ type: 'integer', minimum: 2.5, multipleOf: 2 }, 4],
    [{ type: 'integer', maximum: -2 }, -2],
    [{ type: 'integer', exclusiveMaximum: 0 }, -1],
    [{ const: { a: 1 } }, { a: 1 }],
    [{ enum: ['b', 'a'] }, 'b'],
    [{ type: 'string', pattern: '^[A-Z]$', examples: ['Q'] }, 'Q'],
    [{ type: 'string', pattern: '^[A-Z]$', default: 'Z' }, 'Z'],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [false, false]],
    [{ required: ['a'], properties: { a: { type: 'boolean' }, b: true } }, { a: false }],
    [{ allOf: [{ required: ['a'] }, { properties: { a: { $ref: '#/$defs/t' } } }], $defs: { t: { type: 'string' } } }, { a: '' }],
    [{ oneOf: [{ type: 'integer', minimum: 1 }, { type: 'string' }] }, 1],
    [JSON.parse('{"type":"object","required":["__proto__"]}') as Schema, JSON.parse('{"__proto__":null}')],
  ])('fits: %j', (schema, stub) => {
    expect(checkSchema(schema)).toBeNull();
    expect(stubOf(schema)).toEqual(stub);
    expect(validate(schema, stub)).toEqual([]);
  });

  it('does not grow without bound', () => {
    const lists = (depth: number): Schema => (depth ? { type: 'array', minItems: 1_000, items: lists(depth - 1) } : { type: 'string' });
    expect(JSON.stringify(stubOf(lists(6))).length).toBeLessThan(10_000_000);
  });
});
