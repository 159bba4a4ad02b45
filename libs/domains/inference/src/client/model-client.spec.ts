import type { ServerResponse } from 'node:http';
import { undisturbed } from '@aps/platform/testing';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { ProviderError } from './errors';
import { ModelClient, type ModelClientOptions } from './model-client';
import { sleep } from './retry';
import { ANSWERS, completion, eventStream, type FakeProvider, inPieces, json, type Script, sse, startProvider } from './testing/provider';
import type { ChatRequest, Dialect, Endpoint, StreamEvent } from './types';

const KEY = 'sk-test-Secret0123456789';
const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'hi' }], feature: 'turn' };

let provider: FakeProvider;
let client: ModelClient;
let waits: number[];

async function serve(script: Script, options: ModelClientOptions = {}): Promise<void> {
  provider = await startProvider(script);
  waits = [];
  client = new ModelClient({
    random: () => 0,
    sleep: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    ...options,
  });
}

afterEach(async () => {
  await client.close();
  await provider.close();
});

const endpoint = (more: Partial<Endpoint> = {}): Endpoint => ({
  dialect: 'dialect_1',
  baseUrl: `${provider.url}/v1`,
  apiKey: KEY,
  ...more,
});

/** Runs a call that must fail and gives its error. */
async function failure(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}

const answer = (text: string) => (res: ServerResponse) => void eventStream(res).end(completion(text));
/** The head of an answer, a token, and then the connection drops. */
const cut = (res: ServerResponse) =>
  eventStream(res).write(sse({ choices: [{ delta: { content: 'half' } }] }), () => setImmediate(() => res.destroy()));

const PATHS: Record<Dialect, string> = {
  dialect_1: '/v1/chat/completions',
  dialect_2: '/v1/messages',
  dialect_3: '/v1/models/m:streamGenerateContent?alt=sse',
};
const KEY_HEADERS: Record<Dialect, [string, string]> = {
  dialect_1: ['authorization', `Bearer ${KEY}`],
  dialect_2: ['x-api-key', KEY],
  dialect_3: ['x-goog-api-key', KEY],
};
const DIALECTS = Object.keys(ANSWERS) as Dialect[];

/** How a request says that its tools may not be called, and what it calls them. */
const FORBIDDEN: Record<Dialect, object> = {
  dialect_1: { tool_choice: 'none' },
  dialect_2: { tool_choice: { type: 'none' } },
  dialect_3: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
};
const toolNames = (body: Record<string, unknown>): string[] => JSON.stringify(body.tools ?? []).match(/(?<="name":")[^"]+/g) ?? [];

