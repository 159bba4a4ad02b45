import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { survivesDouble } from './body';
import {
  DateTimeField,
  DecimalField,
  IdField,
  ListField,
  NestedField,
  NumberField,
  ObjectField,
  SlugField,
  StringField,
  UrlField,
  UuidField,
} from './fields';
import { startEdge, type TestEdge } from './testing/edge';

class Inner {
  @StringField({ optional: true })
  text?: string;
  @UuidField({ optional: true, nullable: true })
  uuid?: string | null;
  @ObjectField({ optional: true })
  data?: Record<string, unknown>;
}

class Needy {
  @StringField()
  text: string;
}

class Outer {
  @StringField({ optional: true })
  text?: string;
  @NumberField({ optional: true })
  ratio?: number;
  @DecimalField({ optional: true })
  amount?: string;
  @SlugField({ optional: true, nullable: true })
  slug?: string | null;
  @UrlField({ optional: true, nullable: true })
  link?: string | null;
  @DateTimeField({ optional: true })
  at?: string;
  @ObjectField({ optional: true })
  metadata?: Record<string, unknown>;
  @IdField({ optional: true, nullable: true })
  id?: string | null;
  @ListField('uuid', { optional: true, nullable: true, unique: true })
  uuids?: string[] | null;
  @NestedField(() => Inner, { optional: true })
  inner?: Inner;
  @ListField(() => Inner, { optional: true })
  inners?: Inner[];
  @ListField(() => Needy, { optional: true, max: 3 })
  needy?: Needy[];
}

class Filter {
  @StringField({ optional: true })
  text?: string;
  @UuidField({ optional: true })
  uuid?: string;
}

@Controller('things')
class ThingsController {
  @Post()
  make(@Body() body: Outer) {
    return body;
  }
  @Get()
  list(@Query() query: Filter) {
    return { ...query };
  }
}

/** Names that objects, classes, promises and serializers know. */
const MACHINERY = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'toJSON',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  '__lookupSetter__',
  'then',
  'length',
  'name',
  'toPostgres',
  'then\\u0000',
  '\\ud800',
  '',
];

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ controllers: [ThingsController] });
});
afterAll(() => edge.close());

const make = (body: string) => edge.call('POST', '/things', { body });
const places = (body: { detail: { loc: unknown[]; type: string }[] }) => body.detail.map(({ loc, type }) => [loc.join('.'), type]);

describe('what is wrong', () => {
  it('is told of no more elements than make a list too long', async () => {
    const { status, body } = await make(JSON.stringify({ needy: Array.from({ length: 10_000 }, () => ({})) }));
    expect([status, places(body)]).toEqual([
      422,
      [...[0, 1, 2, 3].map((i) => [`body.needy.${i}.text`, 'missing']), ['body.needy', 'too_long']],
    ]);
  });

  it('is told up to a hundred times', async () => {
    const inners = Array.from({ length: 200 }, () => ({ uuid: 'none', data: { '\0': '\0' } }));
    expect((await make(JSON.stringify({ inners }))).body.detail).toHaveLength(100);
    expect((await make(JSON.stringify({ inners: inners.map(() => ({ uuid: 'none' })) }))).body.detail).toHaveLength(100);
  });
});

