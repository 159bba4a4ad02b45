import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { TOOLKITS, type Books, type Toolkit } from './toolkits';

/** For so long somebody can sign in, milliseconds. */
const LINK_MS = 600_000;
const KEPT_CALLS = 1_000;

/** Somebody's account, as it is kept here. */
export interface DemoAccount {
  id: string;
  user_id: string;
  toolkit: string;
  status: 'INITIATED' | 'ACTIVE' | 'FAILED' | 'EXPIRED';
}

/** A call of an app's tool that has arrived, under the key that its caller gave it. */
export interface DemoAppCall {
  tool: string;
  args: unknown;
  user_id: string;
  key: string | undefined;
}

interface Link {
  account: DemoAccount;
  callback_url: string;
  until: number;
}

/**
 * Answers by itself, instead of the provider, when it returns true.
 *
 * @param path below `/api/v3`
 */
export type Before = (path: string, req: IncomingMessage, res: ServerResponse) => boolean;

class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A provider of managed apps: the version 3 of Composio's API as far as the service uses it, with the page where people sign in. */
export class DemoApps {
  /** The calls that have arrived, the last thousand of them, in their order. */
  readonly calls: DemoAppCall[] = [];
  readonly accounts = new Map<string, DemoAccount>();
  private readonly links = new Map<string, Link>();
  /** What each account has, by its id. */
  private readonly books = new Map<string, Books>();

  constructor(
    private readonly url: () => string,
    private readonly before?: Before,
  ) {}

  /** @returns whether it has answered */
  async answer(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://demo');
    const link = /^\/link\/([\w-]+)$/.exec(pathname)?.[1];
    if (link) return (this.signIn(link, searchParams, res), true);
    if (!pathname.startsWith('/api/v3/')) return false;
    const path = pathname.slice('/api/v3'.length);
    if (this.before?.(path, req, res)) return true;
    try {
      if (!req.headers['x-api-key']) throw new Refusal(401, 'There is no API key.');
      const body = req.method === 'POST' ? ((await json(req)) as Record<string, unknown>) : {};
      const [status, said] = this.said(`${req.method} ${path}`, searchParams, body, req);
      send(res, status, said);
    } catch (error) {
      const { status, message } = error instanceof Refusal ? error : new Refusal(400, 'The body cannot be read.');
      send(res, status, { error: { message, code: status, status } });
    }
    return true;
  }

  private said(what: string, query: URLSearchParams, body: Record<string, unknown>, req: IncomingMessage): [number, object] {
    const id = /^(?:GET|DELETE) \/connected_accounts\/([^/]+)$/.exec(what)?.[1];
    if (id) return [200, what.startsWith('GET') ? this.shown(id) : this.deleted(id)];
    const tool = /^POST \/tools\/execute\/([^/]+)$/.exec(what)?.[1];
    if (tool) return [200, this.executed(tool, body, req)];
    switch (what) {
      case 'GET /auth_configs':
        return [200, page(TOOLKITS.map(({ slug }) => ({ id: `ac_${slug}`, status: 'ENABLED', toolkit: { slug, logo: '' } })))];
      case 'POST /toolkits/multi':
        return [200, page(TOOLKITS.filter(({ slug }) => (body.toolkits as string[]).includes(slug)).map(({ slug, name, meta }) => ({ slug, name, meta })))]; // prettier-ignore
      case 'POST /connected_accounts/link':
        return [201, this.linked(body)];
      case 'GET /tools':
        return [200, page(toolkitOf(query.get('toolkit_slug')).tools.map(({ run: _run, ...listed }) => listed))];
      default:
        throw new Refusal(404, 'There is nothing here.');
    }
  }

  private linked({ auth_config_id, user_id, callback_url }: Record<string, unknown>): object {
    const toolkit = toolkitOf(String(auth_config_id).replace(/^ac_/, ''));
    const [token, id] = [newToken(), `ca_${newToken()}`];
    const account: DemoAccount = { id, user_id: String(user_id), toolkit: toolkit.slug, status: 'INITIATED' };
    this.accounts.set(id, account);
    this.links.set(token, { account, callback_url: String(callback_url), until: Date.now() + LINK_MS });
    return {
      link_token: token,
      redirect_url: `${this.url()}/link/${token}`,
      expires_at: new Date(Date.now() + LINK_MS).toISOString(),
      connected_account_id: id,
    };
  }

  /** Nobody is asked anything: who comes has an account. With `refuse` in the query they do not want to connect it. */
  private signIn(token: string, query: URLSearchParams, res: ServerResponse): void {
    const link = this.links.get(token);
    this.links.delete(token);
    if (!link || link.until < Date.now()) return send(res, 410, { error: 'This link was used, or is too old.' });
    link.account.status = query.has('refuse') ? 'FAILED' : 'ACTIVE';
    const back = new URL(link.callback_url);
    back.searchParams.set('status', query.has('refuse') ? 'failed' : 'success');
    back.searchParams.set('connected_account_id', link.account.id);
    res.writeHead(302, { location: back.href }).end();
  }

  private executed(
    slug: string,
    { connected_account_id, user_id, arguments: args }: Record<string, unknown>,
    req: IncomingMessage,
  ): object {
    const account = this.accounts.get(String(connected_account_id));
    if (account?.user_id !== user_id) throw new Refusal(404, 'The user has no such account.');
    if (account?.status !== 'ACTIVE') throw new Refusal(400, 'The account is not active.');
    const { tools, books } = toolkitOf(account.toolkit);
    const tool = tools.find((one) => one.slug === slug);
    if (!tool) throw new Refusal(404, `There is no tool ${slug}.`);
    const key = req.headers['idempotency-key'];
    this.calls.push({ tool: slug, args, user_id: String(user_id), key: typeof key === 'string' ? key : undefined });
    if (this.calls.length > KEPT_CALLS) this.calls.shift();
    if (!this.books.has(account.id)) this.books.set(account.id, books());
    const answer = tool.run((args ?? {}) as Record<string, string>, this.books.get(account.id)!);
    const log_id = `log_${newToken()}`;
    if ('error' in answer) return { data: answer.data ?? {}, error: answer.error, successful: false, log_id };
    return { data: answer, error: null, successful: true, log_id };
  }

  private shown(id: string): object {
    const account = this.accounts.get(id);
    if (!account) throw new Refusal(404, 'There is no such account.');
    return { ...account, toolkit: { slug: account.toolkit }, is_disabled: false };
  }

  private deleted(id: string): object {
    this.books.delete(id);
    if (!this.accounts.delete(id)) throw new Refusal(404, 'There is no such account.');
    return { success: true };
  }
}

const newToken = () => randomBytes(12).toString('base64url');
const page = (items: object[]) => ({ items, next_cursor: null, total_pages: 1, current_page: 1, total_items: items.length });

function toolkitOf(slug: string | null): Toolkit {
  const toolkit = TOOLKITS.find((one) => one.slug === slug);
  if (!toolkit) throw new Refusal(404, 'There is no such toolkit.');
  return toolkit;
}

function send(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
