import { randomly } from '@aps/platform/testing';
import type { ChannelConfig } from '../intake.port';
import { MAX_TEXT } from '../text.policy';
import { challengeOf, readWebhook } from './reading.policy';

const JSON_TYPE = 'application/json';
const read = (body: unknown, type: string = JSON_TYPE, config: ChannelConfig = {}, headers: Record<string, string> = {}) =>
  readWebhook(
    config,
    { ...(type && { 'content-type': type }), ...headers },
    Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  );

describe('a webhook as a message', () => {
  it('has what stands at the paths of its channel, of which the first node counts', async () => {
    const paths = {
      sender_path: '$.from',
      subject_path: '$.items[*].title',
      body_path: "$['text']",
      dedupe_path: '$.id',
      thread_path: '$..thread',
    };
    const message = await read(
      { from: ' ada ', items: [{ title: 'One\n1' }, { title: 'Two' }], text: 'Hello', id: 7, a: { thread: 't1' } },
      JSON_TYPE,
      paths,
    );
    expect(message).toMatchObject({
      ...{ sender: { address: 'ada', name: null }, subject: 'One 1', body_text: 'Hello', dedupe_key: '7', references: ['t1'] },
      ...{ message_id: null, automatic: null, reply_to: null, files: [] },
    });
  });

  it('has nothing where its paths lead nowhere, to what can be no name, or are none', async () => {
    const paths = { sender_path: '$.a', subject_path: '$.b', dedupe_path: '$.c', thread_path: 'thread', body_path: '$.d' };
    expect(await read({ a: {}, b: [], c: null, thread: 'x' }, JSON_TYPE, paths)).toMatchObject({
      ...{ sender: null, subject: null, dedupe_key: null, references: [], body_text: expect.stringContaining('"thread": "x"') },
    });
  });

  it.each([
    ['JSON', JSON_TYPE, '{"a":[1,{}],"b":[]}', { a: [1, {}], b: [] }, '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}'],
    ['JSON under another name', 'Application/Vnd.Acme+JSON; charset=utf-8', '\ufeff{"a":1}', { a: 1 }, '{\n  "a": 1\n}'],
    ['a scalar', JSON_TYPE, '"text"', 'text', 'text'],
    ['JSON that does not say so', '', '{"a":1}', { a: 1 }, '{\n  "a": 1\n}'],
    [
      'a form',
      'application/x-www-form-urlencoded',
      'a=1&b=x+y&a=%C3%BC',
      { a: ['1', 'ü'], b: 'x y' },
      '{\n  "a": [\n    "1",\n    "ü"\n  ],\n  "b": "x y"\n}',
    ],
    [
      'a form with files',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
      { a: '1' },
      '{\n  "a": "1"\n}',
    ],
    ['text', 'text/plain', 'Hello', null, 'Hello'],
    ['XML', 'application/soap+xml', '<a/>', null, '<a/>'],
    ['text of another charset', 'text/plain; charset=iso-8859-1', Buffer.from('fc', 'hex'), null, 'ü'],
    ['text of no known charset', 'text/plain; charset=klingon', 'ü', null, 'ü'],
    ['malformed JSON', JSON_TYPE, '{"a":', null, '{"a":'],
    ['JSON that nests too deeply', JSON_TYPE, '['.repeat(50_000), null, '['.repeat(50_000)],
    ['a form of another kind', 'multipart/form-data', 'a=1', null, 'a=1'],
    [
      'a form that is cut',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1',
      null,
      expect.stringContaining('name="a"'),
    ],
    ['nothing', JSON_TYPE, '', null, ''],
  ])('takes %s', async (_, type, body, payload, text) => {
    expect(await read(body, type)).toMatchObject({ payload, body_text: text, files: [] });
  });

  it.each([
    ['bytes', 'application/octet-stream'],
    ['a picture', 'image/png'],
    ['bytes that say that they are JSON', JSON_TYPE],
    ['bytes that say nothing', ''],
  ])('takes %s as a file', async (_, type) => {
    const content = Buffer.from([0x89, 0x50, 0, 0xff]);
    expect(await read(content, type)).toMatchObject({
      payload: null,
      body_text: '',
      size_bytes: 4,
      files: [{ filename: 'body', content }],
    });
  });

  it('takes files of a form under names that harm nobody', async () => {
    const part =
      '--x\r\ncontent-disposition: form-data; name="f"; filename="../../a.txt"\r\ncontent-type: text/csv\r\n\r\n1,2\r\n--x--\r\n';
    const { files, payload } = await read(part, 'multipart/form-data; boundary=x');
    expect([files, payload]).toEqual([[{ filename: 'a.txt', content: Buffer.from('1,2') }], {}]);
  });

  it('keeps numbers that a double would change, as text', async () => {
    const a = await read('{"id":9007199254740993,"x":1e400,"y":1.50}', JSON_TYPE, { dedupe_path: '$.id' });
    expect([a.payload, a.dedupe_key]).toEqual([{ id: '9007199254740993', x: '1e400', y: 1.5 }, '9007199254740993']);
  });

  it('keeps nothing that a database refuses', async () => {
    const { payload, body_text, sender } = await read('{"a\\u0000":"\\u0000b\\ud800","s":"x\\u0000"}', JSON_TYPE, { sender_path: '$.s' });
    expect([payload, sender?.address]).toEqual([{ a: 'b\ufffd', s: 'x' }, 'x']);
    expect(body_text).not.toMatch(/\0/);
    expect((await read('a\0b', 'text/plain')).body_text).toBe('ab');
  });

  it('cuts a long text, and says so', async () => {
    for (const [body, type] of [
      ['😀'.repeat(MAX_TEXT), 'text/plain'],
      [JSON.stringify({ a: Array.from({ length: 100_000 }, () => 1) }), JSON_TYPE],
    ] as const) {
      const { body_text } = await read(body, type);
      expect([body_text.length <= MAX_TEXT, body_text.length > MAX_TEXT - 100, body_text.isWellFormed()]).toEqual([true, true, true]);
      expect(body_text).toMatch(/cut\.\]$/);
    }
    expect((await read('x'.repeat(MAX_TEXT), 'text/plain')).body_text).toBe('x'.repeat(MAX_TEXT));
  });

  it('shows no secrets of its headers', async () => {
    const secrets = {
      authorization: 'Bearer x',
      cookie: 'a=b',
      'x-api-key': 'k',
      'x-hub-signature-256': 's',
      'stripe-signature': 's',
      'x-gitlab-token': 't',
      'x-sum': 'm',
    };
    const config = { signature: { scheme: 'hmac_sha256_hex', header: 'X-Sum' } } as const;
    const { headers } = await read({}, JSON_TYPE, config, { ...secrets, 'user-agent': 'curl' });
    expect(headers).toEqual({
      ...Object.fromEntries(Object.keys(secrets).map((name) => [name, '***'])),
      'user-agent': 'curl',
      'content-type': JSON_TYPE,
    });
  });

  it.each([
    ['its path', { 'webhook-id': 'h' }, { dedupe_path: '$.key' }, 'k'],
    ['a header where its path finds nothing', { 'webhook-id': 'h' }, { dedupe_path: '$.none' }, 'h'],
    ['the header of the higher rank', { 'x-event-id': 'e', 'x-github-delivery': 'g', 'idempotency-key': 'i' }, {}, 'g'],
    ['Stripe’s id', {}, { signature: { scheme: 'stripe' } }, 'evt'],
    ['Slack’s event id', {}, { signature: { scheme: 'slack' } }, 'Ev1'],
    ['a header before Stripe’s id', { 'idempotency-key': 'i' }, { signature: { scheme: 'stripe' } }, 'i'],
    ['nothing', {}, {}, null],
  ] as [string, Record<string, string>, ChannelConfig, string | null][])('is a duplicate by %s', async (_, headers, config, key) => {
    expect((await read({ key: 'k', id: 'evt', event_id: 'Ev1' }, JSON_TYPE, config, headers)).dedupe_key).toBe(key);
  });

  it('has a key of bounded length, which tells long values apart', async () => {
    const key = async (id: string) => (await read({ id }, JSON_TYPE, { dedupe_path: '$.id' })).dedupe_key!;
    const [a, b, nul, plain] = await Promise.all([key('x'.repeat(9_999)), key(`${'x'.repeat(9_998)}y`), key('z\0'), key('z')]);
    expect([a.length < 100, a !== b, nul !== plain]).toEqual([true, true, true]);
  });

  it.each(['$..*..*..*..q', '$[?match(@.a,"(a+)+b")]', '$..[?@..a==@..b]', `$${'[?@'.repeat(120)}`, `$${'..*'.repeat(160)}`])(
    'is read to an end whatever its paths ask: %s',
    async (path) => {
      const body =
        JSON.stringify([{ a: 'a'.repeat(5_000) }, ...Array.from({ length: 250_000 }, () => ({ a: 'aaaa', b: [1] }))]).slice(
          0,
          5 * 1024 * 1024 - 9,
        ) + '}]}]';
      const paths = { sender_path: path, subject_path: path, body_path: path, dedupe_path: path, thread_path: path };
      expect((await read(body, JSON_TYPE, paths)).body_text.length).toBeLessThanOrEqual(MAX_TEXT);
    },
  );

  it('is read to an end whatever its body is', async () => {
    const limit = 5 * 1024 * 1024;
    const deep = `${'['.repeat(90)}${'1,'.repeat(2_000_000)}1${']'.repeat(90)}`;
    const bodies: [string, string][] = [
      [deep, JSON_TYPE],
      ['a&'.repeat(limit / 2), 'application/x-www-form-urlencoded'],
      ['9'.repeat(limit), JSON_TYPE],
      [`[${'1e999,'.repeat(800_000)}1]`, JSON_TYPE],
      ['--x\r\n'.repeat(limit / 5), 'multipart/form-data; boundary=x'],
      [`{${Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`).join(',')}}`, JSON_TYPE],
    ];
    for (const [body, type] of bodies) expect((await read(body, type)).body_text.length).toBeLessThanOrEqual(MAX_TEXT);
  });

  it('is read whatever comes', async () => {
    const next = randomly(7);
    const types = [
      JSON_TYPE,
      'text/plain; charset=utf-16',
      'multipart/form-data; boundary="',
      'application/x-www-form-urlencoded',
      '',
      ';;;',
      'a/b; charset=\0',
    ];
    for (let i = 0; i < 500; i++) {
      const body = Buffer.from(
        Array.from({ length: Math.floor(next() * 60) }, () =>
          next() < 0.7 ? '[]{}",:\\&=%-\r\n1e+'.charCodeAt(Math.floor(next() * 19)) : next() * 256,
        ),
      );
      const message = await read(body, types[Math.floor(next() * types.length)], { sender_path: '$..*', body_path: '$[0]' });
      expect(message.size_bytes).toBe(body.length);
    }
  });
});

describe('a challenge', () => {
  it('is Slack’s, to a channel of its scheme', async () => {
    const ask = (config: ChannelConfig, body: object) =>
      challengeOf(config, { 'content-type': JSON_TYPE }, Buffer.from(JSON.stringify(body)));
    const [slack, challenge] = [{ signature: { scheme: 'slack' as const } }, { type: 'url_verification', challenge: 'abc' }];
    expect(await Promise.all([ask(slack, challenge), ask({}, challenge), ask(slack, { ...challenge, type: 'event_callback' })])).toEqual([
      'abc',
      null,
      null,
    ]);
  });
});
