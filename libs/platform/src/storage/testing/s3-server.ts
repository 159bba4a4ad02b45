import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const ACCESS_KEY = 'test-access-key';
const SECRET_KEY = 'test-secret-key';
const REGION = 'eu-test-1';
const BUCKET = 'files';
/** Amazon refuses a part, other than the last, that is smaller. */
const MIN_PART = 5 * 1024 * 1024;

export interface TestS3 {
  options: {
    endpoint: string;
    region: string;
    bucket: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
    pathStyle: true;
  };
  objects: Map<string, Buffer>;
  /** Uploads in parts that are neither completed nor aborted. */
  readonly openUploads: number;
  /** `PUT`, `POST ?uploads` and the like, in their order. */
  readonly requests: string[];
  /** Answers the next requests of this method 500. */
  failNext(method: string, times: number): void;
  close(): Promise<void>;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(code);
  }
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
const hmac = (key: Buffer | string, data: string) => createHmac('sha256', key).update(data).digest();
/** As the signature wants names and values: everything but unreserved characters. */
const encode = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Recomputes the version 4 signature of a request from what came over the wire. */
function verifySignature(req: http.IncomingMessage, url: URL, body: Buffer): void {
  const [, credential, signedHeaders, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(req.headers.authorization ?? '') ?? [];
  if (!credential) throw new Refusal(403, 'AccessDenied');
  const [key, day, region, service, end] = credential.split('/');
  if (key !== ACCESS_KEY) throw new Refusal(403, 'InvalidAccessKeyId');
  const at = String(req.headers['x-amz-date']);
  if (region !== REGION || service !== 's3' || end !== 'aws4_request' || !at.startsWith(day))
    throw new Refusal(403, 'AuthorizationHeaderMalformed');
  const names = signedHeaders.split(';');
  for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date']) if (!names.includes(name)) throw new Refusal(403, 'AccessDenied');
  for (const name of Object.keys(req.headers))
    if (name.startsWith('x-amz-') && !names.includes(name)) throw new Refusal(403, 'AccessDenied');
  const claimed = String(req.headers['x-amz-content-sha256']);
  if (claimed !== 'UNSIGNED-PAYLOAD' && claimed !== sha256(body)) throw new Refusal(400, 'XAmzContentSHA256Mismatch');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const headers = names.map((name) => `${name}:${String(req.headers[name]).trim().replace(/ +/g, ' ')}\n`).join('');
  const path = decodeURIComponent(url.pathname).split('/').map(encode).join('/');
  const canonical = [req.method, path, query, headers, signedHeaders, claimed].join('\n');
  const scope = [day, region, service, end].join('/');
  const signingKey = [day, region, service, end].reduce<Buffer | string>((k, part) => hmac(k, part), `AWS4${SECRET_KEY}`);
  const expected = hmac(signingKey, ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n'));
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) throw new Refusal(403, 'SignatureDoesNotMatch');
}

/** A server with one bucket that speaks as much of the S3 protocol as a storage of files needs, and refuses what S3 would refuse. */
export async function startTestS3(): Promise<TestS3> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, { key: string; parts: Map<number, Buffer> }>();
  const requests: string[] = [];
  const failures = new Map<string, number>();

  const answer = (
    req: http.IncomingMessage,
    url: URL,
    body: Buffer,
  ): { status: number; headers?: Record<string, string>; body?: Buffer | string } => {
    requests.push(`${req.method}${url.searchParams.has('uploads') ? ' ?uploads' : url.searchParams.has('partNumber') ? ' part' : ''}`);
    const failing = failures.get(req.method!) ?? 0;
    if (failing > 0) {
      failures.set(req.method!, failing - 1);
      throw new Refusal(500, 'InternalError');
    }
    verifySignature(req, url, body);
    const [bucket, ...rest] = decodeURIComponent(url.pathname).slice(1).split('/');
    const key = rest.join('/');
    if (bucket !== BUCKET) throw new Refusal(404, 'NoSuchBucket');
    const uploadId = url.searchParams.get('uploadId');
    const upload = uploadId === null ? undefined : uploads.get(uploadId);
    if (uploadId !== null && upload?.key !== key) throw new Refusal(404, 'NoSuchUpload');
    switch (req.method) {
      case 'PUT': {
        if (Number(req.headers['content-length']) !== body.length) throw new Refusal(411, 'MissingContentLength');
        if (upload) upload.parts.set(Number(url.searchParams.get('partNumber')), body);
        else objects.set(key, body);
        return { status: 200, headers: { ETag: `"${createHash('md5').update(body).digest('hex')}"` } };
      }
      case 'POST': {
        if (url.searchParams.has('uploads')) {
          const id = randomUUID();
          uploads.set(id, { key, parts: new Map() });
          return {
            status: 200,
            body: `<InitiateMultipartUploadResult><Bucket>${BUCKET}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
          };
        }
        const parts = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, n]) => upload!.parts.get(Number(n)));
        if (parts.length === 0 || parts.some((part) => !part)) throw new Refusal(400, 'InvalidPart');
        if (parts.slice(0, -1).some((part) => part!.length < MIN_PART)) throw new Refusal(400, 'EntityTooSmall');
        objects.set(key, Buffer.concat(parts as Buffer[]));
        uploads.delete(uploadId!);
        return {
          status: 200,
          body: `<CompleteMultipartUploadResult><Bucket>${BUCKET}</Bucket><Key>${key}</Key><ETag>"x-1"</ETag></CompleteMultipartUploadResult>`,
        };
      }
      case 'DELETE':
        if (upload) uploads.delete(uploadId!);
        else objects.delete(key);
        return { status: 204 };
      default: {
        const object = objects.get(key);
        if (!object) throw new Refusal(404, 'NoSuchKey');
        const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '') ?? [];
        if (from === undefined) return { status: 200, body: object };
        if (Number(from) >= object.length) throw new Refusal(416, 'InvalidRange');
        const part = object.subarray(Number(from), Number(to) + 1);
        return {
          status: 206,
          headers: { 'Content-Range': `bytes ${from}-${Number(from) + part.length - 1}/${object.length}` },
          body: part,
        };
      }
    }
  };

  const server = http.createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      let reply: ReturnType<typeof answer>;
      try {
        reply = answer(req, new URL(req.url!, `http://${req.headers.host}`), Buffer.concat(chunks));
      } catch (error) {
        const { status, code } = error instanceof Refusal ? error : new Refusal(500, 'InternalError');
        reply = {
          status,
          headers: { 'Content-Type': 'application/xml' },
          body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
        };
      }
      const body = Buffer.from(reply.body ?? '');
      res
        .writeHead(reply.status, { ...reply.headers, 'Content-Length': String(body.length) })
        .end(req.method === 'HEAD' ? undefined : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    options: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: REGION,
      bucket: BUCKET,
      credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
      pathStyle: true,
    },
    objects,
    get openUploads() {
      return uploads.size;
    },
    requests,
    failNext: (method, times) => void failures.set(method, times),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
