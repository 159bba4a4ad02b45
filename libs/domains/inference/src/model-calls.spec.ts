import { Logger } from '@nestjs/common';
import { EgressError, type Egress } from '@aps/platform/egress';
import { metrics } from '@aps/platform/observability';
import { Agent, type Dispatcher } from 'undici';
import { completion, eventStream, json, startProvider, type FakeProvider, type Script } from './client/testing/provider';
import { InferenceError } from './inference.errors';
import { ModelCalls } from './model-calls.service';
import { ModelEndpoint, type ResolvedModel } from './choice/model-resolver.service';
import { aModel, aRoute, idOf } from './testing/views';

const KEY = 'sk-canary-0123456789-zzzz4f2a';
const refusing = () =>
  new Agent({ connect: (_options, callback) => callback(new EgressError('address', 'The address is not on the public internet.'), null) });

describe('ModelCalls', () => {
  let provider: FakeProvider;
  let calls: ModelCalls;
  let asked: string[];
  let guarded: Dispatcher;
  const serve = async (script: Script) => {
    provider = await startProvider(script);
    asked = [];
    guarded = refusing();
    calls = new ModelCalls({
      dispatcherFor: ({ purpose }: { purpose: string }) => {
        asked.push(purpose);
        return guarded;
      },
    } as unknown as Egress);
  };
  afterEach(async () => {
    await calls.onApplicationShutdown();
    await provider.close();
    await guarded.close();
  });
  const model = (over: Partial<ResolvedModel> = {}, tenant = false): ResolvedModel => ({
    entry: aModel('calls-test', 'test'),
    route: aRoute('test'),
    source: 'message',
    mode: null,
    reason: 'requested',
    requested_model: 'calls-test',
    resolved_model: 'calls-test',
    reasoning_effort: null,
    requested_reasoning_effort: null,
    effort_clamped: false,
    max_output_tokens: null,
    context_window: null,
    priced: true,
    byo_key: false,
    remote_model_id: 'remote-name',
    endpoint: new ModelEndpoint('dialect_1', `${provider.url}/v1`, { apiKey: KEY }, tenant),
    ...over,
  });
  const ask = (m: ResolvedModel, maxOutputTokens?: number) =>
    calls.streamChat(m, { messages: [{ role: 'user', content: 'hi' }], feature: 'turn', ...(maxOutputTokens && { maxOutputTokens }) });
  const counted = async (name: string, labels: Record<string, string>) => {
    const { values } = (await metrics.getSingleMetric(name)!.get()) as {
      values: { value: number; labels: Record<string, string>; metricName?: string }[];
    };
    return values
      .filter((v) => (v.metricName ?? name).replace(/_count$/, '') === name && Object.entries(labels).every(([k, x]) => v.labels[k] === x))
      .reduce((sum, v) => sum + v.value, 0);
  };

  it('sends what the resolution says, marked with what it is for', async () => {
    await serve((res) => void eventStream(res).end(completion('hello')));
    const result = await ask(model({ reasoning_effort: 'low', max_output_tokens: 100 }), 500);
    expect(result.text).toBe('hello');
    const [request] = provider.requests;
    expect(request.headers).toMatchObject({ 'x-feature': 'turn', authorization: `Bearer ${KEY}` });
    expect(request.body).toMatchObject({ model: 'remote-name', reasoning_effort: 'low', max_completion_tokens: 100 });
    expect(asked).toEqual([]);
  });

  it('leaves out what the resolution leaves open', async () => {
    await serve((res) => void eventStream(res).end(completion('hello')));
    await ask(model());
    expect(provider.requests[0].body).not.toHaveProperty('reasoning_effort');
    expect(provider.requests[0].body).not.toHaveProperty('max_completion_tokens');
  });

  it('reaches addresses that an organization chose through the guard alone', async () => {
    await serve((res) => void eventStream(res).end(completion('hello')));
    const refused = await ask(model({}, true)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InferenceError);
    expect(refused).toMatchObject({ code: 'provider_rejected', retryable: false, attempts: 1 });
    expect(asked).toEqual(['inference']);
    expect(provider.requests).toEqual([]);
  });

  it('counts time, tokens and retries, under labels that no organization chooses', async () => {
    await serve(
      (res, seen) =>
        void (seen === 0
          ? json(res, 429, { error: { message: 'slow down' } }, { 'retry-after-ms': '1' })
          : eventStream(res).end(completion('hello', { prompt_tokens: 10, completion_tokens: 2 }))),
    );
    await ask(
      model({
        entry: aModel('secret-project', 'x', { owner_org_id: idOf('org') }),
        route: aRoute('secret-route', { owner_org_id: idOf('org') }),
        byo_key: true,
      }),
    );
    const own = { route: 'own', model: 'own' };
    expect(await counted('model_call_duration_seconds', { ...own, outcome: 'ok' })).toBeGreaterThan(0);
    expect(await counted('model_tokens_total', { ...own, kind: 'input' })).toBe(10);
    expect(await counted('model_tokens_total', { ...own, kind: 'output' })).toBe(2);
    expect(await counted('model_call_retries_total', own)).toBe(1);
    expect(await metrics.metrics()).not.toContain('secret-');
  });

  it('fails with one kind of error, without the key', async () => {
    await serve((res) => json(res, 401, { error: { message: `Incorrect API key provided: ${KEY}` } }));
    const error = await ask(model()).then(
      () => undefined,
      (e: unknown) => e as InferenceError,
    );
    expect(error).toBeInstanceOf(InferenceError);
    expect(error).toMatchObject({ code: 'provider_auth', status: 401, retryable: false, attempts: 1 });
    expect(`${error?.stack}${JSON.stringify(error)}`).not.toContain('canary');
    expect(await counted('model_call_duration_seconds', { route: 'test', model: 'calls-test', outcome: 'provider_auth' })).toBeGreaterThan(
      0,
    );
  });

  it.each([
    ['a key of ours that is wrong', 401, false, false, false],
    ['a key of theirs that is wrong', 401, true, false, true],
    ['a key of theirs that is spent', 429, true, false, true],
    ['a provider that is away, whoever asks', 503, true, false, false],
    ['an address of theirs that cannot be called', 503, true, true, true],
    ['a request that is too long', 413, false, false, true],
  ])('tells what only the organization can mend: %s', async (_, status, byo_key, tenant, isOfOrganization) => {
    await serve((res) =>
      json(res, status, { error: { message: status === 413 ? 'The prompt is too long.' : 'no' } }, { 'retry-after-ms': '1' }),
    );
    const error = await ask(model({ byo_key }, tenant)).catch((e: unknown) => e);
    expect(error).toMatchObject({ isOfOrganization });
  });

  it.each([
    [429, 'provider_rate_limited'],
    [403, 'provider_auth'],
    [402, 'provider_auth'],
    [400, 'provider_auth', 'Your credit balance is too low: used 29000.'],
  ])('tells what a provider says of an account by %s only to whoever has it', async (status, code, words = 'Limit 30000, used 29000.') => {
    await serve((res) => json(res, status, { error: { message: words } }, { 'retry-after-ms': '1' }));
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const told = async (byo_key: boolean) => (await ask(model({ byo_key })).catch((e: unknown) => e)) as InferenceError;
    const retryable = status === 429;
    expect(await told(true)).toMatchObject({ code, status, message: `the provider answered ${status}: ${words}` });
    expect(warned).not.toHaveBeenCalled();
    expect(await told(false)).toMatchObject({ code, status, retryable, message: `the provider answered ${status}` });
    expect(warned).toHaveBeenCalledWith(expect.objectContaining({ error: expect.stringContaining('used 29000') }));
    warned.mockRestore();
  });

  it('passes on the caller’s own reason to stop', async () => {
    await serve(() => undefined);
    const stop = new AbortController();
    const call = calls.streamChat(
      model({ entry: aModel('stopped', 'test') }),
      { messages: [{ role: 'user', content: 'hi' }], feature: 'turn' },
      { signal: stop.signal },
    );
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(await counted('model_call_duration_seconds', { model: 'stopped', outcome: 'aborted' })).toBeGreaterThan(0);
  });

  it('embeds', async () => {
    await serve((res) => json(res, 200, { data: [{ index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 3 } }));
    const { vectors } = await calls.embed(model(), { input: ['hi'], feature: 'embedding' });
    expect(vectors).toEqual([[1, 0]]);
    expect(provider.requests[0].body).toMatchObject({ model: 'remote-name' });
    expect(provider.requests[0].headers['x-feature']).toBe('embedding');
  });
});
