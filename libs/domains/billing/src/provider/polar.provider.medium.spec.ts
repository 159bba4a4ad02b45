import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '@aps/platform/config';
import { testEnvironment, WEBHOOK_SECRET } from '@aps/platform/testing';
import { validateEvent } from '@polar-sh/sdk/webhooks.js';
import { startLocalProvider, type LocalProvider } from '../../../../../tools/local-provider/server';
import { PolarProvider } from './polar.provider';

const STARTER = { id: randomUUID(), name: 'Starter', price: 2_900, interval: 'month' as const };
const TEAM = { id: randomUUID(), name: 'Team', price: 14_900, interval: 'month' as const };
const PACK = { id: randomUUID(), name: 'Pack', price: 1_200, interval: null };
const buyer = { id: randomUUID(), email: 'ada@example.com', name: 'Ada' };

const configure = (url: string, token = 'polar_oat_test', timeoutMs = 30_000) =>
  loadConfig({
    ...{ ...testEnvironment(process.env.TEST_DATABASE_URL!), APP_URL: 'https://app.example' },
    ...{ POLAR_API_URL: url, POLAR_ACCESS_TOKEN: token, POLAR_TIMEOUT_MS: String(timeoutMs) },
  });
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'done',
    (error: { code: string; detail: string }) => [error.code, error.detail],
  );

