import http from 'node:http';
import { DomainError } from '@aps/contracts';
import { beginSpan, failSpan, traceparentOf } from '@aps/platform/tracing';
import type { Request, Response } from 'express';
import { hasBody } from './body';
import type { BegunBody } from './raw-body';
import { routeOf, type RequestContext } from './request-context';
import { sendError } from './error.filter';

/** Headers that belong to one connection, not to the message. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
]);
/** Ours, between the services. From outside they are lies, so they are dropped. */
const INTERNAL_PREFIX = 'x-aps-';

export interface ProxyTarget {
  /** Base URL of the service behind, e.g. `http://admin-api:3000`. */
  baseUrl: string;
  /** How long the service may take to begin its answer, milliseconds. */
  timeoutMs: number;
}

/** What is answered where the service does not. */
export const PROXY_FAILURES = {
  upstream_timeout: 'The service behind this address did not answer in time.',
  upstream_unavailable: 'The service behind this address cannot be reached.',
};
export type ProxyFailure = keyof typeof PROXY_FAILURES;

/** Methods whose request may be sent a second time. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Connections for reads. Those that are not used end here, long before the service would close them (65 s) at an inconvenient moment. */
const kept = new http.Agent({ keepAlive: true, maxSockets: 256, timeout: 30_000 });
/**
 * A connection for every change. On a kept one the service may be hanging up at this very moment, as it does when it ends; then nobody
 * knows whether the request was read, and it cannot be sent again. The service is not told that it will not be kept: it would
 * hang up right after an answer that comes before the whole body, and on a connection that is reset the answer is lost.
 */
const once = () => Object.assign(new http.Agent({ keepAlive: true, maxSockets: 256 }), { keepSocketAlive: () => false });
const fresh = once();
/** Those of bodies that are handed on as they come: who sends slowly holds up nobody whose request is here. */
const streams = once();

/** The service had closed a kept connection. */
const hungUp = (error: NodeJS.ErrnoException) => error.code === 'ECONNRESET' || error.code === 'EPIPE';

/**
 * Streams a request to a service behind the gateway and its answer back, bodies untouched.
 *
 * An unreachable service answers 502, a slow one 504, both in our error shape. A read that finds its kept connection closed is sent once more.
 *
 * @param headers added to the request, e.g. the signed internal token
 * @param begun what has been read of the body already; the rest is streamed
 * @returns the code of what was answered in place of the service; undefined where it has answered, had not got the whole request yet, or nobody
 *   waits for an answer
 */
export async function proxyRequest(
  request: Request & RequestContext,
  response: Response,
  target: ProxyTarget,
  headers: Record<string, string>,
  begun?: BegunBody,
): Promise<ProxyFailure | undefined> {
  // The client left while the guards were asked: there is nobody to work for, and its address is no longer known.
  if (request.socket.destroyed || request.ip === undefined) return undefined;
  // Put together by hand: resolving the target against the base would let an absolute one name another host, and get our signature.
  const base = new URL(target.baseUrl);
  const path = request.originalUrl;
  const outgoing: http.OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !name.startsWith(INTERNAL_PREFIX)) outgoing[name] = value;
  }
  // Node adds it by itself only where a method usually has a body: without, what follows the headers would be a request of its own.
  if (begun?.isWhole) outgoing['content-length'] = begun.bytes.length;
  else if (request.headers['transfer-encoding'] !== undefined) outgoing['transfer-encoding'] = 'chunked';
  // The proof of identity stops here, unless `headers` have it: what stands behind trusts our signature, not the caller's token.
  delete outgoing.authorization;
  delete outgoing.cookie;
  const span = beginSpan(`${request.method} ${routeOf(request)}`, {
    kind: 'client',
    parent: request.traceparent,
    attributes: { 'server.address': base.hostname, 'http.request.method': request.method },
  });
  const traceparent = traceparentOf(span);
  Object.assign(outgoing, headers, traceparent && { traceparent }, { 'x-request-id': request.requestId, 'x-forwarded-for': request.ip });

  const isHere = begun?.isWhole || !hasBody(request);
  const isRead = READS.has(request.method) && !hasBody(request);
  return new Promise<ProxyFailure | undefined>((resolve) => {
    let upstream: http.ClientRequest;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      upstream.destroy(new Error('time-out'));
    }, target.timeoutMs);
    const pass = (answer: http.IncomingMessage) => {
      clearTimeout(timer);
      span.setAttribute('http.response.status_code', answer.statusCode ?? 0);
      const back: http.OutgoingHttpHeaders = {};
      for (const [name, value] of Object.entries(answer.headers)) if (!HOP_BY_HOP.has(name)) back[name] = value;
      response.writeHead(answer.statusCode ?? 502, back);
      answer.pipe(response);
      // Answered before the whole body came. The rest is taken off the client's connection, or its next request would wait behind that.
      answer.on('end', () => {
        if (request.complete) return;
        request.unpipe(upstream).resume();
        upstream.destroy();
      });
      // Cut in the middle: the client must not take half an answer for a whole one.
      answer.on('error', () => response.destroy());
      answer.on('aborted', () => response.destroy());
      response.on('close', () => {
        answer.destroy();
        resolve(undefined);
      });
    };
    const fail = () => {
      clearTimeout(timer);
      const code: ProxyFailure = timedOut ? 'upstream_timeout' : 'upstream_unavailable';
      const isHeard = !response.destroyed;
      // Who sends slowly has only himself to wait for.
      const isOurs = !timedOut || request.complete;
      failSpan(span, timedOut || isHeard ? code : 'aborted');
      if (isHeard) sendError(new DomainError(code, PROXY_FAILURES[code]), request, response);
      resolve(isHeard && isOurs ? code : undefined);
    };
    const send = (agent: http.Agent) => {
      upstream = http.request({ host: base.hostname, port: base.port || 80, path, method: request.method, headers: outgoing, agent });
      upstream.on('response', pass);
      upstream.on('error', (error) =>
        isRead && upstream.reusedSocket && hungUp(error) && !response.headersSent && !response.destroyed ? send(fresh) : fail(),
      );
      if (begun?.bytes.length) upstream.write(begun.bytes);
      if (isHere) upstream.end();
      else request.pipe(upstream);
    };
    // A client that hangs up ends the work behind, too, also after its body has been sent.
    response.once('close', () => {
      if (!response.writableFinished) upstream.destroy();
    });
    send(isRead ? kept : isHere ? fresh : streams);
  }).finally(() => span.end());
}

/**
 * Whether a request target is below a prefix for whoever reads it. What express matches is the decoded path; what a hop resolves is the raw target, and
 * there an absolute form (`GET http://elsewhere/api/admin/…`) names another host, and `..`, however encoded, another prefix.
 */
export function staysBelow(target: string, prefix: string): boolean {
  if (!below(target.split('?', 1)[0], prefix)) return false;
  const { origin, pathname } = new URL(target, 'http://proxy');
  return origin === 'http://proxy' && below(pathname, prefix);
}

const below = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