describe.each(DIALECTS)('%s over the wire', (dialect) => {
  it('sends tools that may not be called, and stands in for those that were called and are gone', async () => {
    await serve((res) => void eventStream(res).end(ANSWERS[dialect]));
    const called: ChatRequest = {
      ...request,
      messages: [
        ...request.messages,
        {
          role: 'assistant',
          toolCalls: [
            { id: 'a', name: 'gone', arguments: '{}' },
            { id: 'b', name: 'gone', arguments: '{}' },
          ],
        },
        ...['a', 'b'].map((id) => ({ role: 'tool' as const, toolCallId: id, toolName: 'gone', content: 'ok' })),
      ],
    };
    const tools = [{ name: 'here', parameters: { type: 'object' } }];
    for (const asked of [
      request,
      { ...request, toolUse: 'forbidden' as const },
      { ...called, tools },
      { ...called, tools, toolUse: 'forbidden' as const },
      called,
    ])
      await client.streamChat(endpoint({ dialect }), asked);
    const seen = provider.requests.map(({ body }) => [toolNames(body), 'tool_choice' in body || 'toolConfig' in body]);
    expect(seen).toEqual([
      [[], false],
      [[], false],
      [['here'], false],
      [['here'], true],
      [['gone'], true],
    ]);
    for (const { body } of provider.requests.slice(3)) expect(body).toMatchObject(FORBIDDEN[dialect]);
  });

  it.each([1, 2, 3, 7, 64, 100_000])('reads an answer that arrives in pieces of %i bytes', async (size) => {
    await serve(async (res) => {
      await inPieces(eventStream(res), ANSWERS[dialect], size);
      res.end();
    });
    const events: StreamEvent[] = [];
    const result = await client.streamChat(endpoint({ dialect }), request, { onEvent: (event) => events.push(event) });
    expect(result).toMatchObject({
      text: 'grüße 🌍 «ok»',
      finishReason: 'stop',
      providerModel: 'real-model',
      attempts: 1,
      usageEstimated: false,
    });
    expect(result.usage).toEqual({ input: 10, cached_input: 0, cache_write: 0, output: 2, reasoning: 0 });
    expect(result.firstTokenMs).toEqual(expect.any(Number));
    expect(events.map((event) => (event.type === 'text' ? event.text : '')).join('')).toBe(result.text);
  });

  it.each([
    ['\r\n', '\uFEFF'],
    ['\r', ''],
  ])('takes line ends %j and a mark %j at the start', async (lineEnd, mark) => {
    await serve(async (res) => {
      await inPieces(eventStream(res), mark + ANSWERS[dialect].replaceAll('\n', lineEnd), 5);
      res.end();
    });
    expect(await client.streamChat(endpoint({ dialect }), request)).toMatchObject({ text: 'grüße 🌍 «ok»', attempts: 1 });
  });

  it('sends the key in its header and nowhere else, the feature, and what the endpoint adds', async () => {
    await serve((res) => void eventStream(res).end(ANSWERS[dialect]));
    await client.streamChat(endpoint({ dialect, headers: { 'cf-aig-authorization': 'Bearer gateway' } }), request);
    const [seen] = provider.requests;
    const [name, value] = KEY_HEADERS[dialect];
    expect(seen.url).toBe(PATHS[dialect]);
    expect(seen.headers).toMatchObject({
      [name]: value,
      'x-feature': 'turn',
      'content-type': 'application/json',
      'cf-aig-authorization': 'Bearer gateway',
    });
    expect(JSON.stringify([seen.url, { ...seen.headers, [name]: '' }, seen.body])).not.toContain(KEY);
  });

  it('is not deceived by a stream without its end', async () => {
    const whole = ANSWERS[dialect].trimEnd();
    const short = whole.slice(0, whole.lastIndexOf('\n\n') + 2).replace(/"finish_reason":"stop"/, '"finish_reason":null');
    await serve((res) => void eventStream(res).end(short));
    const restarts: string[] = [];
    const error = await failure(client.streamChat(endpoint({ dialect }), request, { onRestart: (cause) => restarts.push(cause.code) }));
    expect(error).toMatchObject({ code: 'provider_unavailable', retryable: true, attempts: 2 });
    expect(restarts).toEqual(['provider_unavailable']);
    expect(provider.requests).toHaveLength(2);
  });

  it('takes an answer whose last line end is missing', async () => {
    await serve((res) => void eventStream(res).end(ANSWERS[dialect].trimEnd()));
    expect(await client.streamChat(endpoint({ dialect }), request)).toMatchObject({ finishReason: 'stop', attempts: 1 });
  });

  it('calls a malformed chunk a bad response, and does not ask again', async () => {
    await serve((res) => void eventStream(res).end(`data: {"half":\n\n${ANSWERS[dialect]}`));
    expect(await failure(client.streamChat(endpoint({ dialect }), request))).toMatchObject({ code: 'provider_bad_response', attempts: 1 });
  });
});

