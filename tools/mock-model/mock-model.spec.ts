import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transformFileSync } from '@swc/core';
import { request as httpRequest } from 'undici';
// The client alone, without the domain around it.
import {
  type ChatMessage,
  type ChatResult,
  type Dialect,
  type Endpoint,
  ModelClient,
  ProviderError,
  type StreamEvent,
} from '../../libs/domains/inference/src/client';
import { type MockModel, startMockModel } from './server';

let mock: MockModel;
let client: ModelClient;

beforeAll(async () => {
  mock = await startMockModel();
  client = new ModelClient({ sleep: () => Promise.resolve() });
});
afterAll(async () => {
  await client.close();
  await mock.close();
});

let scripts = 0;
/** A message with the script, unlike every other so that no failure count is shared. */
const script = (steps: unknown): string =>
  `Please (${++scripts}):\n\n\`\`\`mock\n${typeof steps === 'string' ? steps : JSON.stringify({ steps })}\n\`\`\`\nThanks.`;
const user = (content: string): ChatMessage => ({ role: 'user', content });
const endpoint = (dialect: Dialect = 'dialect_1'): Endpoint => ({
  dialect,
  baseUrl: `${mock.url}/${dialect === 'dialect_3' ? 'v1beta' : 'v1'}`,
});

function ask(
  messages: ChatMessage[],
  feature = 'turn',
  onEvent?: (event: StreamEvent) => void,
  onRestart?: () => void,
): Promise<ChatResult> {
  return client.streamChat(endpoint(), { model: 'mock', messages, feature }, { onEvent, onRestart });
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- read-only look at JSON that the matchers check
type Json = any;
async function post(body: unknown, headers: Record<string, string> = { 'x-feature': 'turn' }, at = '/v1/chat/completions') {
  const answer = await httpRequest(`${mock.url}${at}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as Json };
}
const say = (content: unknown, more: object = {}) => post({ model: 'mock', messages: [{ role: 'user', content }], ...more });

describe('without a script', () => {
  it('repeats the newest user text in word-sized deltas and counts tokens', async () => {
    const deltas: string[] = [];
    const result = await ask(
      [user('old'), { role: 'assistant', text: 'You said: old' }, user('hello  wide\nworld ')],
      'turn',
      (event) => event.type === 'text' && deltas.push(event.text),
    );
    expect(deltas).toEqual(['You', ' said:', ' hello', '  wide', '\nworld', ' ']);
    expect(result).toMatchObject({
      text: 'You said: hello  wide\nworld ',
      finishReason: 'stop',
      providerModel: 'mock',
      usageEstimated: false,
    });
    expect(result.usage).toEqual({
      input: Math.ceil((3 + 13 + 18) / 4),
      cached_input: 0,
      cache_write: 0,
      output: Math.ceil(28 / 4),
      reasoning: 0,
    });
  });

  it('joins the text parts of a list, and takes an address for no image', async () => {
    const { body } = await say([
      { type: 'text', text: 'one' },
      { type: 'image_url', image_url: { url: 'data:,' } },
      { type: 'text', text: 'two' },
    ]);
    expect(body.choices[0]).toMatchObject({ message: { role: 'assistant', content: 'You said: one\ntwo' }, finish_reason: 'stop' });
    expect(body.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 5, total_tokens: 7 });
  });

  it('tells how many images came with the newest message', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const said = async (...content: unknown[]) => (await say(content)).body.choices[0].message.content as string;
    expect(await said({ type: 'text', text: 'look' }, image)).toBe('You said: look [1 image]');
    expect(await said({ type: 'text', text: 'look' }, image, image)).toBe('You said: look [2 images]');
  });

  it('sends usage only when it is asked for', async () => {
    const stream = async (more: object) => {
      const answer = await httpRequest(`${mock.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'a' }], ...more }),
      });
      return answer.body.text();
    };
    expect(await stream({})).not.toContain('usage');
    expect(await stream({ stream_options: { include_usage: true } })).toMatch(/"choices":\[\],"usage":\{.*\}\}\n\ndata: \[DONE\]\n\n$/);
  });
});

