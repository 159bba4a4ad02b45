import { inspect } from 'node:util';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { ANSWERS, eventStream, json, startProvider, type FakeProvider, type Script } from '../client/testing/provider';
import { ModelCalls } from '../model-calls.service';
import { ModelResolver } from './model-resolver.service';
import { inferenceService } from '../testing/inference';

const TOKEN = 'cf-canary-0123456789-zzzz4f2a';

describe('AI gateway of an organization', () => {
  const t = inferenceService();
  let org: TestTeam;
  let gateway: FakeProvider;
  let script: Script;
  beforeAll(async () => {
    gateway = await startProvider((...args) => script(...args));
    t.configure({
      AI_GATEWAY_BASE_URL: `${gateway.url}/v1`,
      OPENAI_API_KEY: 'sk-from-environment',
      ANTHROPIC_API_KEY: 'sk-from-environment',
    });
  });
  afterAll(async () => {
    await gateway.close();
    t.configure({ AI_GATEWAY_BASE_URL: undefined, OPENAI_API_KEY: undefined, ANTHROPIC_API_KEY: undefined });
  });
  beforeEach(async () => {
    org = await aTeam(t);
    gateway.requests.length = 0;
  });
  const set = (path: string, body: unknown) => t.make('PATCH', `/api/orgs/${org.id}/settings/ai${path}`, { as: org.owner, body });
  const setGateway = (more: object = {}) =>
    set('', { ai_gateway_mode: 'custom', ai_gateway_account_id: 'acc', ai_gateway_gateway_id: 'gw', ai_gateway_token: TOKEN, ...more });
  const fromGateway = (...slugs: string[]) =>
    set('/routes', { routes: Object.fromEntries(slugs.map((slug) => [slug, { credential_source: 'gateway' }])) });
  const resolve = (messageModel: string) => t.get(ModelResolver).resolve({ orgId: org.id, scope: 'chat', requested: { messageModel } });
  const ask = async (model: string) =>
    t.get(ModelCalls).streamChat(await resolve(model), { messages: [{ role: 'user', content: 'hi' }], feature: 'turn' });

  it.each([
    ['dialect_1', 'gpt-6-sol', '/v1/acc/gw/openai/chat/completions'],
    ['dialect_2', 'claude-sonnet-5-5', '/v1/acc/gw/anthropic/v1/messages'],
    ['dialect_3', 'gemini-3.5-flash', '/v1/acc/gw/google-ai-studio/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse'],
  ] as const)('is asked in %s with its token and no provider’s key', async (dialect, model, url) => {
    script = (res) => void eventStream(res).end(ANSWERS[dialect]);
    await setGateway({ provider_1_api_key: 'sk-of-the-provider' });
    await set('/routes', { routes: { anthropic: { api_key: 'sk-of-the-route' } } });
    await fromGateway('openai', 'anthropic', 'google');
    expect((await ask(model)).text).toBe('grüße 🌍 «ok»');
    const [seen] = gateway.requests;
    expect([gateway.requests.length, seen.url]).toEqual([1, url]);
    expect(seen.headers).toMatchObject({ 'cf-aig-authorization': `Bearer ${TOKEN}` });
    for (const name of ['authorization', 'x-api-key', 'x-goog-api-key', 'cf-aig-collect-log'])
      expect(seen.headers).not.toHaveProperty(name);
    expect(JSON.stringify(seen)).not.toContain('sk-');
  });

  it('is told whether to log, and is the way of whole providers too', async () => {
    script = (res) => void eventStream(res).end(ANSWERS.dialect_1);
    for (const log of ['true', 'false']) {
      await setGateway({ provider_1_credential_source: 'gateway', ai_gateway_log_payloads: log });
      expect((await resolve('gpt-6-sol')).byo_key).toBe(true);
      await ask('gpt-6-sol');
    }
    expect(gateway.requests.map(({ headers }) => headers['cf-aig-collect-log'])).toEqual(['true', 'false']);
    await set('/routes', { routes: { openai: { credential_source: 'api_key' } } });
    expect((await resolve('gpt-6-sol')).endpoint).toMatchObject({ apiKey: 'sk-from-environment', headers: undefined });
  });

  it('fails the turn where the credential is to come from a gateway, and none is set', async () => {
    await fromGateway('openai');
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'provider_auth' });
    const listed = (await t.make('GET', `/api/orgs/${org.id}/models`, { as: org.member })).items as { key: string; available: boolean }[];
    expect(listed.find(({ key }) => key === 'gpt-6-sol')!.available).toBe(false);
    await setGateway();
    expect((await resolve('gpt-6-sol')).endpoint.baseUrl).toBe(`${gateway.url}/v1/acc/gw/openai`);
    await set('', { ai_gateway_mode: 'off' });
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'provider_auth' });
  });

  it.each<[string, Script, string]>([
    ['a page', (res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'), 'provider_bad_response'],
    ['another address', (res) => void res.writeHead(302, { location: `${gateway.url}/elsewhere` }).end(), 'provider_bad_response'],
    ['nothing', (res) => void res.destroy(), 'provider_unavailable'],
  ])('that answers with %s fails the call, and its token goes nowhere else', async (_, answered, code) => {
    script = answered;
    await setGateway();
    await fromGateway('openai');
    await expect(ask('gpt-6-sol')).rejects.toMatchObject({ code });
    expect(new Set(gateway.requests.map(({ url }) => url))).toEqual(new Set(['/v1/acc/gw/openai/chat/completions']));
  });

  it('keeps its token from errors, and from whatever prints, copies or serializes', async () => {
    script = (res) => json(res, 403, { error: { message: `No such token: ${TOKEN} (Bearer ${TOKEN})` } });
    await setGateway();
    await fromGateway('openai');
    const model = await resolve('gpt-6-sol');
    for (const shown of [inspect(model, { depth: 9, showHidden: true }), JSON.stringify(model), JSON.stringify({ ...model.endpoint })])
      expect(shown).not.toContain('canary');
    await expect(ask('gpt-6-sol')).rejects.toMatchObject({ code: 'provider_auth', message: expect.not.stringContaining('canary') });
  });
});