describe.each(DIALECTS)('an answer in JSON, in %s', (dialect) => {
  const responseFormat = { name: 'bill', schema: { type: 'object', required: ['total'], properties: { total: { type: 'integer' } } } };
  type Ending = 'stop' | 'length' | 'refusal' | 'call';
  const finish = {
    dialect_1: { stop: 'stop', length: 'length', refusal: 'stop', call: 'tool_calls' },
    dialect_2: { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', call: 'tool_use' },
    dialect_3: { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY', call: 'STOP' },
  }[dialect];
  /** The texts, and at last the call, as the provider streams them. */
  const streamed = (texts: string[], ending: Ending): string => {
    const called = ending === 'call';
    if (dialect === 'dialect_1') {
      const deltas: object[] = texts.map((text) => (ending === 'refusal' ? { refusal: text } : { content: text }));
      if (called) deltas.push({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] });
      return sse(
        ...deltas.map((delta) => ({ choices: [{ delta }] })),
        { choices: [{ delta: {}, finish_reason: finish[ending] }] },
        '[DONE]',
      );
    }
    if (dialect === 'dialect_2')
      return sse(
        { type: 'message_start', message: {} },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...texts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
        ...(called ? [{ type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } }] : []),
        { type: 'message_delta', delta: { stop_reason: finish[ending] } },
        { type: 'message_stop' },
      );
    const parts = [...texts.map((text) => ({ text })), ...(called ? [{ functionCall: { name: 'f', args: {} } }] : [])];
    return sse(...parts.map((part) => ({ candidates: [{ content: { parts: [part] } }] })), {
      candidates: [{ finishReason: finish[ending] }],
    });
  };
  const answered = async (texts: string[], ending: Ending) => {
    await serve((res) => void eventStream(res).end(streamed(texts, ending)));
    const events: StreamEvent[] = [];
    const result = await client.streamChat(
      endpoint({ dialect }),
      { ...request, responseFormat },
      { onEvent: (event) => events.push(event) },
    );
    return { result, events };
  };
  const JSON_DELTAS = ['{"to', 'tal":', ' 7}'];
  const textEvents = (texts: string[]) => texts.map((text) => ({ type: 'text', text }));

  it('comes as text, in its deltas', async () => {
    const { result, events } = await answered(JSON_DELTAS, 'stop');
    expect(events).toEqual(textEvents(JSON_DELTAS));
    expect(result).toMatchObject({ text: '{"total": 7}', toolCalls: [], finishReason: 'stop' });
    expect(JSON.stringify(provider.requests[0].body)).toContain('total');
  });

  it('can call a tool after it', async () => {
    const { result, events } = await answered(JSON_DELTAS, 'call');
    expect(events).toEqual([...textEvents(JSON_DELTAS), { type: 'tool_call', ...result.toolCalls[0] }]);
    expect(result).toMatchObject({ text: '{"total": 7}', toolCalls: [{ name: 'f', arguments: '{}' }], finishReason: 'tool_calls' });
  });

  it('is words where the model refuses', async () => {
    const { result, events } = await answered(['I will', ' not.'], 'refusal');
    expect(events).toEqual(textEvents(['I will', ' not.']));
    expect(result).toMatchObject({ text: 'I will not.', finishReason: dialect === 'dialect_3' ? 'content_filter' : 'refusal' });
  });

  it('is what had come where its length ends it', async () => {
    const { result } = await answered(JSON_DELTAS.slice(0, 2), 'length');
    expect(result).toMatchObject({ text: '{"total":', finishReason: 'length' });
  });
});