describe('scripts', () => {
  it('plays one step per model call, parallel tool calls included, and then says done', async () => {
    const messages = [
      user(
        script([
          {
            reasoning: 'hm hm',
            text: 'Two at once',
            tool_calls: [{ name: 'f', arguments: { x: 'ü'.repeat(30) } }, { name: 'g' }],
            usage: { input: 100, cached_input: 30, cache_write: 20, output: 7, reasoning: 5 },
          },
          { text: 'All done.' },
        ]),
      ),
    ];
    const events: StreamEvent[] = [];
    const first = await ask(messages, 'turn', (event) => events.push(event));
    expect(first).toMatchObject({
      text: 'Two at once',
      reasoning: 'hm hm',
      finishReason: 'tool_calls',
      usage: { input: 100, cached_input: 30, cache_write: 20, output: 7, reasoning: 5 },
    });
    expect(first.toolCalls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual([
      ['f', { x: 'ü'.repeat(30) }],
      ['g', {}],
    ]);
    expect(new Set(first.toolCalls.map(({ id }) => id)).size).toBe(2);
    expect(events.map(({ type }) => type)).toEqual(['reasoning', 'reasoning', 'text', 'text', 'text', 'tool_call', 'tool_call']);

    messages.push({ role: 'assistant', text: first.text, toolCalls: first.toolCalls });
    for (const call of first.toolCalls) messages.push({ role: 'tool', toolCallId: call.id, toolName: call.name, content: 'ok' });
    expect((await ask(messages)).text).toBe('All done.');
    messages.push({ role: 'assistant', text: 'All done.' });
    expect((await ask(messages)).text).toBe('done');
    messages.push({ role: 'assistant', text: 'done' }, user('bye'));
    expect((await ask(messages)).text).toBe('You said: bye');
  });

  it('plays only for turns, processes and prompts', async () => {
    const message = script([{ text: 'played' }]);
    for (const feature of ['turn', 'process', 'prompt']) expect((await ask([user(message)], feature)).text).toBe('played');
    expect((await ask([user(message)], 'title')).text).toBe(`You said: ${message}`);
    expect((await post({ messages: [user(script('{broken'))] }, {})).status).toBe(200);
  });

  it.each(['process', 'prompt'])('goes on in the conversation of a %s, which the service continues', async (feature) => {
    const messages = [user(script([{ text: 'first', error: { status: 500, times: 1 } }, { text: 'second' }])), user('an attachment')];
    expect(await ask(messages, feature)).toMatchObject({ text: 'first', attempts: 2 });
    messages.push({ role: 'assistant', text: 'first' }, user('that was not it'));
    expect((await ask(messages, feature)).text).toBe('second');
    messages.push({ role: 'assistant', text: 'second' }, user(script([{ text: 'another' }])));
    expect((await ask(messages, feature)).text).toBe('another');
  });

  it('gives the same answer whole as streamed', async () => {
    const { body } = await say(
      script([
        {
          reasoning: 'r',
          text: 't',
          tool_calls: [{ name: 'f', arguments: { a: 1 } }],
          usage: { input: 1, cached_input: 2, cache_write: 3, output: 4, reasoning: 5 },
        },
      ]),
    );
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 't', reasoning_content: 'r', tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
    });
    expect(body.usage).toEqual({
      prompt_tokens: 6,
      completion_tokens: 9,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
  });

  it('counts the usage that a step leaves out', async () => {
    const message = script([{ text: 'eight ch', reasoning: 'four', usage: { cached_input: 3 } }]);
    expect((await ask([user(message)])).usage).toEqual({
      input: Math.ceil(message.length / 4),
      cached_input: 3,
      cache_write: 0,
      output: 2,
      reasoning: 1,
    });
  });

  it('streams with delays, and stops for a caller that has gone', async () => {
    const message = script([{ text: 'a b c', delay_ms: 5, chunk_delay_ms: 5 }]);
    expect((await ask([user(message)])).text).toBe('a b c');
    const controller = new AbortController();
    const call = client.streamChat(
      endpoint(),
      { model: 'mock', messages: [user(script([{ text: 'a b', chunk_delay_ms: 600_000 }]))], feature: 'turn' },
      { signal: controller.signal, onEvent: () => controller.abort() },
    );
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('sends arguments that are no JSON as they stand', async () => {
    expect((await ask([user(script([{ tool_calls: [{ name: 'f', arguments: '{"x":' }] }]))])).toolCalls[0].arguments).toBe('{"x":');
  });
});

describe('scripted failures', () => {
  const failing = (error: unknown, more: object = {}) => ask([user(script([{ text: 'one two three four', error, ...more }]))]);

  it('answers the error with its status and Retry-After', async () => {
    const { status, headers, body } = await say(script([{ error: { status: 429, message: 'slow down', retry_after_s: 1 } }]));
    expect([status, headers['retry-after']]).toEqual([429, '1']);
    expect(body).toEqual({ error: { message: 'slow down', type: 'rate_limit_error', param: null, code: null } });
    await expect(failing({ status: 429 })).rejects.toMatchObject({ code: 'provider_rate_limited', attempts: 3 });
    await expect(failing({ status: 400, message: 'bad' })).rejects.toMatchObject({
      code: 'provider_rejected',
      message: 'the provider answered 400: bad',
    });
  });

  it('fails as often as times says and then plays the step', async () => {
    expect(await failing({ status: 503, times: 2 })).toMatchObject({ text: 'one two three four', attempts: 3 });
    const messages = [user(script([{ text: 'fine', error: { status: 500, times: 4 } }]))];
    await expect(ask(messages)).rejects.toBeInstanceOf(ProviderError);
    expect(await ask(messages)).toMatchObject({ text: 'fine', attempts: 2 });
    expect(await ask([...messages, { role: 'assistant', text: 'fine' }])).toMatchObject({ text: 'done', attempts: 1 });
  });

  it('counts per message and step', async () => {
    const content = script([{ error: { status: 500, times: 2 } }, { error: { status: 501, times: 1 } }]);
    const status = async (...later: object[]) => (await post({ messages: [{ role: 'user', content }, ...later] })).status;
    const second = { role: 'assistant', content: 'fine' };
    expect([await status(), await status(second), await status(), await status(second), await status()]).toEqual([500, 501, 500, 200, 200]);
  });

  it('drops the connection in mid-answer', async () => {
    const log: string[] = [];
    const call = ask(
      [user(script([{ text: 'one two three four', error: 'disconnect' }]))],
      'turn',
      (event) => event.type === 'text' && log.push(event.text),
      () => log.push('restart'),
    );
    await expect(call).rejects.toMatchObject({ code: 'provider_unavailable', attempts: 2 });
    expect(log).toEqual(['one', ' two', 'restart', 'one', ' two']);
    expect(await failing({ disconnect: true, times: 1 })).toMatchObject({ text: 'one two three four', attempts: 2 });
    expect(await failing({ disconnect: true, times: 1 }, { chunk_delay_ms: 1 })).toMatchObject({ attempts: 2 });
    await expect(failing('disconnect', { text: '' })).rejects.toMatchObject({ attempts: 3 });
  });
});

describe('what is wrong', () => {
  it.each([
    ['{broken', /mock block is not JSON/],
    ['[]', /script must be an object/],
    ['{"steps":{}}', /steps must be a list/],
    ['{"step":[]}', /unknown field "step"/],
    ['{"steps":[{"txt":1}]}', /steps\[0\] has an unknown field "txt"/],
    ['{"steps":[{"text":1}]}', /steps\[0\]\.text must be a string/],
    ['{"steps":[{},{"tool_calls":[{}]}]}', /steps\[1\]\.tool_calls\[0\]\.name/],
    ['{"steps":[{"tool_calls":[{"name":"f","arguments":[]}]}]}', /arguments must be an object/],
    ['{"steps":[{"usage":{"input":"1"}}]}', /usage\.input must be a number/],
    ['{"steps":[[]]}', /steps\[0\] must not be empty/],
    ['{"steps":[{"finish":"end"}]}', /finish must be one of stop/],
    ['{"steps":[{"delay_ms":"1"}]}', /delay_ms/],
    ['{"steps":[{"error":"boom"}]}', /error must be an object or "disconnect"/],
    ['{"steps":[{"error":{"status":200}}]}', /error\.status/],
    ['{"steps":[{"error":{"status":500,"times":0}}]}', /error\.times/],
  ])('a script %s is answered 400 that says so', async (text, message) => {
    expect(await say(script(text))).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', message: expect.stringMatching(message) } },
    });
  });

  it('says so of a block that is not closed, and takes other blocks for text', async () => {
    expect(await say('```mock\n{"steps":[]}')).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('not closed') } },
    });
    for (const text of ['```mockery\n{}\n```', 'a ```mock', '```json\nmock\n```'])
      expect((await say(text)).body.choices[0].message.content).toBe(`You said: ${text}`);
    expect((await say('````mock\n{"steps":[{"text":"x"}]}\n```\n')).status).toBe(400);
    expect((await say('intro\r\n```mock\r\n{"steps":[{"text":"x"}]}\r\n```\r\n')).body.choices[0].message.content).toBe('x');
  });

  it('refuses schemas that providers cannot compile', async () => {
    const closed = { type: 'object', required: ['a'], additionalProperties: false, properties: { a: { type: 'string' } } };
    const status = async (schema: object, strict: boolean, name = 'bill') =>
      (await say('x', { response_format: { type: 'json_schema', json_schema: { name, strict, schema } } })).status;
    const inList = (items: object) => ({ ...closed, properties: { a: { type: 'array', items } } });
    expect([await status(closed, true), await status(closed, true, 'no name')]).toEqual([200, 400]);
    for (const schema of [
      { ...closed, required: [] },
      { ...closed, additionalProperties: undefined },
      inList({ ...closed, required: undefined }),
    ])
      expect([await status(schema, true), await status(schema, false)]).toEqual([400, 200]);
    const messages = async (schema: object) => {
      const body = { model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'x' }] };
      const answer = await httpRequest(`${mock.url}/v1/messages`, {
        method: 'POST',
        body: JSON.stringify({ ...body, output_config: { format: { type: 'json_schema', schema } } }),
      });
      await answer.body.dump();
      return answer.statusCode;
    };
    expect(await messages({ ...closed, required: [] })).toBe(200);
    expect(await messages(inList({ ...closed, additionalProperties: undefined }))).toBe(400);
    expect(await messages(inList({ type: 'string', maxLength: 3 }))).toBe(400);
  });

  it('survives whatever comes in', async () => {
    const bodies: unknown[] = [
      '',
      '{',
      'null',
      '[]',
      '7',
      '"x"',
      {},
      { messages: 'x' },
      { messages: [null] },
      { messages: [{ role: 1 }] },
      { model: 7, messages: [] },
      '['.repeat(100_000),
    ];
    for (const body of bodies) expect((await post(body)).status).toBe(400);
    for (const body of [
      { messages: [] },
      { messages: [{ role: 'user' }] },
      { messages: [{ role: 'user', content: [null, 7, { text: {} }] }] },
      { messages: [{ role: 'assistant', tool_calls: [null, { function: 7 }] }] },
    ]) {
      expect((await post(body)).body.choices[0].message.content).toBe('You said: ');
    }
    for (const [method, at, status] of [
      ['GET', '/v1/chat/completions', 405],
      ['POST', '/v1/nothing', 404],
      ['GET', '//', 404],
      ['GET', '/healthz', 200],
      ['GET', '/v1/models', 200],
    ] as const) {
      expect((await httpRequest(`${mock.url}${at}`, { method })).statusCode).toBe(status);
    }
    const socket = connect(mock.port, '127.0.0.1', () => socket.end('NOT HTTP\r\n\r\n'));
    await new Promise((resolve) => socket.resume().on('close', resolve));
    expect((await ask([user('still there')])).text).toBe('You said: still there');
  });
});

