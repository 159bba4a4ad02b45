import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '@aps/platform/config';
import { Egress } from '@aps/platform/egress';
import { readReference, type ImageReference } from './image-reference.policy';
import { ImageRegistry } from './image-registry';
import { startRegistry, type TestRegistry } from './testing/registry';
import { tokenAddress } from './registry-token';

let registry: TestRegistry;
/** Another one, which an operator vouches for as well. */
let other: Server;
let seenElsewhere: string[];
let elsewhere: string;
let egress: Egress;

beforeAll(async () => {
  other = createServer((req, res) => {
    seenElsewhere.push(req.headers.authorization ?? 'nobody');
    res.end('{"token":"stolen"}');
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  seenElsewhere = [];
  registry = await startRegistry();
  begin();
});
afterEach(async () => {
  await egress.onApplicationShutdown();
  await registry.close();
});
afterAll(() => new Promise((done) => other.close(done)));

/** @param patience for how long it waits for answers, in milliseconds */
function begin(patience = '30000') {
  loadConfig({
    EGRESS_ALLOW: `${registry.host},${elsewhere.slice('http://'.length)}`,
    EGRESS_HEADERS_TIMEOUT_MS: patience,
    EGRESS_CONNECT_TIMEOUT_MS: '30000',
  });
  egress = new Egress();
}
const never = new AbortController().signal;
const referenceTo = (name: string): ImageReference =>
  (readReference(`${registry.host}/${name}`) as { reference: ImageReference }).reference;
const resolve = (name: string, signal = never) => new ImageRegistry(egress).resolve(referenceTo(name), signal);
const answering = (status: number, headers = {}) => (registry.before = (_, res) => !!res.writeHead(status, headers).end());

describe('an image', () => {
  it.each([
    ['with a token that everybody gets', true],
    ['without one', false],
  ])('is found by its tag and by its digest, %s', async (_, auth) => {
    registry.auth = auth;
    const digest = registry.put('team/shell:1', { layers: 5_000 });
    const found = await resolve('team/shell:1');
    expect(found).toMatchObject({ digest, platform: 'linux/amd64' });
    expect(found.sizeBytes).toBeGreaterThan(5_000);
    expect(await resolve(`team/shell:gone@${digest}`)).toEqual(found);
    expect(registry.seen.filter(({ url }) => url.startsWith('/token')).map(({ url }) => url)).toEqual(
      auth ? Array(2).fill('/token?service=test&scope=repository%3Ateam%2Fshell%3Apull') : [],
    );
  });

  it('is pinned by its index, and measured by what the index has for the platform', async () => {
    const digest = registry.put('shell:latest', { platforms: ['linux/arm64', 'linux/amd64'], layers: 7_000 });
    const found = await resolve('shell');
    expect(found.digest).toBe(digest);
    expect(found.sizeBytes).toBeLessThan(8_000);
  });

  it.each([
    ['of a manifest', { platforms: ['windows/amd64'] }, 'windows/amd64'],
    ['of an index', { platforms: ['linux/arm64', 'linux/s390x'] }, 'not made for linux/amd64'],
  ])('for another platform is none, %s', async (_, image, message) => {
    registry.put('shell:1', image);
    await expect(resolve('shell:1')).rejects.toMatchObject({ check: 'platform', message: expect.stringContaining(message) });
  });

  it.each([
    ['', '{"Volumes":{"/data":{}}}'],
    [' in another case', '{"volume\\u017f" : { "/data":{}}}'],
    [' beside others of the same name', '{"Volumes":{"/data":{}},"Volumes":null}'],
    [' before there are none', '{"Volumes":{"/data":{}}},"config":{"Cmd":["\\"Volumes\\":"]}'],
  ])('that declares volumes%s is none', async (_, config) => {
    registry.put('shell:1', { config });
    await expect(resolve('shell:1')).rejects.toMatchObject({ check: 'manifest', message: expect.stringContaining('volumes') });
  });

  it.each(['{"Volumes":null}', '{"Volumes":{ }}', '{"Cmd":["{\\"Volumes\\":{\\"/data\\":{}}}","Volumes"],"Labels":{"volumes":"none"}}'])(
    'may have none: %s',
    async (config) => {
      const digest = registry.put('shell:1', { config });
      expect(await resolve('shell:1')).toMatchObject({ digest });
    },
  );

  it('is no document that can be read in two ways', async () => {
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    registry.putDocument('shell:1', JSON.stringify({ mediaType, manifests: [], layers: [], config: {} }), mediaType);
    await expect(resolve('shell:1')).rejects.toMatchObject({ check: 'manifest' });
  });

  it('is not what a digest does not say', async () => {
    const digest = registry.put('shell:1', { index: true });
    const lie = (path: RegExp, body: string) =>
      (registry.before = (req, res: ServerResponse) => path.test(req.url!) && !!res.writeHead(200, { 'content-type': TYPE }).end(body));
    const TYPE = 'application/vnd.oci.image.manifest.v1+json';
    const wrong = { check: 'manifest', message: expect.stringContaining('digest') };
    lie(/blobs/, '{"os":"linux","architecture":"amd64"}');
    await expect(resolve('shell:1')).rejects.toMatchObject(wrong);
    lie(new RegExp(`manifests/(?!1|${digest})`), '{}');
    await expect(resolve('shell:1')).rejects.toMatchObject(wrong);
    lie(/manifests/, '{}');
    await expect(resolve(`shell@${digest}`)).rejects.toMatchObject(wrong);
    answering(200, { 'docker-content-digest': digest });
    await expect(resolve('shell:1')).rejects.toMatchObject(wrong);
  });

  it('has a description of a bounded size', async () => {
    registry.putDocument('huge:1', Buffer.alloc(4 * 1024 * 1024 + 1, ' '), 'application/vnd.oci.image.manifest.v1+json');
    await expect(resolve('huge:1')).rejects.toMatchObject({ check: 'manifest', message: expect.stringContaining('too large') });
  });
});

describe('a token', () => {
  beforeEach(() => {
    registry.auth = true;
    registry.put('shell:1');
  });

  it.each([
    ['an address of a cloud’s own', () => 'http://169.254.169.254/latest'],
    ['such a one with https', () => 'https://169.254.169.254/latest'],
    ['another place over http, though somebody vouches for it', () => `${elsewhere}/token`],
    ['nowhere', () => 'token'],
  ])('is not fetched from %s', async (_, realm) => {
    registry.realm = realm();
    await expect(resolve('shell:1')).rejects.toMatchObject({ check: 'registry' });
    expect([seenElsewhere, registry.seen.length]).toEqual([[], 1]);
  });

  it('stays with the registry, wherever the blobs are', async () => {
    registry.blobs = elsewhere;
    await expect(resolve('shell:1')).rejects.toMatchObject({ check: 'manifest' });
    expect(seenElsewhere).toEqual(['nobody']);
  });

  it('that is not given out, or does not help, makes the image one that is not public', async () => {
    const denied = { check: 'manifest', message: expect.stringContaining('must be public') };
    registry.tokenStatus = 403;
    await expect(resolve('shell:1')).rejects.toMatchObject(denied);
    registry.tokenStatus = 200;
    registry.before = (req, res) => !req.url!.startsWith('/token') && !!res.writeHead(401, { 'www-authenticate': 'Basic' }).end();
    await expect(resolve('shell:1')).rejects.toMatchObject(denied);
    registry.seen = [];
    const challenge = `Basic realm="x", Bearer realm="http://${registry.host}/token"`;
    registry.before = (req, res) => !req.url!.startsWith('/token') && !!res.writeHead(401, { 'www-authenticate': challenge }).end();
    await expect(resolve('shell:1')).rejects.toMatchObject(denied);
    expect(registry.seen).toHaveLength(3);
  });
});

describe('a registry', () => {
  it('that says one endless word where it sends for a token is read to its end', () => {
    expect(() => tokenAddress(`Bearer ${'a'.repeat(1_000_000)}`, 'https://a.example', 'shell')).toThrow('an address that is not asked');
  });

  it.each([
    [404, 'manifest', 'no such image'],
    [429, 'registry', 'too many requests'],
    [500, 'registry', 'status 500'],
  ])('that answers %d is told of', async (status, check, message) => {
    answering(status);
    await expect(resolve('shell:1')).rejects.toMatchObject({ check, message: expect.stringContaining(message) });
  });

  it('is not followed elsewhere for a manifest', async () => {
    answering(307, { location: elsewhere });
    await expect(resolve('shell:1')).rejects.toMatchObject({ check: 'registry' });
    expect(seenElsewhere).toEqual([]);
  });

  it('that keeps silent is given up, and so is one where the caller gives up', async () => {
    await egress.onApplicationShutdown();
    begin('300');
    registry.before = () => true;
    await expect(resolve('shell:1')).rejects.toMatchObject({ check: 'registry', message: 'The registry does not answer.' });
    const cut = new AbortController();
    registry.before = () => (cut.abort(new Error('enough')), true);
    await expect(resolve('shell:1', cut.signal)).rejects.toThrow('enough');
  });

  it('is not asked over http, or within the house, where nobody vouches for it', async () => {
    loadConfig({});
    const inside = new ImageRegistry(new Egress());
    await expect(inside.resolve(referenceTo('shell:1'), never)).rejects.toMatchObject({
      check: 'registry',
      message: expect.not.stringContaining('127'),
    });
    expect(registry.seen).toEqual([]);
  });
});
