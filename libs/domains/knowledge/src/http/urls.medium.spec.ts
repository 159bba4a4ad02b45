import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { KnowledgeService, type TestBase } from '../testing';

/** What stands at a path, answer by answer; the last one stays. */
type Page = { status?: number; headers?: Record<string, string>; body?: string }[];

class SiteService extends KnowledgeService {
  readonly pages: Record<string, Page> = {};
  readonly asked: string[] = [];
  private readonly site = http.createServer((request, response) => {
    this.asked.push(request.url!);
    const page = this.pages[request.url!] ?? [{ status: 404 }];
    const { status = 200, headers = {}, body = '' } = page.length > 1 ? page.shift()! : page[0];
    response.writeHead(status, headers).end(body);
  });

  protected override async prepare(): Promise<void> {
    await new Promise<void>((listening) => this.site.listen(0, '127.0.0.1', listening));
    this.configure({ EGRESS_ALLOW: new URL(this.siteUrl).host });
  }

  override async close(): Promise<void> {
    await super.close();
    this.site.close();
  }

  get siteUrl(): string {
    return `http://127.0.0.1:${(this.site.address() as AddressInfo).port}`;
  }
}

const t = new SiteService();
beforeAll(() => t.start());
afterAll(() => t.close());
const add = (base: TestBase, url: string) => t.asMember(base, 'POST', '/sources/url', { url });
const HTML = { 'content-type': 'text/html' };

describe('addresses', () => {
  it('are read, and called as the page calls itself from then on', async () => {
    const base = await t.base();
    t.pages['/book?x=1'] = [
      { headers: HTML, body: '<html><head><title>The book</title></head><body><p>Thirty days of holidays.</p></body></html>' },
    ];
    const url = `${t.siteUrl}/book?x=1`;
    const { status, body } = await add(base, url);
    expect([status, body]).toMatchObject([201, { kind: 'url', url, title: url, status: 'PENDING', size_bytes: null, media_type: null }]);
    expect(await t.settled(base, body.id)).toMatchObject({
      status: 'READY',
      url,
      title: 'The book',
      media_type: 'text/html',
      chunk_count: 1,
    });
    expect((await t.chunks(base, body.id))[0]).toContain('Thirty days');
    // What stands there now is found from the next time on; what it is called stays.
    t.pages['/book?x=1'] = [{ headers: HTML, body: '<title>Another</title><p>Forty days.</p>' }];
    await t.asMember(base, 'POST', `/sources/${body.id}/resync`);
    expect(await t.settled(base, body.id)).toMatchObject({ title: 'The book', attempts: 1 });
    expect((await t.chunks(base, body.id))[0]).toContain('Forty days');
    t.pages['/book?x=1'] = [{ status: 410 }];
    await t.asMember(base, 'POST', `/sources/${body.id}/resync`);
    expect(await t.settled(base, body.id)).toMatchObject({
      status: 'FAILED',
      chunk_count: 1,
      error: { code: 'fetch_failed', stage: 'fetch' },
    });
    const diagnosis = await t.asMember(base, 'GET', `/sources/${body.id}/diagnosis`);
    expect([diagnosis.status, diagnosis.body]).toEqual([
      200,
      {
        ...{ state: 'FAILED', blocked_by: { kind: 'fault', since: expect.any(String), ref: 'fetch_failed' }, lease: null, queue: null },
        ...{ next_action: 'resync', allowed_actions: ['resync', 'delete'] },
      },
    ]);
  });

  it.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://user@example.com/',
    'https://localhost:8443/',
    'nowhere',
    'https://example.com:22/',
  ])('as %s are refused when they are saved', async (url) => {
    const { status, body } = await add(await t.base(), url);
    expect([status, body.code, body.detail[0].loc]).toEqual([422, 'address_refused', ['body', 'url']]);
  });

  it('are tried three times where the server may come to itself', async () => {
    const base = await t.base();
    t.pages['/busy'] = [{ status: 503 }, { status: 429 }, { body: 'Words.', headers: { 'content-type': 'text/plain' } }];
    t.pages['/down'] = [{ status: 500 }];
    const [busy, down, gone] = await Promise.all(
      ['/busy', '/down', '/gone'].map(async (path) => (await add(base, t.siteUrl + path)).body.id),
    );
    expect((await t.settled(base, busy)).status).toBe('READY');
    for (const id of [down, gone]) expect((await t.settled(base, id)).error.code).toBe('fetch_failed');
    expect(['/busy', '/down', '/gone'].map((path) => t.asked.filter((asked) => asked === path).length)).toEqual([3, 3, 1]);
  });

  it('that lead where nobody may go, or to too much, are not followed', async () => {
    const base = await t.base();
    t.pages['/inside'] = [{ status: 302, headers: { location: 'http://169.254.169.254/latest' } }];
    t.pages['/round'] = [{ status: 302, headers: { location: '/round' } }];
    t.pages['/large'] = [{ body: 'x'.repeat(10 * 1024 * 1024 + 1) }];
    const codes = ['/inside', '/round', '/large'].map(async (path) => {
      const { id } = (await add(base, t.siteUrl + path)).body;
      return (await t.settled(base, id)).error.code as string;
    });
    expect(await Promise.all(codes)).toEqual(['fetch_refused', 'fetch_failed', 'too_large']);
  });
});
