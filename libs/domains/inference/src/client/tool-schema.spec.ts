import { pointedAt } from '@aps/platform/json-schema';
import { dialect1 } from './dialect-1';
import { dialect2 } from './dialect-2';
import { toolSchema } from './tool-schema';
import type { Endpoint } from './types';

const object = (properties: object, ...required: string[]) => ({ type: 'object', properties, required });
const TEXT = { type: 'string' };

it.each([
  ['none', {}, { type: 'object', properties: {} }],
  ['an object', object({ a: TEXT }, 'a'), object({ a: TEXT }, 'a')],
  ['a type of several', { type: ['object', 'null'] }, { type: 'object', properties: {} }],
  ['an array of anything', object({ a: { type: 'array' } }), object({ a: { type: 'array', items: {} } })],
  ['forms of other drafts', { $schema: 'http://json-schema.org/draft-04/schema#', properties: { a: { minimum: 0, exclusiveMinimum: true } } }, { type: 'object', properties: { a: { minimum: 0 } } }], // prettier-ignore
  ['values', object({ a: { default: { type: 'array' } }, default: { type: 'array' } }), object({ a: { default: { type: 'array' } }, default: { type: 'array', items: {} } })], // prettier-ignore
  ['alternatives within', object({ a: { oneOf: [TEXT, { type: 'null' }] } }), object({ a: { oneOf: [TEXT, { type: 'null' }] } })],
])('of %s nothing is folded', (_, parameters, told) => expect(toolSchema(parameters)).toEqual(told));

it('keeps the names of what is of an older draft throughout', () => {
  const names = Array.from({ length: 30 }, (_, i) => `p${i}`);
  const of = (schema: object) => Object.fromEntries(names.map((name) => [name, { description: name, ...schema }]));
  const parameters = {
    type: 'object',
    properties: of({ type: 'number', minimum: 0, exclusiveMinimum: true }),
    required: ['p0', 'p1', 'p0'],
  };
  expect(toolSchema(parameters)).toEqual({ type: 'object', properties: of({ type: 'number', minimum: 0 }), required: ['p0', 'p1'] });
});

describe('what is combined at the top level', () => {
  it('becomes one object, which requires what each alternative does', () => {
    const a = object({ kind: { const: 'a' }, n: TEXT, x: TEXT }, 'kind', 'x');
    const b = object({ kind: { const: 'b' }, n: TEXT }, 'kind');
    const { description, ...told } = toolSchema({ description: 'Files.', additionalProperties: false, oneOf: [a, b], required: ['n'] });
    expect(told).toEqual({
      type: 'object',
      properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, n: TEXT, x: TEXT },
      required: ['n', 'kind'],
    });
    expect(description).toBe(`Files.\n\nThe arguments also fit this JSON Schema: ${JSON.stringify({ oneOf: [a, b] })}`);
  });

  it('is told by properties alone where these say all of it', () => {
    const schema = { $ref: '#/$defs/a', allOf: [object({ b: TEXT }, 'b')], $defs: { a: object({ a: TEXT }, 'a') } };
    expect(toolSchema(schema)).toEqual({ ...object({ a: TEXT, b: TEXT }, 'a', 'b'), $defs: schema.$defs });
  });

  it('is in words where properties cannot say it', () => {
    const { description, ...told } = toolSchema({ ...object({ a: TEXT }), not: { required: ['b'] }, enum: [{ a: 'x'.repeat(5_000) }] });
    expect(told).toEqual(object({ a: TEXT }));
    expect(description).toMatch(/^The arguments .*\{"not":\{"required":\["b"\]\},"enum":\[/);
    expect((description as string).length).toBeLessThan(2_100);
  });

  it.each(['anyOf', 'oneOf', 'allOf'])('leaves no reference into %s without what it refers to', (key) => {
    const again = { $ref: `#/${key}/0/properties/at` };
    const at = object({ path: TEXT }, 'path');
    const schema = {
      [key]: [object({ at }, 'at'), object({ to: again, back: { anyOf: [again, { $ref: '#/$defs/folded' }] } })],
      $defs: { folded: TEXT },
    };
    const told = toolSchema(schema);
    const refs = Array.from(JSON.stringify(told).matchAll(/"\$ref":"([^"]+)"/g), ([, ref]) => pointedAt(told, ref));
    expect(refs.length).toBeGreaterThan(2);
    for (const found of refs) expect([at, TEXT]).toContainEqual(found);
    expect(told).toMatchObject({ properties: { at, to: { $ref: `#/$defs/folded_/${key}/0/properties/at` } } });
    expect(told).not.toHaveProperty(key);
  });

  it('takes alternatives that may be null for such of objects', () => {
    const anyOf = [object({ a: TEXT, b: TEXT }, 'a', 'b'), { ...object({ b: TEXT, c: TEXT }, 'b'), type: ['object', 'null'] }];
    expect(toolSchema({ anyOf })).toMatchObject({ properties: { a: TEXT, b: TEXT, c: TEXT }, required: ['b'] });
  });

  it('requires nothing of alternatives of which it has not seen all', () => {
    const anyOf = Array.from({ length: 60 }, () => object({ a: TEXT }, 'a'));
    expect(toolSchema({ anyOf })).toMatchObject({ properties: { a: TEXT }, required: [] });
  });

  it('comes to an end, whatever it stands for', () => {
    const self = Array.from({ length: 10 }, () => ({ $ref: '#' }));
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string', title: `${i}` }]));
    expect(toolSchema({ properties, allOf: self, anyOf: self, oneOf: self, $ref: '#' })).toMatchObject({ type: 'object', properties });
  });

  it('reaches no provider of dialects 1 and 2', () => {
    const parameters = { type: 'object', oneOf: [object({ a: TEXT }), object({ b: TEXT })] };
    for (const dialect of [dialect1, dialect2]) {
      const { body } = dialect.chat({ model: 'm', feature: 'turn', messages: [], tools: [{ name: 'f', parameters }] }, {} as Endpoint);
      const [tool] = (JSON.parse(body) as { tools: Record<string, unknown>[] }).tools;
      const sent = tool.input_schema ?? (tool.function as Record<string, unknown>).parameters;
      expect(sent).toMatchObject({ type: 'object', properties: { a: TEXT, b: TEXT } });
      expect(sent).not.toHaveProperty('oneOf');
    }
  });
});