describe('retries before the first token', () => {
  it.each([408, 409, 425, 429, 500, 502, 503, 529])('asks three times in all after %i', async (status) => {
    await serve((res) => json(res, status, { error: { message: 'try later' } }));
    const error = await failure(client.streamChat(endpoint(), request));
    expect(error).toMatchObject({ status, attempts: 3, retryable: true, message: `the provider answered ${status}: try later` });
    expect(provider.requests).toHaveLength(3);
    expect(waits).toEqual([500, 500]);
  });

  it.each([
    [400, 'provider_rejected'],
    [401, 'provider_auth'],
    [403, 'provider_auth'],
    [404, 'provider_rejected'],
    [413, 'provider_rejected'],
    [422, 'provider_rejected'],
  ])('does not ask again after %i', async (status, code) => {
    await serve((res) => json(res, status, { error: { message: 'no' } }));
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({ code, status, attempts: 1, retryable: false });
    expect(provider.requests).toHaveLength(1);
  });

  it('succeeds on the third request and waits as long as Retry-After says', async () => {
    await serve((res, seen) => (seen < 2 ? json(res, 429, {}, { 'retry-after': seen === 0 ? '2' : '600' }) : answer('ok')(res)));
    const restarts: unknown[] = [];
    expect(await client.streamChat(endpoint(), request, { onRestart: (cause) => restarts.push(cause) })).toMatchObject({
      text: 'ok',
      attempts: 3,
    });
    expect(waits).toEqual([2000, 60_000]);
    expect(restarts).toEqual([]);
  });

  it('retries a connection that is refused or drops before the first token', async () => {
    await serve((res, seen) =>
      seen === 0
        ? void res.destroy()
        : seen === 1
          ? void eventStream(res).write(': hello\n\n', () => void res.destroy())
          : answer('ok')(res),
    );
    expect(await client.streamChat(endpoint(), request)).toMatchObject({ text: 'ok', attempts: 3 });
    await provider.close();
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({
      code: 'provider_unavailable',
      attempts: 3,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('retries an overload that the stream reports before its first token', async () => {
    await serve(
      (res, seen) =>
        void eventStream(res).end(
          seen === 0
            ? 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
            : ANSWERS.dialect_2,
        ),
    );
    expect(await client.streamChat(endpoint({ dialect: 'dialect_2' }), request)).toMatchObject({ attempts: 2 });
  });

  it.each(['no head', 'a head and no byte'])('gives up on %s in time', async (kind) => {
    await serve((res) => void (kind === 'no head' || eventStream(res).flushHeaders()), { limits: { firstByteMs: 30, silenceMs: 30 } });
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({ code: 'provider_timeout', attempts: 3, retryable: true });
  });
});

describe.each(DIALECTS)('time, in %s', (dialect) => {
  const ping = { dialect_1: ': ping\n\n', dialect_2: 'event: ping\ndata: {"type":"ping"}\n\n', dialect_3: ': ping\n\n' }[dialect];
  /** Frames of the dialect that say nothing. */
  const nothing = {
    dialect_1: sse({ choices: [{ delta: { role: 'assistant', content: '' } }] }),
    dialect_2: sse({ type: 'message_start', message: { model: 'm' } }, { type: 'content_block_stop', index: 0 }),
    dialect_3: sse({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] } }], usageMetadata: { promptTokenCount: 1 } }),
  }[dialect];
  /** The first of the answer, and then a word after the other. */
  const first = {
    dialect_1: '',
    dialect_2: sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    dialect_3: '',
  }[dialect];
  const word = {
    dialect_1: sse({ choices: [{ delta: { content: 'x' } }] }),
    dialect_2: sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } }),
    dialect_3: sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] } }] }),
  }[dialect];
  /** Sends the piece again and again until the other side goes. */
  const forever =
    (head: string, piece: string, everyMs: number): Script =>
    (res) => {
      eventStream(res).write(head + piece);
      const timer = setInterval(() => (res.destroyed ? clearInterval(timer) : res.write(piece)), everyMs);
      res.on('close', () => clearInterval(timer));
    };

  it.each([
    ['pings', ping],
    ['frames without content', nothing],
  ])('is up for a stream of %s, which is asked for again like any', async (_, piece) => {
    await serve(forever('', piece, 5), { limits: { silenceMs: 100 } });
    const restarts: unknown[] = [];
    const error = await failure(client.streamChat(endpoint({ dialect }), request, { onRestart: (cause) => restarts.push(cause) }));
    expect(error).toMatchObject({ code: 'provider_timeout', retryable: true, message: expect.stringContaining('silence') });
    expect([error.attempts, restarts.length]).toEqual([3, 0]);
  });

  it('is up for an answer that falls silent, pings or not, and it starts anew once', async () => {
    await serve(
      async (res, seen) => (seen === 0 ? forever(first + word, ping, 5)(res, seen, res.req) : void eventStream(res).end(ANSWERS[dialect])),
      { limits: { silenceMs: 100 } },
    );
    const restarts: string[] = [];
    expect(await client.streamChat(endpoint({ dialect }), request, { onRestart: (cause) => restarts.push(cause.code) })).toMatchObject({
      attempts: 2,
      finishReason: 'stop',
    });
    expect(restarts).toEqual(['provider_timeout']);
  });

  it('is up for one that drips, once all of it has passed', async () => {
    await serve(forever(first, word, 5), { limits: { totalMs: 200 } });
    const error = await failure(client.streamChat(endpoint({ dialect }), request));
    expect(error).toMatchObject({
      code: 'provider_timeout',
      attempts: 2,
      retryable: true,
      message: expect.stringContaining('the whole answer'),
    });
    await provider.aborted();
  });

  it('is no matter for one that gets further', async () => {
    await serve(
      (res) => {
        eventStream(res).write(first);
        let left = 6;
        const timer = setInterval(() => {
          if (left-- > 0) return void res.write(word);
          clearInterval(timer);
          res.end(
            dialect === 'dialect_2'
              ? sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' })
              : dialect === 'dialect_1'
                ? sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]')
                : sse({ candidates: [{ finishReason: 'STOP' }] }),
          );
        }, 400);
      },
      { limits: { silenceMs: 2_000, firstByteMs: 2_000 } },
    );
    const asked = () => client.streamChat(endpoint({ dialect }), request).catch((error: Error) => error);
    expect(await undisturbed(1_000, asked)).toMatchObject({ text: 'xxxxxx', attempts: 1 });
  });
});

