import type { PromptField } from '@aps/entities';
import { extractionOf, schemaOf } from './extraction.policy';

const field = (name: string, type: PromptField['type'], over: Partial<PromptField> = {}): PromptField => ({
  name,
  type,
  description: null,
  required: false,
  ...over,
});
const FIELDS = [
  field('total', 'number', { required: true, description: 'With tax' }),
  field('paid', 'boolean'),
  field('on', 'date'),
  field('at', 'datetime'),
  field('currency', 'enum', { enum_values: ['EUR', 'USD'] }),
  field('lines', 'array', {
    items: field('line', 'object', { fields: [field('what', 'string', { required: true }), field('n', 'integer')] }),
  }),
];

it('fields are described as JSON Schema', () => {
  expect(schemaOf(FIELDS)).toEqual({
    type: 'object',
    properties: {
      total: { type: 'number', description: 'With tax' },
      paid: { type: 'boolean' },
      on: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      currency: { type: 'string', enum: ['EUR', 'USD'] },
      lines: {
        type: 'array',
        items: {
          type: 'object',
          properties: { what: { type: 'string' }, n: { type: 'integer' } },
          required: ['what'],
          additionalProperties: false,
        },
      },
    },
    required: ['total'],
    additionalProperties: false,
  });
});

describe('an answer', () => {
  it.each<[string, string, object]>([
    ['bare', '{"total":1.5}', { total: 1.5 }],
    ['fenced', 'Here it is:\n```json\n{"total":1.5}\n```\nAnything else?', { total: 1.5 }],
    [
      'with nulls for what need not be there',
      '{"total":1,"paid":null,"lines":[{"what":"a","n":null}]}',
      { total: 1, lines: [{ what: 'a' }] },
    ],
    [
      'of everything',
      '{"total":1,"on":"2026-02-28","at":"2026-02-28T10:00:00Z","currency":"USD"}',
      {
        total: 1,
        on: '2026-02-28',
        at: '2026-02-28T10:00:00Z',
        currency: 'USD',
      },
    ],
  ])('is read %s', (_, text, data) => expect(extractionOf(text, FIELDS)).toEqual({ data }));

  it.each<[string, string, RegExp]>([
    ['prose', 'The total is 12.', /no JSON/],
    ['a list', '[{"total":1}]', /object/],
    ['null', 'null', /object/],
    ['null for what must be there', '{"total":null}', /total: must be number/],
    ['nothing of what must be there', '{}', /required property 'total'/],
    ['another type', '{"total":"12"}', /total: must be number/],
    ['a word that is not allowed', '{"total":1,"currency":"GBP"}', /currency: .*"EUR","USD"/],
    ['a day that there is not', '{"total":1,"on":"2026-02-30"}', /on: must match format "date"/],
    ['what nobody asked for', '{"total":1,"tax":2}', /additional properties: "tax"/],
    ['a mistake deep within', '{"total":1,"lines":[{"what":"a"},{"n":1.5}]}', /lines\.1: .*'what'[\s\S]*lines\.1\.n: must be integer/],
  ])('that is %s says so', (_, text, mistakes) =>
    expect(extractionOf(text, FIELDS)).toEqual({ mistakes: expect.stringMatching(mistakes) }),
  );

  it('that misses everything everywhere says so once', () => {
    const rows = field('rows', 'array', {
      items: field('row', 'object', { fields: Array.from({ length: 100 }, (_, i) => field(`f${i}`, 'string', { required: true })) }),
    });
    const text = `{"rows":[${'{},'.repeat(300_000)}{}]}`;
    expect(extractionOf(text, [rows])).toEqual({ mistakes: "rows.0: must have required property 'f0'" });
  });

  it('may be of as many fields as a template has', () => {
    const objects = Array.from({ length: 5 }, (_, i) =>
      field(`o${i}`, 'object', { fields: Array.from({ length: 99 }, (_, j) => field(`f${j}`, 'string')) }),
    );
    expect(extractionOf('{"o1":{"f1":"a"}}', objects)).toEqual({ data: { o1: { f1: 'a' } } });
  });

  it('has not what every object has', () => {
    const fields = [field('constructor', 'string', { required: true })];
    expect(extractionOf('{}', fields)).toEqual({ mistakes: expect.stringContaining("'constructor'") });
  });
});