describe.each<Dialect>(['dialect_1', 'dialect_2', 'dialect_3'])('%s', (dialect) => {
  const MODEL = 'claude-opus-4-6';
  const TOOLS = [{ name: 'f', parameters: { type: 'object', properties: { x: { type: 'integer' } } } }];
  const say = (messages: ChatMessage[], more: { signal?: AbortSignal; onEvent?: (event: StreamEvent) => void } = {}) =>
    client.streamChat(endpoint(dialect), { model: MODEL, system: 'be kind', messages, tools: TOOLS, feature: 'turn' }, more);
  const USAGE = { input: 100, cached_input: 30, cache_write: dialect === 'dialect_3' ? 0 : 20, output: 7, reasoning: 5 };

  it('repeats what was said, and counts images and documents', async () => {
    const image = { type: 'image' as const, mediaType: 'image/png', base64: 'AAAA' };
    expect(await say([user('hello  wide world')])).toMatchObject({
      text: 'You said: hello  wide world',
      finishReason: 'stop',
      providerModel: MODEL,
      usageEstimated: false,
    });
    const pdf = { type: 'document' as const, mediaType: 'application/pdf' as const, base64: 'JVBE' };
    expect((await say([{ role: 'user', content: [{ type: 'text', text: 'look' }, image, image] }])).text).toBe('You said: look [2 images]');
    expect((await say([{ role: 'user', content: [{ type: 'text', text: 'look' }, pdf, image] }])).text).toBe(
      'You said: look [1 image] [1 document]',
    );
  });

  it('plays the steps of a turn with calls and reasoning, which come back as they were', async () => {
    const messages: ChatMessage[] = [
      user(
        script([
          { reasoning: 'hm hm', text: 'Two at once', tool_calls: [{ name: 'f', arguments: { x: 1 } }, { name: 'f' }], usage: USAGE },
          { text: 'All done.' },
        ]),
      ),
    ];
    const first = await say(messages);
    expect(first).toMatchObject({ text: 'Two at once', reasoning: 'hm hm', finishReason: 'tool_calls', usage: USAGE });
    expect(first.toolCalls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual([
      ['f', { x: 1 }],
      ['f', {}],
    ]);
    expect(first.providerState === undefined).toBe(dialect === 'dialect_1');
    messages.push({ role: 'assistant', text: first.text, toolCalls: first.toolCalls, providerState: first.providerState });
    for (const call of first.toolCalls) messages.push({ role: 'tool', toolCallId: call.id, toolName: call.name, content: 'ok' });
    expect(await say(messages)).toMatchObject({ text: 'All done.', finishReason: 'stop' });
  });

  it('refuses, as its provider would, calls without an answer', async () => {
    const call: ChatMessage = { role: 'assistant', toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] };
    await expect(say([user('x'), call, user('y')])).rejects.toMatchObject({ code: 'provider_rejected', status: 400 });
  });

  it('answers errors in its own form', async () => {
    await expect(say([user(script([{ error: { status: 429, message: 'slow down' } }]))])).rejects.toMatchObject({
      code: 'provider_rate_limited',
      attempts: 3,
      message: 'the provider answered 429: slow down',
    });
    await expect(say([user(script('{broken'))])).rejects.toMatchObject({
      code: 'provider_rejected',
      message: expect.stringContaining('not JSON'),
    });
    expect(await say([user(script([{ text: 'one two three four', error: { disconnect: true, times: 1 } }]))])).toMatchObject({
      text: 'one two three four',
      attempts: 2,
    });
  });

  describe('asked for JSON', () => {
    const schema = {
      type: 'object',
      required: ['number', 'paid', 'kind'],
      properties: {
        number: { type: 'string' },
        paid: { type: 'boolean' },
        kind: { type: 'string', enum: ['invoice', 'reminder'] },
        note: { type: 'string' },
      },
    };
    const extract = (
      content: string,
      feature = 'prompt',
      onEvent?: (event: StreamEvent) => void,
      shape: Record<string, unknown> = schema,
    ) =>
      client.streamChat(
        endpoint(dialect),
        { model: MODEL, messages: [user(content)], responseFormat: { name: 'bill', schema: shape }, feature },
        { onEvent },
      );

    it('fills the schema, in deltas of text', async () => {
      const deltas: string[] = [];
      const result = await extract(
        'A reminder.\nnumber: R-7\npaid: true',
        'intake_classifier',
        (event) => event.type === 'text' && deltas.push(event.text),
      );
      expect(JSON.parse(result.text)).toEqual({ number: 'R-7', paid: true, kind: 'reminder' });
      expect(deltas.length).toBeGreaterThan(3);
      expect(deltas.join('')).toBe(result.text);
      expect(result).toMatchObject({ finishReason: 'stop', toolCalls: [] });
    });

    it('keeps within bounds, and fills an object without properties', async () => {
      const bounds = { type: 'object', required: ['n'], properties: { n: { type: 'integer', minimum: 3 }, o: { type: 'string' } } };
      const { n } = JSON.parse((await extract('x', 'prompt', undefined, bounds)).text) as { n: number };
      expect(n).toBe(dialect === 'dialect_2' ? 0 : 3); // there bounds are words
      expect((await extract('x', 'prompt', undefined, { type: 'object', additionalProperties: false })).text).toBe('{}');
    });

    it('gives a block of the text that fits, and plays a script before all', async () => {
      const fitting = '{"number": "1",  "paid": false, "kind": "invoice"}';
      expect((await extract(`\`\`\`json\n{"number": 1}\n\`\`\`\n\`\`\`json\n${fitting}\n\`\`\``)).text).toBe(fitting);
      expect((await extract(`\`\`\`json\n${fitting}\n\`\`\`\n${script([{ text: 'no JSON' }])}`)).text).toBe('no JSON');
    });
  });

  it('plays a step that is a list one by one', async () => {
    const message = user(script([[{ text: '' }, { text: 'second' }]]));
    expect([(await say([message])).text, (await say([message])).text, (await say([message])).text]).toEqual(['', 'second', '']);
  });

  it('can send nothing but signs of life, and stops for a caller that has gone', async () => {
    const controller = new AbortController();
    const call = say([user(script([{ text: 'half', ping_ms: 1 }]))], {
      signal: controller.signal,
      onEvent: () => void setTimeout(() => controller.abort(), 20),
    });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('embeddings', () => {
  const dot = (a: number[], b: number[]): number => a.reduce((sum, value, i) => sum + value * b[i], 0);

  it('are deterministic, of length 1, and near for texts that share words', async () => {
    const { vectors, usage } = await client.embed(endpoint(), {
      model: 'mock-embedding',
      input: ['the red fox jumps', 'Jumps: the RED fox!', 'monthly invoice total', ''],
    });
    expect(vectors.map((vector) => vector.length)).toEqual([384, 384, 384, 384]);
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1);
    expect(dot(vectors[0], vectors[1])).toBeCloseTo(1);
    expect(Math.abs(dot(vectors[0], vectors[2]))).toBeLessThan(0.4);
    expect(usage.input).toBe(5 + 5 + 6);
  });

  it('have the dimensions and the encoding that were asked for', async () => {
    const plain = await post({ input: 'red fox', dimensions: 7 }, {}, '/v1/embeddings');
    const packed = await post({ input: ['red fox'], dimensions: 7, encoding_format: 'base64' }, {}, '/v1/embeddings');
    const floats = new Float32Array(new Uint8Array(Buffer.from(packed.body.data[0].embedding as string, 'base64')).buffer);
    expect(plain.body.data[0].embedding).toHaveLength(7);
    expect([...floats]).toEqual((plain.body.data[0].embedding as number[]).map(Math.fround));
  });

  it('refuse what is no text', async () => {
    for (const body of [{}, { input: [] }, { input: [1, 2] }, { input: 'a', dimensions: 0 }, { input: 'a', dimensions: '3' }, 'null']) {
      expect((await post(body, {}, '/v1/embeddings')).status).toBe(400);
    }
  });
});

it('runs as a process: one line when it is ready, SIGTERM ends it', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mock-model-'));
  for (const name of ['main', 'server', 'chat', 'dialect-1', 'dialect-2', 'dialect-3', 'script', 'embedding', 'json-answer', 'values']) {
    const { code } = transformFileSync(path.join(__dirname, `${name}.ts`), {
      swcrc: false,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    });
    writeFileSync(path.join(folder, `${name}.js`), code);
  }
  const child = spawn(process.execPath, [path.join(folder, 'main.js')], {
    env: { ...process.env, PORT: '', HOST: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const ready = JSON.parse(line.toString()) as { port: number; pid: number };
    expect(ready.pid).toBe(child.pid);
    expect((await httpRequest(`http://127.0.0.1:${ready.port}/healthz`)).statusCode).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});