describe('an answer that breaks off after its first token', () => {
  it('starts anew once', async () => {
    await serve((res, seen) => (seen === 0 ? void cut(res) : answer('whole')(res)));
    const log: string[] = [];
    const result = await client.streamChat(endpoint(), request, {
      onEvent: (event) => log.push(event.type === 'text' ? event.text : event.type),
      onRestart: (cause) => log.push(`restart:${cause.code}`),
    });
    expect(result).toMatchObject({ text: 'whole', attempts: 2 });
    expect(log).toEqual(['half', 'restart:provider_unavailable', 'whole']);
  });

  it('may again take three requests to its first token', async () => {
    await serve((res, seen) => (seen === 5 ? answer('whole')(res) : seen === 2 ? void cut(res) : json(res, 503, {})));
    expect(await client.streamChat(endpoint(), request)).toMatchObject({ text: 'whole', attempts: 6 });
    expect(waits).toEqual([500, 500, 500, 500, 500]);
  });

  it('is cut, not malformed, when it ends inside an event', async () => {
    await serve((res, seen) =>
      seen === 0
        ? void eventStream(res).end(`${sse({ choices: [{ delta: { content: 'half' } }] })}data: {"choices":[{"del`)
        : answer('whole')(res),
    );
    expect(await client.streamChat(endpoint(), request)).toMatchObject({ text: 'whole', attempts: 2 });
  });

  it('is whole when all of it had come before the connection broke', async () => {
    await serve((res) => void eventStream(res).write(ANSWERS.dialect_3, () => setImmediate(() => res.destroy())));
    expect(await client.streamChat(endpoint({ dialect: 'dialect_3' }), request)).toMatchObject({ text: 'grüße 🌍 «ok»', attempts: 1 });
  });

  it('is an error the second time', async () => {
    await serve((res) => void cut(res));
    let restarts = 0;
    expect(await failure(client.streamChat(endpoint(), request, { onRestart: () => restarts++ }))).toMatchObject({
      code: 'provider_unavailable',
      attempts: 2,
    });
    expect([restarts, provider.requests.length]).toEqual([1, 2]);
  });

  it('does so too when it falls silent', async () => {
    await serve(
      (res, seen) => (seen === 0 ? void eventStream(res).write(sse({ choices: [{ delta: { content: 'half' } }] })) : answer('ok')(res)),
      { limits: { silenceMs: 30 } },
    );
    const causes: string[] = [];
    expect(await client.streamChat(endpoint(), request, { onRestart: (cause) => causes.push(cause.code) })).toMatchObject({
      text: 'ok',
      attempts: 2,
    });
    expect(causes).toEqual(['provider_timeout']);
  });

  it('never shows a tool call of a cut answer', async () => {
    await serve(
      (res) =>
        void eventStream(res).end(
          sse({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] } }] }),
        ),
    );
    const events: StreamEvent[] = [];
    await failure(client.streamChat(endpoint(), request, { onEvent: (event) => events.push(event) }));
    expect(events).toEqual([]);
  });

  it('is whole when only the goodbye of the connection is missing', async () => {
    await serve((res) => void eventStream(res).write(completion('ok')));
    expect(await client.streamChat(endpoint(), request)).toMatchObject({ text: 'ok', attempts: 1 });
    await provider.aborted(); // the connection is given up, not kept waiting
  });
});

it('keeps nothing of the body that it has sent while the answer comes', async () => {
  const bodies: unknown[] = [];
  class Watched extends Agent {
    override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      bodies.push(options.body);
      return super.dispatch(options, handler);
    }
  }
  const dispatcher = new Watched();
  await serve(answer('hello'), { dispatcher });
  let left: unknown;
  await client.streamChat(endpoint(), request, { onEvent: () => (left ??= [...(bodies[0] as Iterable<Buffer>)]) });
  expect(left).toEqual([]);
  const [{ headers, body }] = provider.requests;
  expect(headers).toMatchObject({ 'content-length': String(Buffer.byteLength(JSON.stringify(body))) });
  expect(headers).not.toHaveProperty('transfer-encoding');
  await dispatcher.close();
});

