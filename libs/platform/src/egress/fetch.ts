import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Cutoff } from '@aps/platform/signals';
import { request, type Dispatcher } from 'undici';
import { urlOf } from './address';
import { EgressError, parseAddress, type EgressPolicy, type EgressPurpose } from './policy';

export interface EgressRequest {
  purpose: EgressPurpose;
  method?: Dispatcher.HttpMethod;
  /** `host`, `content-length` and everything about the connection are set here, not by callers. */
  headers?: Record<string, string>;
  body?: string | Buffer;
  signal?: AbortSignal;
  /** Bytes after decompression. Default: EGRESS_MAX_BYTES. */
  maxBytes?: number;
  /** Milliseconds for everything, of which any may go by in silence. Default: EGRESS_TOTAL_TIMEOUT_MS, and less of silence. */
  timeoutMs?: number;
  /** Redirects to follow, at most 3. Default: 3. */
  maxRedirects?: number;
}

export interface EgressResponse {
  status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  headers: Record<string, string>;
  body: Buffer;
  /** Where the answer came from, after redirects. */
  url: string;
}

/** What a response says in JSON; undefined where it says none. */
export function jsonOf({ body }: Pick<EgressResponse, 'body'>): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Says who asks, where the caller does not: many sites refuse whoever says nothing. */
export const WHO_ASKS: Record<string, string> = { 'user-agent': 'agent-platform' };
export const MAX_REDIRECTS = 3;
export const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What may travel on to an origin that the caller did not name. Everything else may be a credential under any name. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);
/** Headers that are set here or by the connection, and never by the caller. */
const CONNECTION_HEADERS = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'accept-encoding',
]);
/** Honest text compresses up to some 20:1; what grows faster than this is a bomb. Small answers may be anything. */
const MAX_RATIO = 100;
const RATIO_FREE_BYTES = 1024 * 1024;

export interface FetchLimits {
  maxBytes: number;
  timeoutMs: number;
}

/** One guarded exchange, redirects included; the answer's body is read whole. */
export async function guardedFetch(
  address: string,
  init: EgressRequest,
  policy: EgressPolicy,
  dispatcher: Dispatcher,
  limits: FetchLimits,
): Promise<EgressResponse> {
  const cut = new Cutoff(init.signal, init.timeoutMs ?? limits.timeoutMs);
  const { signal } = cut;
  const maxBytes = init.maxBytes ?? limits.maxBytes;
  let url = parseAddress(address);
  let method: Dispatcher.HttpMethod = init.method ?? 'GET';
  let body = init.body;
  let headers = { ...WHO_ASKS, ...withoutOurs(init.headers ?? {}) };
  let isRedirected = false;
  try {
    for (let hops = 0; ; hops++) {
      policy.checkForm(url);
      const response = await request(url, {
        dispatcher,
        method,
        headers: { ...headers, 'accept-encoding': 'gzip, deflate, br' },
        body,
        signal,
        // Ours is exact; those of the client may come half a second early.
        ...(init.timeoutMs !== undefined && { headersTimeout: 0, bodyTimeout: 0 }),
      });
      const location = REDIRECTS.has(response.statusCode) ? first(response.headers.location) : undefined;
      if (!location)
        return {
          status: response.statusCode,
          headers: flat(response.headers),
          body: await read(response, maxBytes, signal),
          url: url.href,
        };
      isRedirected = true;

      // What a redirect says beside its target is of no interest, and there may be a lot of it.
      response.body.on('error', () => undefined).destroy();
      if (hops >= Math.min(init.maxRedirects ?? MAX_REDIRECTS, MAX_REDIRECTS))
        throw new EgressError('redirect', 'The address redirects too often.');
      const next = parse(location, url);
      if (
        response.statusCode === 303 ? method !== 'HEAD' : (response.statusCode === 301 || response.statusCode === 302) && method === 'POST'
      ) {
        method = 'GET';
        body = undefined;
        headers = without(headers, (name) => name.startsWith('content-'));
      }
      if (next.origin !== url.origin) {
        if (body !== undefined) throw new EgressError('redirect', 'The address redirects a request with a body to another origin.');
        headers = without(headers, (name) => !HARMLESS.has(name));
      }
      url = next;
    }
  } catch (error) {
    const failure = cut.isLate ? new EgressError('timeout', 'The address took too long to answer.') : asEgressError(error, init.signal);
    throw isRedirected && failure instanceof EgressError ? behindRedirect(failure) : failure;
  } finally {
    cut.release();
  }
}

/** What an exchange threw, in our words; the reason of the caller's own signal stays what it is. */
export function asEgressError(error: unknown, caller?: AbortSignal): unknown {
  if (error instanceof EgressError || caller?.aborted) return error;
  const { code } = error as { code?: string };
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new EgressError('timeout', 'The address took too long to answer.', { cause: error });
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new EgressError('too_large', 'The answer is too large.', { cause: error });
  // The only argument that is not looked at before, and the client looks at it before it connects.
  if (code === 'UND_ERR_INVALID_ARG') return new EgressError('url', 'A header of the request cannot be sent.', { cause: error });
  return new EgressError('network', 'The exchange with the address failed.', { cause: error });
}

/** Not the error itself, which may be that of a connection that others wait for, too. */
const behindRedirect = ({ reason, message, cause }: EgressError): EgressError =>
  Object.assign(new EgressError(reason, message, { cause }), { afterRedirect: true });

/** Where a redirect leads. Servers write it in many ways, and it is ours alone to read. */
function parse(location: string, base: URL): URL {
  const url = urlOf(location, base);
  if (!url) throw new EgressError('url', 'This is not a URL.');
  return url;
}

const first = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

function without(headers: Record<string, string>, drop: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !drop(name)));
}

/** With names in lower case. */
export const withoutOurs = (headers: Record<string, string>) =>
  without(Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), v])), (name) => CONNECTION_HEADERS.has(name));

export function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads a body, decompressed, within the caps on size and on growth. */
async function read(response: Dispatcher.ResponseData, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const declared = Number(first(response.headers['content-length']));
  const encodings = (first(response.headers['content-encoding']) ?? '')
    .split(',')
    .map((e) => e.trim().toLowerCase())
    .filter((e) => e && e !== 'identity');
  const fail = (error: EgressError) => {
    response.body.on('error', () => undefined).destroy();
    return error;
  };
  if (declared > maxBytes) throw fail(new EgressError('too_large', 'The answer is too large.'));
  // Encodings can be stacked; nobody honest stacks more than one.
  const decoder = encodings.length === 1 ? DECODERS[encodings[0]] : undefined;
  if (encodings.length && !decoder) throw fail(new EgressError('encoding', 'The answer is encoded in an unknown way.'));

  let received = 0;
  const chunks: Buffer[] = [];
  let size = 0;
  const count = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      received += chunk.length;
      yield chunk;
    }
  };
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes) throw new EgressError('too_large', 'The answer is too large.');
      if (decoder && size > RATIO_FREE_BYTES && size > received * MAX_RATIO)
        throw new EgressError('too_large', 'The answer grows too much when decompressed.');
      chunks.push(chunk);
    }
  };
  try {
    if (decoder) await pipeline(response.body as Readable, count, decoder(), collect, { signal });
    else await collect(response.body);
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('Z_') || /^ERR_.*(BROTLI|ZLIB)/.test((error as { code?: string }).code ?? '')) {
      throw new EgressError('encoding', 'The answer cannot be decompressed.', { cause: error });
    }
    throw error;
  }
  return Buffer.concat(chunks);
}