describe('Polar, as its API is spoken on this machine', () => {
  const polar = new PolarProvider();
  const delivered: { headers: http.IncomingHttpHeaders; body: string }[] = [];
  let receiver: http.Server;
  let local: LocalProvider;
  let subscriptionId: string;
  const control = (wish: object) => fetch(`${local.url}/_control`, { method: 'POST', body: JSON.stringify(wish) });
  const types = () => delivered.splice(0).map(({ body }) => (JSON.parse(body) as { type: string }).type);
  const told = async (n: number) => {
    while (delivered.length < n) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  beforeAll(async () => {
    receiver = http.createServer((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        delivered.push({ headers: req.headers, body });
        res.writeHead(202).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const sold = [STARTER, TEAM, PACK];
    const catalog = async (id: string) => sold.find((product) => product.id === id);
    local = await startLocalProvider({ webhookUrl, webhookSecret: WEBHOOK_SECRET, catalog });
    configure(local.url);
  });
  afterAll(async () => {
    await local.close();
    receiver.close();
    receiver.closeAllConnections();
  });
  afterEach(() => control({ mode: 'ok' }));

  const buy = async (product_id: string, metadata = { org_id: 'o', kind: 'plan', code: 'starter' }) => {
    const checkout = await polar.createCheckout({ product_id, buyer, metadata });
    expect(checkout).toEqual({ id: expect.any(String), url: `${local.url}/checkout/${checkout.id}`, expires_at: expect.any(Date) });
    return checkout;
  };

  it('sells a plan by a page that is paid by opening it, once', async () => {
    const { id, url } = await buy(STARTER.id);
    expect(local.life.books.checkouts).toMatchObject([
      { id, product_id: STARTER.id, metadata: { org_id: 'o', kind: 'plan', code: 'starter' }, success_url: 'https://app.example/' },
    ]);
    expect(local.life.books.customers).toMatchObject([{ external_id: buyer.id, email: buyer.email, name: buyer.name }]);
    for (let i = 0; i < 2; i++) expect((await fetch(url)).status).toBe(200);
    await told(5);
    // What was delivered is what Polar delivers: its own SDK says so.
    for (const { headers, body } of delivered)
      expect(() =>
        validateEvent(body, headers as Record<string, string>, Buffer.from(WEBHOOK_SECRET.slice(6), 'base64').toString('utf8')),
      ).not.toThrow();
    const order = delivered.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'order.paid');
    expect(order.data).toMatchObject({
      ...{ status: 'paid', billing_reason: 'subscription_create', product_id: STARTER.id, checkout_id: id, net_amount: 2_900 },
      ...{ metadata: { org_id: 'o', kind: 'plan', code: 'starter' }, customer: { external_id: buyer.id } },
      subscription: { status: 'active', checkout_id: id },
    });
    subscriptionId = order.data.subscription_id;
    expect(types()).toEqual(['checkout.updated', 'subscription.created', 'subscription.active', 'order.created', 'order.paid']);
  });

  it('changes, cancels and ends it', async () => {
    await polar.changeSubscription(subscriptionId, { product_id: TEAM.id, metadata: { org_id: 'o', change_id: 'c' } });
    await told(3);
    expect(types()).toEqual(['subscription.updated', 'order.created', 'order.paid']);
    await polar.changeSubscription(subscriptionId, { product_id: STARTER.id, metadata: { org_id: 'o', change_id: 'd' } });
    expect(local.life.books.orders.map(({ billing_reason, amount, metadata }) => [billing_reason, amount, metadata.change_id])).toEqual([
      ['subscription_create', 2_900, undefined],
      ['subscription_update', 12_000, 'c'],
      ['subscription_update', 0, 'd'],
    ]);
    await polar.setCancelAtPeriodEnd(subscriptionId, true);
    await told(5);
    expect(types().slice(3)).toEqual(['subscription.updated', 'subscription.canceled']);
    await polar.setCancelAtPeriodEnd(subscriptionId, false);
    await control({ renew: subscriptionId });
    await control({ revoke: subscriptionId });
    await told(8);
    expect(types()).toEqual([
      ...['subscription.updated', 'subscription.uncanceled', 'subscription.updated', 'subscription.cycled'],
      ...['order.created', 'order.paid', 'subscription.updated', 'subscription.revoked'],
    ]);
  });

  it('opens its portal for a customer', async () => {
    const [{ id }] = local.life.books.customers;
    const { url, expires_at } = await polar.createCustomerSession(id);
    expect([await fetch(url).then((page) => page.text()), expires_at > new Date()]).toEqual([
      expect.stringContaining('subscription_cycle'),
      true,
    ]);
  });

  it('sells packs, and nothing that nobody sells', async () => {
    await fetch((await buy(PACK.id)).url);
    expect(local.life.books.orders.at(-1)).toMatchObject({ billing_reason: 'purchase', subscription_id: null, amount: 1_200 });
    const unknown = polar.createCheckout({ product_id: randomUUID(), buyer, metadata: {} });
    expect(await refusal(unknown)).toEqual(['provider_refused', 'The payment provider refuses: Product does not exist.']);
  });

  it.each<[string, () => Promise<unknown>, unknown]>([
    ['an ended subscription', () => polar.setCancelAtPeriodEnd(subscriptionId, true), expect.stringContaining('already canceled')],
    ['an unknown one', () => polar.changeSubscription('none', { product_id: TEAM.id, metadata: {} }), expect.stringContaining('Not found')],
    ['an unknown customer', () => polar.createCustomerSession(randomUUID()), expect.stringContaining('Customer does not exist')],
  ])('refuses %s, with its reason', async (_, ask, reason) => {
    expect(await refusal(ask())).toEqual(['provider_refused', reason]);
  });

  const UNAVAILABLE = ['upstream_unavailable', 'The payment provider cannot be reached. Try again.'];
  it.each(['down', 'slow'])('is not to be reached while it is %s', async (mode) => {
    await control({ mode });
    if (mode === 'slow') configure(local.url, undefined, 1_000);
    expect(await refusal(polar.createCheckout({ product_id: PACK.id, buyer, metadata: {} }))).toEqual(UNAVAILABLE);
    expect(await refusal(polar.setCancelAtPeriodEnd(subscriptionId, true))).toEqual(UNAVAILABLE);
    configure(local.url);
  });

  it('says why it does not want to', async () => {
    await control({ mode: 'refuse' });
    expect(await refusal(buy(PACK.id))).toEqual(['provider_refused', 'The payment provider refuses: The card was declined.']);
  });

  it.each<[string, number, string, string]>([
    ['a page of somebody else’s', 200, 'text/html', '<h1>Welcome</h1>'],
    ['a refusal in HTML', 403, 'text/html', '<h1>Forbidden</h1>'],
    ['a refusal without a reason', 400, 'application/json', '{"detail":null}'],
    ['our token refused', 401, 'application/json', '{"detail":"Invalid token"}'],
    ['what our token may not do', 403, 'application/json', '{"error":"NotPermitted","detail":"Not permitted"}'],
    ['too many requests', 429, 'application/json', '{"detail":"Slow down"}'],
    ['a way elsewhere', 307, 'text/plain', ''],
    ['half an answer', 200, 'application/json', '{"id":'],
  ])('is not to be reached behind %s', async (_, status, type, body) => {
    const paths: string[] = [];
    const strange = http.createServer((req, res) => {
      paths.push(req.url ?? '');
      res.writeHead(status, { 'content-type': type, location: '/elsewhere' }).end(body);
    });
    await new Promise<void>((resolve) => strange.listen(0, '127.0.0.1', resolve));
    configure(`http://127.0.0.1:${(strange.address() as AddressInfo).port}`);
    expect(await refusal(polar.setCancelAtPeriodEnd('s', true))).toEqual(UNAVAILABLE);
    expect(await refusal(polar.createCustomerSession('c'))).toEqual(UNAVAILABLE);
    expect(paths).toEqual(['/v1/subscriptions/s', '/v1/customer-sessions/']);
    strange.close();
    strange.closeAllConnections();
    configure(local.url);
  });

  it('takes a yes that its SDK cannot read for a yes', async () => {
    const newer = http.createServer((_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"s"}'));
    await new Promise<void>((resolve) => newer.listen(0, '127.0.0.1', resolve));
    configure(`http://127.0.0.1:${(newer.address() as AddressInfo).port}`);
    expect(await refusal(polar.setCancelAtPeriodEnd('s', true))).toBe('done');
    newer.close();
    newer.closeAllConnections();
    configure(local.url);
  });

  it('is not asked without a token', async () => {
    configure(local.url, '');
    expect(await refusal(polar.setCancelAtPeriodEnd('s', true))).toEqual(UNAVAILABLE);
    configure(local.url);
  });
});