describe('abort', () => {
  it('throws the reason at once in mid-stream and closes the socket', async () => {
    await serve((res) => void eventStream(res).write(sse({ choices: [{ delta: { content: 'half' } }] })));
    const controller = new AbortController();
    const reason = new Error('stopped by the user');
    const events: StreamEvent[] = [];
    const call = client.streamChat(endpoint(), request, {
      signal: controller.signal,
      onEvent: (event) => {
        events.push(event);
        controller.abort(reason);
      },
    });
    await expect(call).rejects.toBe(reason);
    await provider.aborted();
    expect(events).toHaveLength(1);
    expect(provider.requests).toHaveLength(1);
  });

  it('throws before the head has come, and closes the socket', async () => {
    const controller = new AbortController();
    await serve(() => controller.abort());
    await expect(client.streamChat(endpoint(), request, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    await provider.aborted();
  });

  it('throws while the connection is being made, and then sends nothing on it', async () => {
    await serve(answer('ok'));
    const connector = buildConnector({});
    let connect: () => void = () => undefined;
    let connected: () => void = () => undefined;
    const made = new Promise<void>((resolve) => (connected = resolve));
    const slow = new Agent({
      connect: (options, callback) => {
        connect = () => connector(options, (...result) => (callback(...result), setTimeout(connected, 20)));
        controller.abort();
      },
    });
    const controller = new AbortController();
    await expect(client.streamChat(endpoint({ dispatcher: slow }), request, { signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    connect();
    await made;
    expect(provider.requests).toHaveLength(0);
    await slow.destroy();
  });

  it('throws during the wait for a retry', async () => {
    const controller = new AbortController();
    const waits = (ms: number, signal?: AbortSignal) => {
      setImmediate(() => controller.abort());
      return sleep(ms, signal);
    };
    await serve((res) => json(res, 429, {}, { 'retry-after': '60' }), { sleep: waits });
    const call = client.streamChat(endpoint(), request, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(provider.requests).toHaveLength(1);
  });

  it('sends nothing when it came before the call, and leaves no listener behind', async () => {
    await serve(answer('ok'));
    const controller = new AbortController();
    let listeners = 0;
    const add = controller.signal.addEventListener.bind(controller.signal);
    const remove = controller.signal.removeEventListener.bind(controller.signal);
    controller.signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
    controller.signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
    await client.streamChat(endpoint(), request, { signal: controller.signal });
    expect(listeners).toBe(0);
    controller.abort();
    await expect(client.streamChat(endpoint(), request, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(provider.requests).toHaveLength(1);
  });

  it('ends the call with what the caller threw from onEvent', async () => {
    await serve((res) => void eventStream(res).write(sse({ choices: [{ delta: { content: 'half' } }] })));
    const bug = new Error('a fault of the caller');
    await expect(
      client.streamChat(endpoint(), request, {
        onEvent: () => {
          throw bug;
        },
      }),
    ).rejects.toBe(bug);
    await provider.aborted();
    expect(provider.requests).toHaveLength(1);
  });
});

describe('what a hostile or broken provider may send', () => {
  it('follows no redirect', async () => {
    await serve((res) => void res.writeHead(302, { location: '/elsewhere' }).end());
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({
      code: 'provider_bad_response',
      status: 302,
      attempts: 1,
      message: expect.stringContaining('redirect'),
    });
    expect(provider.requests).toHaveLength(1);
    expect(await failure(client.embed(endpoint(), { model: 'm', input: ['a'] }))).toMatchObject({
      code: 'provider_bad_response',
      status: 302,
    });
  });

  it('shows no key that an error echoes', async () => {
    await serve((res) =>
      json(res, 401, { error: { message: `Incorrect API key provided: ${KEY}, gateway gw-Token, other sk-abcdefgh1234.` } }),
    );
    const error = await failure(client.streamChat(endpoint({ headers: { 'x-gateway-token': 'gw-Token' } }), request));
    expect(error).toMatchObject({ code: 'provider_auth' });
    for (const secret of [KEY, 'gw-Token', 'sk-abcdefgh1234'])
      expect(JSON.stringify([error.message, error.stack, error])).not.toContain(secret);
    expect(error.message).toContain('Incorrect API key provided');
  });

  it('reads no more of an error than its cap', async () => {
    await serve(
      (res) => {
        res.writeHead(400, { 'content-type': 'application/json' });
        const more = (): void => void (res.destroyed || res.write('x'.repeat(1000), () => setImmediate(more)));
        more();
      },
      { limits: { maxErrorBytes: 5000 } },
    );
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({ code: 'provider_rejected', status: 400 });
    await provider.aborted();
  });

  it('cuts off an endless answer and an endless line', async () => {
    const flood =
      (piece: string): Script =>
      (res) => {
        eventStream(res);
        const more = (): void => void (res.destroyed || res.write(piece, () => setImmediate(more)));
        more();
      };
    await serve(flood(': x\n\n'.repeat(100)), { limits: { maxResponseBytes: 5000 } });
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({ code: 'provider_bad_response' });
    await provider.close();
    await serve(flood('data: x'.repeat(100)), { limits: { maxEventBytes: 5000 } });
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({ code: 'provider_bad_response' });
  });

  it.each([
    ['text/html', '<html>'],
    ['application/json', '{"choices":[]}'],
  ])('takes no %s for a stream', async (type, text) => {
    await serve((res) => void res.writeHead(200, { 'content-type': type }).end(text));
    expect(await failure(client.streamChat(endpoint(), request))).toMatchObject({
      code: 'provider_bad_response',
      status: 200,
      attempts: 1,
    });
  });

  it('reports a base URL or a key that cannot be sent without repeating it', async () => {
    await serve(answer('ok'));
    expect(await failure(client.streamChat(endpoint({ baseUrl: 'nowhere' }), request))).toMatchObject({ code: 'provider_rejected' });
    const error = await failure(client.streamChat(endpoint({ apiKey: 'bad\nkey' }), request));
    expect(error.code).toBe('provider_rejected');
    expect(error.message).not.toContain('bad');
  });

  it('is a bad response where a call is nested more deeply than it can be written again', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const part = (more: string) =>
      `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"x":${deep}}}}]},"finishReason":"STOP"}]${more}}\n\n`;
    await serve((res) => void eventStream(res).end(part('')));
    expect(await failure(client.streamChat(endpoint({ dialect: 'dialect_3' }), request))).toMatchObject({
      code: 'provider_bad_response',
      attempts: 1,
    });
  });

  it('says no more of an error than can be stored', async () => {
    await serve((res) => json(res, 400, { error: { message: `no\0 ${'x'.repeat(496)}🌍` } }));
    const { message } = await failure(client.streamChat(endpoint(), request));
    expect([message.isWellFormed(), message.includes('\0')]).toEqual([true, false]);
  });

  it('counts pages of a document by its size where the provider reports none', async () => {
    await serve((res) => void eventStream(res).end(sse({ choices: [{ delta: { content: 'ok' } }] }, '[DONE]')));
    const pdf = { type: 'document' as const, mediaType: 'application/pdf' as const, base64: 'A'.repeat(50_001) };
    const asked = { ...request, messages: [{ role: 'user' as const, content: [pdf] }] };
    expect((await client.streamChat(endpoint(), asked)).usage.input).toBe(4_000);
  });

  it('counts tokens itself where the provider reports none', async () => {
    await serve((res) => void eventStream(res).end(sse({ choices: [{ delta: { content: 'twelve chars' } }] }, '[DONE]')));
    expect(await client.streamChat(endpoint(), request)).toMatchObject({ usageEstimated: true, usage: { input: 1, output: 3 } });
  });
});

describe('dispatchers', () => {
  it('connects through the one that the endpoint brings, and keeps connections for the next call', async () => {
    await serve(answer('ok'));
    const seen: string[] = [];
    const own = new Agent();
    const guarded = own.compose((dispatch) => (options, handler) => (seen.push(options.path), dispatch(options, handler)));
    let connections = 0;
    own.on('connect', () => connections++);
    for (let i = 0; i < 6; i++)
      await client.streamChat(endpoint({ dispatcher: guarded, baseUrl: `${provider.url}/v1/?api-version=7` }), request);
    expect(seen).toEqual(Array(6).fill('/v1/chat/completions?api-version=7'));
    expect(connections).toBeLessThan(3); // one is checked for a turn of the loop before it serves again, so two take turns
    await own.destroy();
  });

  it('does not ask again when the dispatcher refuses the address', async () => {
    await serve(answer('ok'));
    let asked = 0;
    const refusing = new Agent({
      connect: (_options, callback) => (
        asked++,
        callback(Object.assign(new Error('10.0.0.7 is not public'), { code: 'EGRESS_BLOCKED' }), null)
      ),
    });
    const error = await failure(client.streamChat(endpoint({ dispatcher: refusing }), request));
    expect(error).toMatchObject({
      code: 'provider_unavailable',
      retryable: false,
      message: 'the connection to the provider failed (EGRESS_BLOCKED)',
    });
    expect(asked).toBe(1);
    await refusing.destroy();
  });
});

describe('embeddings', () => {
  it('dialect_1: sorts by index and normalises', async () => {
    await serve((res) =>
      json(res, 200, {
        data: [
          { index: 1, embedding: [0, 2] },
          { index: 0, embedding: [3, 4] },
        ],
        usage: { prompt_tokens: 7 },
      }),
    );
    const result = await client.embed(endpoint(), { model: 'e', input: ['a', 'b'], dimensions: 2, feature: 'embedding' });
    expect(result).toEqual({
      vectors: [
        [0.6, 0.8],
        [0, 1],
      ],
      usage: { input: 7, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 },
      usageEstimated: false,
    });
    expect(provider.requests[0]).toMatchObject({
      url: '/v1/embeddings',
      body: { model: 'e', input: ['a', 'b'], dimensions: 2 },
      headers: { 'x-feature': 'embedding' },
    });
  });

  it('dialect_3: goes in batches of 100 and estimates the usage', async () => {
    await serve((res, seen) => json(res, 200, { embeddings: Array.from({ length: seen === 0 ? 100 : 1 }, () => ({ values: [1, 0] })) }));
    const result = await client.embed(endpoint({ dialect: 'dialect_3' }), { model: 'e', input: Array(101).fill('four'), dimensions: 2 });
    expect(result.vectors).toHaveLength(101);
    expect(result).toMatchObject({ usage: { input: 101 }, usageEstimated: true });
    expect(provider.requests.map(({ url }) => url)).toEqual(Array(2).fill('/v1/models/e:batchEmbedContents'));
    expect((provider.requests[1].body.requests as unknown[])[0]).toEqual({
      model: 'models/e',
      content: { parts: [{ text: 'four' }] },
      outputDimensionality: 2,
    });
  });

  it('retries as a chat does', async () => {
    await serve((res, seen) => (seen === 0 ? json(res, 503, {}) : json(res, 200, { data: [{ index: 0, embedding: [1] }] })));
    expect((await client.embed(endpoint(), { model: 'e', input: ['a'] })).vectors).toEqual([[1]]);
    expect(waits).toEqual([500]);
  });

  it.each([
    ['not JSON', '{"data":'],
    ['no data', '{}'],
    ['a vector without bounds', '{"data":[{"index":0,"embedding":[1e308,1e308]}]}'],
    ['too few', '{"data":[]}'],
    ['no vector', '{"data":[{"index":0,"embedding":["a"]}]}'],
  ])('refuses %s', async (_name, text) => {
    await serve((res) => json(res, 200, text));
    expect(await failure(client.embed(endpoint(), { model: 'e', input: ['a'] }))).toMatchObject({ code: 'provider_bad_response' });
  });

  it('counts the tokens itself where the provider reports what cannot be', async () => {
    await serve((res) => json(res, 200, { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1e15 } }));
    expect(await client.embed(endpoint(), { model: 'e', input: ['four'] })).toMatchObject({ usage: { input: 1 }, usageEstimated: true });
  });

  it('dialect_2 serves none', async () => {
    await serve(answer('ok'));
    expect(await failure(client.embed(endpoint({ dialect: 'dialect_2' }), { model: 'e', input: ['a'] }))).toMatchObject({
      code: 'provider_rejected',
    });
  });
});

describe('rankings', () => {
  const request = { model: 'r', query: 'ask', documents: ['four', 'five'] };
  const usage = { input: 7, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 };

  it.each(['results', 'data'])('dialect_1: are sorted by what `%s` say, whatever their order and scale', async (name) => {
    const scores = [
      { index: 1, relevance_score: 12 },
      { index: 0, relevance_score: -3.5 },
    ];
    await serve((res) => json(res, 200, { [name]: scores, usage: { total_tokens: 7 } }));
    expect(await client.rerank(endpoint(), { ...request, feature: 'rerank' })).toEqual({ order: [1, 0], usage, usageEstimated: false });
    expect(provider.requests[0]).toMatchObject({ url: '/v1/rerank', body: request, headers: { 'x-feature': 'rerank' } });
  });

  it('count the query with each document where nothing is reported', async () => {
    await serve((res) => json(res, 200, { results: [0, 1].map((index) => ({ index, relevance_score: 0 })) }));
    expect(await client.rerank(endpoint(), request)).toEqual({ order: [0, 1], usage: { ...usage, input: 4 }, usageEstimated: true });
  });

  it.each([
    ['no ranking', '{}'],
    ['a document that is missing', '{"results":[{"index":0,"relevance_score":1}]}'],
    ['no number', '{"results":[{"index":0,"relevance_score":"1"},{"index":1,"relevance_score":1}]}'],
  ])('refuse %s', async (_name, text) => {
    await serve((res) => json(res, 200, text));
    expect(await failure(client.rerank(endpoint(), request))).toMatchObject({ code: 'provider_bad_response' });
  });

  it.each(['dialect_2', 'dialect_3'] as const)('%s serves none', async (dialect) => {
    await serve(answer('ok'));
    expect(await failure(client.rerank(endpoint({ dialect }), request))).toMatchObject({ code: 'provider_rejected' });
  });
});
