import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { loadConfig } from '@aps/platform/config';
import { request } from 'undici';
import { isPublicAddress, urlOf } from './address';
import { Egress, type EgressOptions } from './egress';
import type { EgressPurpose } from './policy';

/** Counts who gets through to the inside of the house. */
class Canary {
  connections = 0;
  port = 0;
  private readonly servers: net.Server[] = [];

  async listen(): Promise<void> {
    for (const host of ['127.0.0.1', '::1']) {
      const server = net.createServer((socket) => {
        this.connections++;
        socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ninside');
      });
      const listening = await new Promise<boolean>((resolve) =>
        server.once('error', () => resolve(false)).listen(this.port, host, () => resolve(true)),
      );
      // A machine without IPv6 is no reason not to test the rest.
      if (!listening) continue;
      this.port = (server.address() as AddressInfo).port;
      this.servers.push(server);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((s) => new Promise((done) => s.close(done))));
  }
}

const NAMES: Record<string, string[]> = {
  'loopback.example': ['127.0.0.1'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'mixed6.example': ['2606:2800:220:1:248:1893:25c8:1946', '::1'],
  'private.example': ['10.1.2.3'],
  'metadata.example': ['169.254.169.254'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'zone.example': ['fe80::1%lo'],
  'nothing.example': [],
  'garbage.example': ['not an address'],
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1', '::1'],
  'foo.localhost': ['127.0.0.1'],
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'public.example': ['93.184.216.34'],
  // What a cloud's own resolver says, and what somebody's name says of it.
  'azure.example': ['168.63.129.16'],
  'mixed-azure.example': ['93.184.216.34', '168.63.129.16'],
  // Names of the inside, where the resolver gives them an address that looks public.
  ...Object.fromEntries(
    [
      'metadata.google.internal',
      'metadata.google.internal.',
      'instance-data',
      'instance-data.ec2.internal',
      'metadata',
      'metadata.goog',
      'metadata.tencentyun.com',
      'metadata.platformequinix.com',
      'kubernetes.default.svc.cluster.local',
      'printer.local',
      'router.lan',
      'host.docker.internal',
      'nas.home.arpa',
    ].map((name) => [name, ['93.184.216.34']]),
  ),
};

const resolve = async (name: string) => {
  const found = NAMES[name];
  if (!found) throw Object.assign(new Error(`ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  return found;
};

/** Hosts that lead inside, in every spelling. `P` is the canary's port. */
const HOSTILE_HOSTS = [
  // IPv4: dotted, short, dword, hex, octal, mixed, with a closing dot
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0.0.0x1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '127.0.0.1.',
  '2130706433.',
  '0',
  '0.0.0.0',
  '0x0',
  // other alphabets and dots, which URL parsing folds to ASCII
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  '１２７。１',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'LOCALHOST',
  'locaⓁhost',
  'loc\u00adalhost',
  // private, shared, link-local, metadata, documentation, multicast, reserved
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '169.254.169.254',
  '169.254.170.2',
  '0xa9fea9fe',
  '2852039166',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '192.31.196.1',
  '192.52.193.1',
  '192.175.48.1',
  '100.100.100.200',
  '168.63.129.16',
  '0xa83f8110',
  '2822734096',
  '168.63.33040',
  '１６８.６３.１２９.１６',
  '161.26.0.10',
  '166.9.48.1',
  '166.11.255.255',
  // IPv6: loopback, unspecified, mapped, compatible, NAT64, 6to4, Teredo, local, documentation, not given out
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '[::ffff:a9fe:a9fe]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[::ffff:168.63.129.16]',
  '[64:ff9b::a83f:8110]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '[5f00::1]',
  '[1::1]',
  '[4000::1]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[2620:4f:8000::1]',
  // names
  ...Object.keys(NAMES).filter((n) => n !== 'public.example'),
  'unknown.example',
  'Loopback.Example',
  'loopback.example.',
];

/** URLs that are refused for their form. */
const HOSTILE_URLS = [
  'http://public.example/',
  'http://127.0.0.1:P/',
  'ftp://public.example/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:P/_x',
  'data:text/plain,x',
  'javascript:1',
  'ws://public.example/',
  'blob:https://public.example/x',
  'unix:/var/run/docker.sock',
  'https://user@public.example/',
  'https://user:pass@public.example/',
  'https://:pass@public.example/',
  'https://public.example@127.0.0.1:P/',
  'https://public.example%40127.0.0.1:P/',
  'https://127.0.0.1:P\\@public.example/',
  'https://public.example:22/',
  'https://public.example:80/',
  'https://public.example:0/',
  'https://public.example:1023/',
  'https://public.example:25/',
  '',
  ' ',
  'public.example',
  '//public.example/',
  'https://',
  'https:///',
  'https://?',
  'https://.',
  'https://[::1',
  'https://[fe80::1%25lo]:P/',
  'https://a b/',
  'https://public.example:99999/',
  'https://256.256.256.256/',
  'https://8.8.8.8\\@127.0.0.1/',
  'https:\\\\public.example/',
  'https://public.example/a\\b',
  ' https://public.example/',
  'https://public.example/ ',
  'https://public.example/\n',
  'ht\ntps://public.example/',
  'https://public.exa\tmple/',
  'https://public.example/a b',
  'https://public.example/\u0000',
  'https://public.example/\u007f',
  'https://public.example/\u0085',
  'https://public.example/\u00a0',
  'https://public.example/\u2028',
  'https://1.2.3.4.5:P/',
];

const GUARDED: EgressPurpose[] = ['tool', 'source', 'hook', 'image', 'inference'];

describe('Egress', () => {
  const canary = new Canary();
  const made: Egress[] = [];

  function egress(options: EgressOptions = {}, env: NodeJS.ProcessEnv = {}): Egress {
    loadConfig(env);
    const e = new Egress({ resolve, ...options });
    made.push(e);
    return e;
  }

  beforeAll(() => canary.listen());
  beforeEach(() => (canary.connections = 0));
  afterEach(async () => {
    await Promise.all(made.splice(0).map((e) => e.onApplicationShutdown()));
    loadConfig({});
  });
  afterAll(() => canary.close());

  describe('lets nothing in', () => {
    const urls = [...HOSTILE_HOSTS.map((h) => `https://${h}:P/x`), ...HOSTILE_URLS].map((u) => u.replaceAll('P/', `PORT/`));

    it.each(urls)('%s', async (template) => {
      const url = template.replaceAll('PORT', String(canary.port));
      const e = egress();
      for (const purpose of GUARDED) {
        await expect(e.assertPublicUrl(url, { field: 'base_url', purpose })).rejects.toMatchObject({
          code: 'validation_error',
          problems: [{ loc: ['body', 'base_url'], type: 'value_error' }],
        });
        await expect(e.fetch(url, { purpose })).rejects.toMatchObject({ name: 'EgressError' });
      }
      expect(canary.connections).toBe(0);
    });

    it('through the bare dispatcher either, and not by names that only the system resolves', async () => {
      const e = egress({ resolve: undefined });
      const dispatcher = new Egress().dispatcherFor({ purpose: 'inference' });
      for (const host of ['127.0.0.1', '127.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'localhost.']) {
        for (const scheme of ['https', 'http']) {
          await expect(request(`${scheme}://${host}:${canary.port}/`, { dispatcher })).rejects.toMatchObject({ name: 'EgressError' });
          await expect(e.fetch(`${scheme}://${host}:${canary.port}/`, { purpose: 'tool' })).rejects.toMatchObject({ name: 'EgressError' });
        }
      }
      expect(canary.connections).toBe(0);
      await dispatcher.destroy();
    });

    it('by a proxy of the environment', async () => {
      const before = { ...process.env };
      Object.assign(process.env, {
        HTTPS_PROXY: `http://127.0.0.1:${canary.port}`,
        https_proxy: `http://127.0.0.1:${canary.port}`,
        ALL_PROXY: `http://127.0.0.1:${canary.port}`,
      });
      try {
        const dial = () => new net.Socket().destroy(new Error('unreachable'));
        await expect(egress({ dial }).fetch('https://public.example/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'connect' });
        expect(canary.connections).toBe(0);
      } finally {
        process.env = before;
      }
    });

    it('when a name changes its answer after the check', async () => {
      let asked = 0;
      const dialled: string[] = [];
      const flipping = async () => (asked++ === 0 ? ['93.184.216.34'] : ['127.0.0.1']);
      const e = egress({
        resolve: flipping,
        dial: (address) => {
          dialled.push(address);
          return new net.Socket().destroy(new Error('unreachable'));
        },
      });
      await expect(e.fetch('https://rebind.example/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'connect' });
      expect({ asked, dialled }).toEqual({ asked: 1, dialled: ['93.184.216.34'] });
      await expect(e.fetch('https://rebind.example/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'address' });
      expect(dialled).toHaveLength(1);
    });

    it('a byte where the connection arrived elsewhere than it was checked', async () => {
      const heard: Buffer[] = [];
      const inside = net.createServer((s) => s.on('data', (d) => heard.push(d)).on('error', () => undefined));
      await new Promise<void>((done) => inside.listen(0, '127.0.0.1', done));
      const { port } = inside.address() as AddressInfo;
      const e = egress({ dial: () => net.connect(port, '127.0.0.1') });
      await expect(e.fetch('https://public.example/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'address' });
      await new Promise((done) => inside.close(done));
      expect(heard).toHaveLength(0);
    });

    it('tells nothing of what a name resolved to', async () => {
      for (const name of ['private.example', 'metadata.example']) {
        await expect(egress().assertPublicUrl(`https://${name}/`, { field: ['servers', 0, 'url'] })).rejects.toMatchObject({
          message: 'The address is not on the public internet.',
          problems: [{ loc: ['body', 'servers', 0, 'url'] }],
        });
      }
    });
  });

  describe('addresses', () => {
    it.each([
      '168.63.129.15',
      '168.63.129.17',
      '161.25.0.1',
      '161.27.0.1',
      '166.7.255.255',
      '166.12.0.1',
      '1.1.1.1',
      '93.184.216.34',
      '172.15.0.1',
      '172.32.0.1',
      '100.63.0.1',
      '100.128.0.1',
      '::ffff:8.8.8.8',
      '2606:4700:4700::1111',
      '2a00:1450:4001:81b::200e',
    ])('%s is public', (a) => {
      expect(isPublicAddress(a)).toBe(true);
    });
    it.each(['2606:4700:4700::1111%eth0', '127.0.0.1', '::1', '', 'localhost', '1.1.1.1:80', '1.1.1.1 '])('%p is not', (a) => {
      expect(isPublicAddress(a)).toBe(false);
    });
  });

  it('reads addresses with letters beyond ASCII however often they come', () => {
    // As it comes out of a body; the compiler takes hold after some thousand times.
    const [written] = JSON.parse('["https://b\u00fccher.example/\u00e4"]') as string[];
    const read = Array.from({ length: 20_000 }, () => urlOf(written)?.host);
    expect(new Set(read)).toEqual(new Set(['xn--bcher-kva.example']));
  });

  it('accepts public URLs, on port 443 and high ones', async () => {
    for (const url of [
      'https://public.example/v1?x=1',
      'https://public.example:8443/',
      'https://PUBLIC.example:443/',
      'https://93.184.216.34/',
      'https://[2606:4700:4700::1111]/',
    ]) {
      for (const purpose of GUARDED) await expect(egress().assertPublicUrl(url, { field: 'url', purpose })).resolves.toBeInstanceOf(URL);
    }
  });

  describe('with a server the operator vouched for', () => {
    let server: http.Server;
    let port: number;
    let seen: { method?: string; url?: string; headers: http.IncomingHttpHeaders; body: string }[];
    let answer: (req: http.IncomingMessage, res: http.ServerResponse) => void;
    const allow = (...ports: number[]) => ({ EGRESS_ALLOW: ports.map((p) => `localhost:${p},127.0.0.1:${p}`).join(' , ') });

    beforeEach(async () => {
      seen = [];
      server = http.createServer((req, res) => {
        let body = '';
        req.on('data', (d) => (body += d));
        req.on('end', () => {
          seen.push({ method: req.method, url: req.url, headers: req.headers, body });
          answer(req, res);
        });
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      ({ port } = server.address() as AddressInfo);
      answer = (_req, res) => res.end('ok');
    });
    afterEach(async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    });

    it('reaches it for tools, and never for inference', async () => {
      const e = egress({}, allow(port));
      const url = `http://localhost:${port}/a?b`;
      await expect(e.assertPublicUrl(url, { field: 'url' })).resolves.toBeInstanceOf(URL);
      const response = await e.fetch(url, {
        purpose: 'tool',
        method: 'POST',
        body: 'hi',
        headers: { 'X-Key': 'k', Host: 'evil', Connection: 'close' },
      });
      expect({ ...response, body: String(response.body) }).toMatchObject({ status: 200, body: 'ok', url });
      expect(seen[0]).toMatchObject({ method: 'POST', url: '/a?b', body: 'hi', headers: { 'x-key': 'k', host: `localhost:${port}` } });

      await expect(e.assertPublicUrl(url, { field: 'url', purpose: 'inference' })).rejects.toMatchObject({ code: 'validation_error' });
      await expect(e.fetch(url, { purpose: 'inference' })).rejects.toMatchObject({ reason: 'scheme' });
      await expect(e.fetch(url.replace('http', 'https'), { purpose: 'inference' })).rejects.toMatchObject({ reason: 'address' });
      // Another name of the same place was not vouched for, and neither was another port.
      await expect(e.fetch(`http://loopback.example:${port}/`, { purpose: 'tool' })).rejects.toMatchObject({ reason: 'scheme' });
      await expect(e.fetch(`https://localhost:${canary.port}/`, { purpose: 'tool' })).rejects.toMatchObject({ reason: 'address' });
      expect(seen).toHaveLength(1);
    });

    it('reaches operators’ own addresses for platform purposes', async () => {
      const dispatcher = egress().dispatcherFor({ purpose: 'platform' });
      const { statusCode, body } = await request(`http://127.0.0.1:${port}/`, { dispatcher });
      expect([statusCode, await body.text()]).toEqual([200, 'ok']);
    });

    it.each([
      'https://127.0.0.1:CANARY/',
      'http://127.0.0.1:CANARY/',
      'https://[::1]:CANARY/',
      'https://loopback.example:CANARY/',
      '//2130706433:CANARY/',
      'http://user:pass@localhost:PORT/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:CANARY/',
      'https://',
    ])('follows no redirect to %s', async (target) => {
      answer = (_req, res) =>
        res.writeHead(302, { location: target.replace('CANARY', String(canary.port)).replace('PORT', String(port)) }).end();
      await expect(egress({}, allow(port)).fetch(`http://localhost:${port}/`, { purpose: 'tool' })).rejects.toMatchObject({
        name: 'EgressError',
        refused: true,
      });
      expect(canary.connections).toBe(0);
      expect(seen).toHaveLength(1);
    });

    it('follows three redirects and no fourth', async () => {
      answer = (req, res) => {
        const n = Number(req.url!.slice(1));
        if (n === 0) res.end('there');
        else res.writeHead(302, { location: `/${n - 1}` }).end('x'.repeat(100));
      };
      const e = egress({}, allow(port));
      await expect(e.fetch(`http://localhost:${port}/3`, { purpose: 'tool' })).resolves.toMatchObject({
        status: 200,
        url: `http://localhost:${port}/0`,
      });
      await expect(e.fetch(`http://localhost:${port}/4`, { purpose: 'tool' })).rejects.toMatchObject({ reason: 'redirect' });
      await expect(e.fetch(`http://localhost:${port}/9`, { purpose: 'tool', maxRedirects: 50 })).rejects.toMatchObject({
        reason: 'redirect',
      });
      await expect(e.fetch(`http://localhost:${port}/1`, { purpose: 'tool', maxRedirects: 0 })).rejects.toMatchObject({
        reason: 'redirect',
      });
    });

    it('keeps credentials from another origin, and bodies too', async () => {
      answer = (req, res) => {
        const to = { '/same': '/end', '/other': `http://127.0.0.1:${port}/end`, '/other307': `http://127.0.0.1:${port}/end` }[req.url!];
        if (to) res.writeHead(req.url!.endsWith('307') ? 307 : 302, { location: to }).end();
        else res.end('end');
      };
      const e = egress({}, allow(port));
      const init = {
        purpose: 'tool' as const,
        headers: { Authorization: 'Bearer s', Cookie: 'c=1', 'X-Api-Key': 'k', 'X-Whatever-Secret': 'w', Accept: 'text/plain' },
      };
      await e.fetch(`http://localhost:${port}/same`, init);
      expect(seen[1].headers).toMatchObject({ authorization: 'Bearer s', 'x-api-key': 'k' });
      await e.fetch(`http://localhost:${port}/other`, init);
      expect(seen[3].headers).toEqual({
        host: `127.0.0.1:${port}`,
        connection: 'keep-alive',
        accept: 'text/plain',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'agent-platform',
      });
      await expect(e.fetch(`http://localhost:${port}/other307`, { ...init, method: 'POST', body: 'secret' })).rejects.toMatchObject({
        reason: 'redirect',
      });
      await e.fetch(`http://localhost:${port}/other`, { ...init, method: 'POST', body: 'secret' });
      expect(seen.at(-1)).toMatchObject({ method: 'GET', body: '' });
    });

    it('says who asks, where the caller does not', async () => {
      const e = egress({}, allow(port));
      const url = `http://localhost:${port}/`;
      for (const headers of [undefined, { 'User-Agent': 'mine' }]) {
        await e.fetch(url, { purpose: 'source', headers });
        await e.fetchFor({ purpose: 'tool', maxBytes: 1_000 })(url, { headers });
      }
      expect(seen.map(({ headers }) => headers['user-agent'])).toEqual(['agent-platform', 'agent-platform', 'mine', 'mine']);
    });

    it('caps size, growth and kinds of encoding', async () => {
      const e = egress({}, { ...allow(port), EGRESS_MAX_BYTES: '4000000' });
      const get = (maxBytes?: number) => e.fetch(`http://localhost:${port}/`, { purpose: 'source', maxBytes });
      const send = (body: Buffer, encoding?: string, declare = true) => {
        answer = (_req, res) =>
          res
            .writeHead(200, { ...(encoding && { 'content-encoding': encoding }), ...(declare && { 'content-length': body.length }) })
            .end(body);
      };
      send(gzipSync('hello'), 'gzip');
      expect(String((await get()).body)).toBe('hello');
      send(Buffer.alloc(1001));
      await expect(get(1000)).rejects.toMatchObject({ reason: 'too_large' });
      send(Buffer.alloc(1001), undefined, false);
      await expect(get(1000)).rejects.toMatchObject({ reason: 'too_large' });
      send(Buffer.alloc(4_000_001), undefined, false);
      await expect(get()).rejects.toMatchObject({ reason: 'too_large' });
      send(gzipSync(Buffer.alloc(5_000)), 'gzip');
      await expect(get(1000)).rejects.toMatchObject({ reason: 'too_large' });
      send(gzipSync(Buffer.alloc(3_900_000)), 'gzip');
      await expect(get()).rejects.toMatchObject({ reason: 'too_large', message: expect.stringContaining('decompressed') });
      send(gzipSync(gzipSync('x')), 'gzip, gzip');
      await expect(get()).rejects.toMatchObject({ reason: 'encoding' });
      send(Buffer.from('not gzip'), 'gzip');
      await expect(get()).rejects.toMatchObject({ reason: 'encoding' });
    });

    describe('as a fetch for libraries', () => {
      const url = () => `http://localhost:${port}/a`;
      const fetchOf = (maxBytes = 1_000) => egress({}, allow(port)).fetchFor({ purpose: 'tool', maxBytes });

      it('hands answers on as they arrive', async () => {
        let more = (): void => undefined;
        answer = (_req, res) => {
          res.writeHead(201, { 'x-a': ['1', '2'] }).write('first ');
          more = () => res.end('second');
        };
        const response = await fetchOf()(url(), { method: 'POST', body: 'hi', headers: { 'X-Key': 'k', Host: 'evil' } });
        expect([response.status, response.headers.get('x-a')]).toEqual([201, '1, 2']);
        expect(seen[0]).toMatchObject({ method: 'POST', body: 'hi', headers: { 'x-key': 'k', host: `localhost:${port}` } });
        const reader = response.body!.getReader();
        expect(String(Buffer.from((await reader.read()).value!))).toBe('first ');
        more();
        expect(String(Buffer.from((await reader.read()).value!))).toBe('second');
        answer = (_req, res) => res.writeHead(204).end();
        expect((await fetchOf()(url())).body).toBeNull();
      });

      it('refuses what it may not reach, redirects, and more than it may take in all', async () => {
        await expect(fetchOf()(`https://localhost:${canary.port}/`)).rejects.toMatchObject({ reason: 'address' });
        await expect(fetchOf()('http://user:pass@localhost/')).rejects.toMatchObject({ reason: 'userinfo' });
        answer = (_req, res) => res.writeHead(307, { location: '/b' }).end();
        await expect(fetchOf()(url(), { redirect: 'follow' })).rejects.toMatchObject({ reason: 'redirect' });
        answer = (_req, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'));
        await expect(fetchOf()(url())).rejects.toMatchObject({ reason: 'encoding' });
        answer = (_req, res) => res.end('x'.repeat(600));
        const twice = fetchOf(1_000);
        await (await twice(url())).text();
        await expect((await twice(url())).text()).rejects.toMatchObject({ reason: 'too_large' });
      });

      it('ends with its signal, and says so of a body that ends too early', async () => {
        const giveUp = new AbortController();
        answer = (_req, res) => res.writeHead(200).write('a');
        const response = await fetchOf()(url(), { signal: giveUp.signal });
        giveUp.abort(new Error('given up'));
        await expect(response.text()).rejects.toThrow('given up');
        answer = (_req, res) => res.writeHead(200, { 'content-length': 10 }).write('a', () => res.destroy());
        await expect((await fetchOf()(url())).text()).rejects.toMatchObject({ reason: 'network' });
      });
    });

    it('ends what takes too long, and what the caller gives up', async () => {
      answer = () => undefined;
      const e = egress({}, allow(port));
      await expect(e.fetch(`http://localhost:${port}/`, { purpose: 'tool', timeoutMs: 50 })).rejects.toMatchObject({ reason: 'timeout' });
      answer = (_req, res) => res.writeHead(200).write('a');
      await expect(e.fetch(`http://localhost:${port}/`, { purpose: 'tool', timeoutMs: 50 })).rejects.toMatchObject({ reason: 'timeout' });
      const giveUp = new AbortController();
      answer = () => giveUp.abort(new Error('given up'));
      await expect(e.fetch(`http://localhost:${port}/`, { purpose: 'tool', signal: giveUp.signal })).rejects.toThrow('given up');
      answer = (_req, res) => void res.socket?.destroy();
      await expect(e.fetch(`http://localhost:${port}/`, { purpose: 'tool' })).rejects.toMatchObject({ reason: 'network', refused: false });
      const silent = egress({ resolve: () => new Promise(() => undefined) }, { EGRESS_CONNECT_TIMEOUT_MS: '100' });
      await expect(silent.fetch('https://public.example/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'timeout' });
      await expect(silent.assertPublicUrl('https://public.example/', { field: 'url' })).rejects.toMatchObject({ code: 'validation_error' });
    });
  });

  it.each(['localhost', 'localhost:99999', ':80', 'a:b', 'http://a:80', 'user@a:80', 'a b:80'])('refuses %p in EGRESS_ALLOW', (bad) => {
    expect(() => loadConfig({ EGRESS_ALLOW: bad })).toThrow('EGRESS_ALLOW');
  });
});
