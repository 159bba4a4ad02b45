import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Deliveries, type Disorder } from './deliveries';
import { EMPTY_BOOKS, Life, Refusal, type Books, type CheckoutWish } from './life';
import { customerObject, type Metadata, type Product } from './objects';

const MODES = ['ok', 'refuse', 'down', 'hold', 'slow'] as const;
type Mode = (typeof MODES)[number];
const DISORDERS: readonly Disorder[] = ['duplicate', 'reverse', 'late'];
const SESSION_MS = 3_600_000;
const MAX_BODY_BYTES = 1024 * 1024;

export interface LocalProviderOptions {
  port?: number;
  host?: string;
  /** Where deliveries go. */
  webhookUrl: string;
  webhookSecret: string;
  /** What is sold; undefined for what nobody sells. */
  catalog: (productId: string) => Promise<Product | undefined>;
  /** Where its books are kept; without one, they end with it. */
  file?: string;
}

export interface LocalProvider {
  url: string;
  port: number;
  life: Life;
  deliveries: Deliveries;
  close(): Promise<void>;
}

interface Control {
  mode?: Mode;
  deliver?: Disorder;
  times?: number;
  renew?: string;
  fall?: string;
  revoke?: string;
  refund?: string;
  amount?: number;
  redeliver?: string;
}

