import http from 'node:http';
import net from 'node:net';
import { BillingModule } from '@aps/billing';
import { WebhooksHttpModule } from '@aps/billing/http';
import { BillingEvent } from '@aps/entities';
import { loadConfig } from '@aps/platform/config';
import { eventually, outcome, signed, WEBHOOK_SECRET, type SignedDelivery } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { ProxyModule } from '.';

describe('the way of deliveries through the gateway', () => {
  const t = testService([...BASE_MODULES, BillingModule, ProxyModule], {
    settings: { POLAR_WEBHOOK_SECRETS: WEBHOOK_SECRET, TRUST_PROXY: '1' },
  });
  beforeAll(async () => t.configure({ BILLING_WEBHOOKS_URL: await t.serve([...BASE_MODULES, BillingModule, WebhooksHttpModule]) }));

  const post = ({ body, headers }: SignedDelivery) => t.call('POST', '/api/webhooks/polar', { body, headers });
  const slowly = (headers: object, from: string, length: number, begun: string | Buffer) => {
    const all = { ...headers, 'x-forwarded-for': from, 'content-length': length };
    const request = http.request(`${t.url}/api/webhooks/polar`, { agent: false, method: 'POST', headers: all });
    request.on('error', () => undefined).write(begun);
    return request;
  };
  const stored = () => t.db.manager.count(BillingEvent);

  it.each<[string, string]>([
    ['odd spacing', '{ "type" :\t"x.y" ,\r\n\r\n"data":{ } }   \n'],
    ['letters of all scripts', '{"type":"x.y","data":"Zoë, 東京, 🚀, \\u00e4"}'],
    ['numbers that a double changes', '{"type":"x.y","data":12345678901234567890.10}'],
    ['one key twice', '{"type":"a","type":"x.y"}'],
    ['800 KB', JSON.stringify({ type: 'x.y', data: '東'.repeat(270_000) })],
    ['no JSON', 'not { json'],
  ])('leaves bodies of %s the bytes that were signed', async (_, body) => {
    const delivery = signed(body);
    const first = await post(delivery);
    expect(first.status).toBe(202);
    expect((await post(delivery)).body).toEqual(first.body);
  });

  it('needs no token, and no credential passes on it', async () => {
    const { body, headers } = signed({ type: 'x.y' });
    expect((await post({ body, headers: { ...headers, authorization: 'Bearer nonsense' } })).status).toBe(202);
  });

  it('refuses what is forged, stale or endless, and keeps nothing', async () => {
    const before = await stored();
    expect(outcome(await post(signed({ type: 'x.y' }, { secret: 'whsec_Z3Vlc3NlZA==' })))).toEqual([403, 'signature_invalid']);
    expect(outcome(await post(signed({ type: 'x.y' }, { at: new Date(Date.now() - 400_000) })))).toEqual([403, 'signature_stale']);
    expect(outcome(await post(signed('x'.repeat(5 * 1024 * 1024))))).toEqual([413, 'payload_too_large']);
    expect(await stored()).toBe(before);
  });

  it('counts against no limit', async () => {
    Object.assign(process.env, { RATE_LIMITS: 'on', RATE_LIMIT_TOKEN: '1', RATE_LIMIT_TOKEN_BURST: '1' });
    loadConfig();
    try {
      const answers = await Promise.all(Array.from({ length: 40 }, () => post(signed({ type: 'x.y' }))));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    } finally {
      process.env.RATE_LIMITS = 'off';
      loadConfig();
    }
  });

  it('is not held up by who sends many bodies slowly, from many addresses', async () => {
    t.configure({ RATE_LIMITS: 'on', REDIS_PREFIX: `slow${Math.random().toString(36).slice(2)}` });
    const { body, headers } = signed({ type: 'x.y' });
    // More than there are connections to the service behind.
    const addresses = Array.from({ length: 5 }, (_, i) => `203.0.113.${i}`);
    const slow = addresses.flatMap((from) => Array.from({ length: 70 }, () => slowly(headers, from, body.length, body.slice(0, 1))));
    const refused: number[] = [];
    await new Promise<void>((resolve) => {
      for (const request of slow)
        request.on('response', (answer: http.IncomingMessage) => refused.push(answer.statusCode!) === 5 * (70 - 64) && resolve());
    });
    expect(new Set(refused)).toEqual(new Set([503]));
    expect((await post({ body, headers: { ...headers, 'x-forwarded-for': '203.0.113.8' } })).status).toBe(202);
    slow.forEach((request) => request.destroy());
    await eventually(
      () => post({ body, headers: { ...headers, 'x-forwarded-for': addresses[0] } }),
      ({ status }) => status === 202,
    );
    t.configure({ RATE_LIMITS: 'off' });
  });

  it('is not held up by who sends nearly all of many large bodies, of which only so much is kept', async () => {
    const { body, headers } = signed({ type: 'x.y' });
    const large = Buffer.alloc(1024 * 1024 - 1);
    const slow = Array.from({ length: 20 }, () => slowly(headers, '203.0.113.9', large.length + 1, large));
    await Promise.all(slow.map((request) => new Promise((resolve) => request.write('', resolve))));
    for (let i = 0; i < 5; i++) expect((await post({ body, headers: { ...headers, 'x-forwarded-for': '203.0.113.10' } })).status).toBe(202);
    slow.forEach((request) => request.destroy());
  });

  it('that is cut in the middle of a body leaves nothing, and the provider tries again', async () => {
    const before = await stored();
    const { body, headers } = signed({ type: 'x.y', data: 'x'.repeat(100_000) });
    await new Promise<void>((resolve) => {
      const request = http.request(`${t.url}/api/webhooks/polar`, {
        method: 'POST',
        headers: { ...headers, 'content-length': body.length },
      });
      request.on('error', () => resolve());
      request.write(body.slice(0, 50_000), () => request.destroy(new Error('cut')));
    });
    expect(await stored()).toBe(before);
    expect((await post({ body, headers })).status).toBe(202);
  });

  it('is 502 where nothing is behind it, and leaves other paths alone', async () => {
    const closed = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as net.AddressInfo;
    closed.close();
    const url = process.env.BILLING_WEBHOOKS_URL;
    t.configure({ BILLING_WEBHOOKS_URL: `http://127.0.0.1:${port}` });
    expect(outcome(await post(signed({ type: 'x.y' })))).toEqual([502, 'upstream_unavailable']);
    t.configure({ BILLING_WEBHOOKS_URL: url });
    expect(outcome(await t.call('POST', '/api/webhooks/other', { body: {} }))).toEqual([404, 'not_found']);
    expect(outcome(await t.call('GET', '/api/webhooks/polar'))).toEqual([405, 'method_not_allowed']);
  });
});