describe('an unknown field', () => {
  it.each(MACHINERY)('named %j is ignored at every depth', async (name) => {
    const unknown = `"${name}":{"polluted":true,"constructor":{"prototype":{"polluted":true}},"nul":"\\u0000"}`;
    const answer = await make(`{"text":"a",${unknown},"inner":{${unknown},"text":"b"},"inners":[{"text":"c",${unknown}}]}`);
    expect([answer.status, answer.body]).toEqual([201, { text: 'a', inner: { text: 'b' }, inners: [{ text: 'c' }] }]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('of a query is ignored', async () => {
    expect((await edge.call('GET', '/things?text=a&__proto__=b&__proto__=c&constructor=d&x=%00')).body).toEqual({ text: 'a' });
  });
});

describe('a declared field', () => {
  it.each(['text', 'inner.text', 'inners.0.text', 'metadata.a', 'inner.data.a.0'])('refuses what cannot be stored: %s', async (place) => {
    const value = place.split('.').reduceRight((inner, key) => (key === '0' ? `[${inner}]` : `{"${key}":${inner}}`), '"a\\u0000"');
    const { status, body } = await make(value);
    expect([status, body.code, places(body)]).toEqual([422, 'validation_error', [[`body.${place}`, 'value_error']]]);
  });
});

describe('a body', () => {
  it.each(['null', '[]', '5', '"text"'])('that is %s is none', async (body) => {
    const { status, body: answer } = await make(body);
    expect([status, places(answer)]).toEqual([422, [['body', 'dict_type']]]);
  });
});

describe('a list of objects', () => {
  it.each(['[[{}]]', '[{"text":"a"},[]]', '[null]', '[1]', '[[[{"text":1}]]]'])('refuses %s', async (list) => {
    const { status, body } = await make(`{"inners":${list}}`);
    expect([status, places(body).every(([, type]) => type === 'dict_type')]).toEqual([422, true]);
  });
});

describe('an object of the caller', () => {
  it('keeps every key', async () => {
    const metadata = `{${MACHINERY.slice(0, -3)
      .concat('')
      .map((name) => `"${name}":{"${name}":[{"${name}":1}]}`)
      .join(',')}}`;
    const answer = await make(`{"metadata":${metadata},"inner":{"data":${metadata}},"inners":[{"data":${metadata}}]}`);
    expect(answer.text).toBe(`{"metadata":${metadata},"inner":{"data":${metadata}},"inners":[{"data":${metadata}}]}`);
  });

  it.each([
    '0',
    '-0',
    '0.0',
    '0e999',
    '1',
    '-1.50',
    '1e2',
    '1E+2',
    '100e-2',
    '0.1',
    '9007199254740992',
    '-9007199254740992',
    '9007199254740994',
    '1e23',
    '1.7976931348623157e308',
    '5e-324',
    '0.30000000000000004',
    `1${'0'.repeat(300)}`,
    `0.${'0'.repeat(300)}1`,
  ])('takes the number %s', async (number) => {
    const { status, body } = await make(`{"metadata":{"n":${number}}}`);
    expect([status, body.metadata.n === Number(number)]).toEqual([201, true]);
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '9007199254740993.0',
    '900719925474099.3e1',
    '1e400',
    '-1e400',
    '1e-400',
    '0.1000000000000000055',
    '0.30000000000000001',
    '123456789012345678901234567890',
    '1.7976931348623159e308',
    '1e99999999999999999999',
    `1${'0'.repeat(400)}`,
  ])('refuses the number %s, wherever it stands', async (number) => {
    const { status, body } = await make(
      `{"text":"1e400","metadata":{"${'é'}\\u00e9":[{"n":1},{"n":${number}}],"e":true},"inner":{"data":{"a":${number}}},"inners":[{},{"data":{"b":${number}}}]}`,
    );
    expect([status, body.code]).toEqual([422, 'number_unsafe']);
    expect(places(body)).toEqual(
      ['metadata.éé.1.n', 'inner.data.a', 'inners.1.data.b'].map((place) => [`body.${place}`, 'semantic.number_unsafe']),
    );
  });

  it('refuses it behind a byte order mark, too', async () => {
    expect((await make('\ufeff{"metadata":{"n":9007199254740993}}')).body.code).toBe('number_unsafe');
  });

  it('says it beside what else is wrong', async () => {
    const { status, body } = await make('{"text":1,"metadata":{"n":1e400}}');
    expect([status, body.code, places(body)]).toEqual([
      422,
      'validation_error',
      [
        ['body.text', 'string_type'],
        ['body.metadata.n', 'semantic.number_unsafe'],
      ],
    ]);
  });
});

describe('a slug', () => {
  it.each(['support', '0198c0de', null])('may be %j', async (slug) =>
    expect((await make(JSON.stringify({ slug }))).body).toEqual({ slug }),
  );

  it('has not the form of an id', async () => {
    const { status, body } = await make('{"slug":"0198c0de-0000-7000-8000-000000000000"}');
    expect([status, places(body)]).toEqual([422, [['body.slug', 'value_error']]]);
  });
});

describe('an id', () => {
  const uuid = '0198c0de-0000-7000-8000-00000000000a';
  const LOUD = uuid.toUpperCase();

  it('has one spelling from here on, wherever it stands', async () => {
    const sent = { id: LOUD, uuids: [LOUD], inner: { uuid: LOUD }, inners: [{ uuid: LOUD }, { uuid: null }] };
    expect((await make(JSON.stringify(sent))).body).toEqual({
      id: uuid,
      uuids: [uuid],
      inner: { uuid },
      inners: [{ uuid }, { uuid: null }],
    });
    expect((await edge.call('GET', `/things?uuid=${LOUD}`)).body).toEqual({ uuid });
  });

  it('of another form stays as it is, and so does what is none', async () => {
    for (const sent of [
      { id: 'prc_A', text: LOUD },
      { id: null, uuids: null },
    ])
      expect((await make(JSON.stringify(sent))).body).toEqual(sent);
    const { status, body } = await make('{"id":1,"uuids":["X",2],"inner":{"uuid":"X"}}');
    expect([status, places(body)]).toEqual([
      422,
      [
        ['body.id', 'string_type'],
        ['body.uuids', 'uuid_parsing'],
        ['body.inner.uuid', 'uuid_parsing'],
      ],
    ]);
  });

  it('is named once where none may repeat, however it is spelt', async () => {
    const { status, body } = await make(JSON.stringify({ uuids: [uuid, LOUD] }));
    expect([status, places(body)]).toEqual([422, [['body.uuids', 'value_error']]]);
  });
});

describe('a link', () => {
  const link = async (value: unknown) => {
    const { status, body } = await make(JSON.stringify({ link: value }));
    return status === 201 ? (body.link as unknown) : [status, ...places(body)];
  };

  it('is kept as it was read', async () => {
    expect([
      await link('HTTPS://Example.com:443/a b'.replace(' ', '%20')),
      await link('http://example.com'),
      await link('https://bücher.example/ä?q#f'),
      await link(null),
    ]).toEqual(['https://example.com/a%20b', 'http://example.com/', 'https://xn--bcher-kva.example/%C3%A4?q#f', null]);
  });

  it.each([
    'javascript:alert(1)',
    'ftp://example.com/',
    'https://',
    '//example.com',
    'https://user@example.com/',
    'https://user:pw@example.com/',
    'https://example.com\\@evil.example/',
    'https:\\\\example.com',
    ' https://example.com',
    'https://example.com/\n',
    'https://exam\tple.com/',
    'https://example.com/a b',
    'https://example.com/\u0085',
    '',
  ])('is refused as %j', async (value) => {
    expect(await link(value)).toEqual([422, ['body.link', 'value_error']]);
  });
});

it('an amount is never rounded in silence', async () => {
  expect((await make('{"amount":12345678901234.123456}')).body.code).toBe('number_unsafe');
  expect((await make('{"amount":0.1}')).body).toEqual({ amount: '0.1' });
  expect((await make('{"amount":"12345678901234.123456"}')).body).toEqual({ amount: '12345678901234.123456' });
});

it('numbers that nobody keeps are nobody’s business', async () => {
  expect(
    (await make('{"x":1e400,"inner":{"metadata":{"n":9007199254740993}},"ratio":0.1000000000000000055,"text":"9007199254740993"}')).body,
  ).toEqual({ inner: {}, ratio: 0.1, text: '9007199254740993' });
});

it('long numbers are compared in a time that grows with their length', () => {
  const zeros = '0'.repeat(500_000);
  expect(survivesDouble(`1${zeros}1`)).toBe(false);
  expect(survivesDouble(`1${zeros}e-500000`)).toBe(true);
});

it.each([
  ...['2026-02-28T23:59:59Z', '2024-02-29T00:00:00.123456Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59+14:00'].map((at) => [at, 201]),
  ...[
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:01:00Z',
    '2026-01-01 00:00:00Z',
  ].map((at) => [at, 422]),
  ...['9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '2026-01-01T00:00:00', '2026-01-01', ''].map(
    (at) => [at, 422],
  ),
])('the moment %j is answered %i', async (at, wanted) => {
  const answer = await make(JSON.stringify({ at }));
  expect([answer.status, answer.body.at]).toEqual([wanted, wanted === 201 ? at : undefined]);
});

it('of very many numbers that a double does not keep the first are told, in no time', async () => {
  const { status, body } = await make(`{"metadata":{"n":[${'1e999,'.repeat(150_000)}1]}}`);
  expect([status, body.code, body.detail.length]).toEqual([422, 'number_unsafe', 20]);
});