/** Polar's API as far as the service uses it, with a checkout page, and deliveries of all that happens. README.md says more. */
export async function startLocalProvider(options: LocalProviderOptions): Promise<LocalProvider> {
  const { file } = options;
  const books: Books = file && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Books) : structuredClone(EMPTY_BOOKS);
  const keep = () => {
    if (!file) return;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, JSON.stringify(books), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const deliveries = new Deliveries(books.deliveries, { url: options.webhookUrl, secret: options.webhookSecret }, keep);
  let url = '';
  const life = new Life(
    books,
    options.catalog,
    (type, data) => deliveries.add(type, data),
    () => url,
  );
  const provider = new Surface(life, deliveries, () => url);
  const server = createServer((req, res) => {
    provider
      .answer(req, res)
      .catch((error: unknown) => {
        if (res.headersSent) return res.destroy();
        if (error instanceof Refusal) return sendRefusal(res, error);
        sendRefusal(res, new Refusal(422, error instanceof SyntaxError ? 'The body is not JSON.' : 'The local provider failed.'));
      })
      .finally(keep);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      deliveries.stop();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, port, life, deliveries, close };
}

class Surface {
  private mode: Mode = 'ok';

  constructor(
    private readonly life: Life,
    private readonly deliveries: Deliveries,
    private readonly url: () => string,
  ) {}

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const at = new URL(req.url ?? '/', 'http://local').pathname.replace(/\/+$/, '');
    const asked = `${req.method} ${at}`;
    if (asked === 'GET /healthz' || asked === 'GET /readyz') return send(res, 200, { status: 'ok' });
    if (at === '/_control') return send(res, 200, await this.control(req.method === 'POST' ? await bodyOf<Control>(req) : {}));
    if (this.mode === 'down') return page(res, 503, 'The provider is down', 'As was asked for.');
    // Its caller runs out of patience.
    if (this.mode === 'slow') return;
    const [, checkoutPage] = /^GET \/checkout\/([^/]+)$/.exec(asked) ?? [];
    if (checkoutPage) return this.pay(res, checkoutPage);
    const [, portalPage] = /^GET \/portal\/([^/]+)$/.exec(asked) ?? [];
    if (portalPage) return this.showPortal(res, portalPage);
    if (!/^Bearer ./.test(req.headers.authorization ?? '')) return send(res, 401, { error: 'unauthorized', detail: 'A token is missing.' });
    return this.api(asked, req, res);
  }

  private async api(asked: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const writes = !asked.startsWith('GET ');
    if (writes && this.mode === 'refuse') throw new Refusal(422, 'The card was declined.');
    if (asked === 'POST /v1/checkouts') return send(res, 201, await this.life.openCheckout(await bodyOf<CheckoutWish>(req)));
    const [, checkoutId] = /^GET \/v1\/checkouts\/([^/]+)$/.exec(asked) ?? [];
    if (checkoutId) return send(res, 200, await this.life.checkout(checkoutId));
    if (asked === 'POST /v1/customer-sessions') return send(res, 201, this.openSession(await bodyOf(req)));
    const [, method, id] = /^(GET|PATCH|DELETE) \/v1\/subscriptions\/([^/]+)$/.exec(asked) ?? [];
    if (method === 'GET') return send(res, 200, await this.life.subscription(id));
    if (method === 'DELETE') return send(res, 200, await this.life.revoke(id));
    if (method === 'PATCH') return send(res, 200, await this.update(id, await bodyOf(req)));
    throw new Refusal(404, 'Not found');
  }

  private update(id: string, wish: { product_id?: string; metadata?: Metadata; cancel_at_period_end?: boolean }): Promise<object> {
    if (typeof wish.cancel_at_period_end === 'boolean') return this.life.cancelAtPeriodEnd(id, wish.cancel_at_period_end);
    if (typeof wish.product_id === 'string') return this.life.change(id, wish.product_id, wish.metadata);
    throw new Refusal(422, 'There is nothing to change.');
  }

  private openSession(wish: { customer_id?: string; external_customer_id?: string; return_url?: string | null }): object {
    const { token, customer, created_at } = this.life.openSession(wish);
    return {
      id: token,
      token,
      created_at,
      modified_at: null,
      expires_at: new Date(Date.parse(created_at) + SESSION_MS).toISOString(),
      return_url: wish.return_url ?? null,
      customer_portal_url: `${this.url()}/portal/${token}`,
      customer_id: customer.id,
      customer: customerObject(customer),
    };
  }

  private async pay(res: ServerResponse, id: string): Promise<void> {
    const { success_url } = await this.life.complete(id);
    const back = success_url ? `<a href="${escaped(success_url)}">Back</a>` : '';
    page(res, 200, 'Paid', `This was no real money. ${back}`);
  }

  private showPortal(res: ServerResponse, token: string): void {
    const { customer, orders, subscriptions } = this.life.portal(token);
    const rows = [
      ...subscriptions.map((s) => `subscription ${s.id}: ${s.status} until ${s.current_period_end}`),
      ...orders.map((o) => `order ${o.id}: ${o.billing_reason}, ${(o.amount / 100).toFixed(2)} USD, ${o.status}`),
    ];
    page(res, 200, escaped(customer.email), `<ul>${rows.map((row) => `<li>${escaped(row)}</li>`).join('')}</ul>`);
  }

  /** Steers it. @returns what it has in its books */
  private async control({ mode, deliver, times, renew, fall, revoke, refund, amount, redeliver }: Control): Promise<object> {
    if (mode !== undefined) {
      if (!MODES.includes(mode)) throw new Refusal(422, `mode is one of ${MODES.join(', ')}.`);
      this.mode = mode;
      this.deliveries.hold(mode === 'hold');
    }
    if (deliver !== undefined) {
      if (!DISORDERS.includes(deliver)) throw new Refusal(422, `deliver is one of ${DISORDERS.join(', ')}.`);
      this.deliveries.disturb(deliver, times ?? (deliver === 'reverse' ? 2 : 1));
    }
    if (renew !== undefined) await this.life.renew(renew);
    if (fall !== undefined) await this.life.fall(fall);
    if (revoke !== undefined) await this.life.revoke(revoke);
    if (refund !== undefined) await this.life.refund(refund, amount);
    if (redeliver !== undefined && !this.deliveries.again(redeliver)) throw new Refusal(404, 'Not found');
    const { customers, checkouts, subscriptions, orders } = this.life.books;
    const told = this.deliveries.all.map(({ id, type, tries, status, done }) => ({ id, type, tries, status, done }));
    return { mode: this.mode, customers, checkouts, subscriptions, orders, deliveries: told };
  }
}

async function bodyOf<T>(req: IncomingMessage): Promise<T> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    if ((size += chunk.length) > MAX_BODY_BYTES) throw new Refusal(422, 'The body is too large.');
    chunks.push(chunk);
  }
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
  if (typeof body !== 'object' || body === null) throw new Refusal(422, 'The body must be an object.');
  return body as T;
}

const NAMES = { 402: 'PaymentFailed', 403: 'AlreadyCanceledSubscription', 404: 'ResourceNotFound' } as const;

function sendRefusal(res: ServerResponse, { status, reason }: Refusal): void {
  if (status === 422) send(res, status, { detail: [{ loc: ['body'], msg: reason, type: 'value_error' }] });
  else send(res, status, { error: NAMES[status], detail: reason });
}

function send(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function page(res: ServerResponse, status: number, title: string, html: string): void {
  const text = `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${html}</p>`;
  res.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(text);
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
