import type { Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import { asEgressError, flat, REDIRECTS, WHO_ASKS, withoutOurs } from './fetch';
import { EgressError, parseAddress, type EgressPolicy } from './policy';

/** What libraries that speak a protocol of their own take for a `fetch`. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Statuses whose answers have no body, and for which there is no object of an answer with one. */
const BODILESS = new Set([204, 205, 304]);

/**
 * A `fetch` whose answers are read as they arrive. It follows no redirect, and has no time of its own: the signal of a request ends it, its
 * body included. What fails is an EgressError, also of the body.
 *
 * @param maxBytes of all answers together
 */
export function streamingFetch(policy: EgressPolicy, dispatcher: Dispatcher, maxBytes: number): FetchLike {
  let received = 0;
  const count = (bytes: number): void => {
    received += bytes;
    if (received > maxBytes) throw new EgressError('too_large', 'The answer is too large.');
  };
  return async (address, { method = 'GET', headers, body, signal } = {}) => {
    try {
      const url = parseAddress(String(address));
      policy.checkForm(url);
      const answer = await request(url, {
        dispatcher,
        method: method as Dispatcher.HttpMethod,
        headers: { ...WHO_ASKS, ...withoutOurs(Object.fromEntries(new Headers(headers))), 'accept-encoding': 'identity' },
        body: body as string | undefined,
        signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      try {
        return responseOf(answer, count, signal ?? undefined);
      } catch (error) {
        discard(answer.body);
        throw error;
      }
    } catch (error) {
      throw asEgressError(error, signal ?? undefined);
    }
  };
}

function responseOf(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  count: (bytes: number) => void,
  caller?: AbortSignal,
): Response {
  if (REDIRECTS.has(statusCode)) throw new EgressError('redirect', 'The address redirects elsewhere.');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new EgressError('encoding', 'The answer is encoded in a way that was not asked for.');
  if (BODILESS.has(statusCode)) discard(body);
  return new Response(BODILESS.has(statusCode) ? null : counted(body, count, caller), { status: statusCode, headers: flat(headers) });
}

/** The body as it arrives, no faster than it is read. */
function counted(body: Readable, count: (bytes: number) => void, caller?: AbortSignal): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await chunks.next();
        if (done) return controller.close();
        count(value.length);
        controller.enqueue(value);
      } catch (error) {
        discard(body);
        controller.error(asEgressError(error, caller));
      }
    },
    cancel: () => discard(body),
  });
}

/** Gives a body up, and its connection with it. */
function discard(body: Readable): void {
  body.on('error', () => undefined).destroy();
}
