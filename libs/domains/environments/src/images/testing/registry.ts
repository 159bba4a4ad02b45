import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const OCI = 'application/vnd.oci.image';

/** How it behaves; may be changed at any time. */
export interface RegistrySwitches {
  /** Whether it wants a token, which its realm gives to everybody. */
  auth: boolean;
  /** Where it sends for tokens; null: to itself. */
  realm: string | null;
  /** Status of whoever asks for a token. */
  tokenStatus: number;
  /** Does whatever else it should do with a request; true where it has answered. */
  before: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** Where blobs lie; null: here. */
  blobs: string | null;
}

export interface TestRegistry extends RegistrySwitches {
  /** `127.0.0.1:port`. Vouch for it by `EGRESS_ALLOW`, and name it in `CUSTOM_IMAGE_REGISTRIES`. */
  host: string;
  /** Method, path and query of the requests that have come, and what they brought as authorization. */
  seen: { url: string; authorization?: string }[];
  /** Has an image under `repository:tag`; returns the digest that pins it. */
  put(name: string, image?: TestImage): string;
  /** Has these bytes under a reference, whatever they are. */
  putDocument(name: string, body: string | Buffer, contentType: string): string;
  close(): Promise<void>;
}

export interface TestImage {
  /** `os/architecture` of each image; more than one are in an index. Default: linux/amd64. */
  platforms?: string[];
  /** Whether one is in an index, too. */
  index?: boolean;
  /** Bytes that its layers have together. */
  layers?: number;
  /** What its configuration says of how it is run, as JSON. */
  config?: string;
}

/** A registry on a real socket, over http. It has descriptions of images, and none of their layers. */
export async function startRegistry(switches: Partial<RegistrySwitches> = {}): Promise<TestRegistry> {
  const documents = new Map<string, { body: Buffer; contentType: string }>();
  const blobs = new Map<string, Buffer>();

  const it: TestRegistry = {
    ...{ auth: false, realm: null, tokenStatus: 200, before: () => false, blobs: null, ...switches },
    host: '',
    seen: [],
    put(name, { platforms = ['linux/amd64'], index = platforms.length > 1, layers = 1_000, config: run = '{}' } = {}) {
      const [repository] = name.split(':');
      const manifests = platforms.map((platform) => {
        const [os, architecture] = platform.split('/');
        const said = JSON.stringify({ os, architecture, rootfs: { type: 'layers', diff_ids: [] } });
        const config = Buffer.from(`${said.slice(0, -1)},"config":${run}}`);
        blobs.set(digestOf(config), config);
        const body = JSON.stringify({
          schemaVersion: 2,
          mediaType: `${OCI}.manifest.v1+json`,
          config: { mediaType: `${OCI}.config.v1+json`, digest: digestOf(config), size: config.length },
          layers: [{ mediaType: `${OCI}.layer.v1.tar+gzip`, digest: digestOf(Buffer.from(platform)), size: layers }],
        });
        const digest = it.putDocument(index ? repository : name, body, `${OCI}.manifest.v1+json`);
        return { mediaType: `${OCI}.manifest.v1+json`, digest, size: body.length, platform: { os, architecture } };
      });
      if (!index) return manifests[0].digest;
      const body = JSON.stringify({ schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests });
      return it.putDocument(name, body, `${OCI}.index.v1+json`);
    },
    putDocument(name, body, contentType) {
      const [repository, tag] = name.split(':');
      const document = { body: Buffer.from(body), contentType };
      const digest = digestOf(document.body);
      for (const reference of [digest, ...(tag ? [tag] : [])]) documents.set(`${repository}/manifests/${reference}`, document);
      return digest;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };

  const server = createServer((req, res) => {
    const { authorization } = req.headers;
    it.seen.push({ url: req.url!, ...(authorization && { authorization }) });
    if (it.before(req, res)) return;
    const { pathname, searchParams } = new URL(req.url!, `http://${it.host}`);
    if (pathname === '/token') return void res.writeHead(it.tokenStatus).end(JSON.stringify({ token: `for-${searchParams.get('scope')}` }));
    const [, repository, kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
    const scope = `repository:${repository}:pull`;
    if (it.auth && authorization !== `Bearer for-${scope}`) {
      const realm = it.realm ?? `http://${it.host}/token`;
      return void res.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="test",scope="${scope}"` }).end();
    }
    if (kind === 'blobs' && it.blobs) return void res.writeHead(307, { location: `${it.blobs}/${reference}` }).end();
    const document = documents.get(`${repository}/manifests/${reference}`);
    const blob = blobs.get(reference);
    if (kind === 'manifests' && document)
      res.writeHead(200, { 'content-type': document.contentType, 'docker-content-digest': digestOf(document.body) }).end(document.body);
    else if (kind === 'blobs' && blob) res.writeHead(200).end(blob);
    else res.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  it.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return it;
}

const digestOf = (body: Buffer): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;
