import { randomUUID } from 'node:crypto';
import { beginSpan, failSpan, traceparentOf } from '@aps/platform/tracing';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Histogram } from 'prom-client';

/** What the edge notes on a request. */
export interface RequestContext {
  /** Given by the caller in `X-Request-Id`, or made here; answered in the same header and in every error. */
  requestId: string;
  /** W3C trace context of this request; while nothing is traced, the one that the caller gave. */
  traceparent?: string;
  /** Answered with a 503 that is no fault of ours. */
  refusedOfOne?: boolean;
  /**
   * Of who is known: counts a list that is written piece by piece until its response closes.
   *
   * @returns what throws when its reader may not read it any more
   * @throws DomainError 429 when the user has too many, 503 when the process or the organization has
   */
  openList?: (response: Response) => Promise<() => Promise<void>>;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The path template of a handled request, e.g. `/api/orgs/:org_id`; never the URL itself, which may carry a credential. */
export function routeOf(request: Request): string {
  const route = request.route as { path?: string } | undefined;
  return route?.path ?? 'unmatched';
}

/** What is noted, and never sent, of a client that left before its answer began; nginx' number for it. */
const CLIENT_CLOSED_REQUEST = 499;

/** Gives each request its id and, when it is over, one log line and one measurement. */
export function requestContext(logger: Logger, duration: Histogram<'method' | 'route' | 'status'>): RequestHandler {
  // The fields are the same few for every request, and none could hold a secret; looking for one costs more than the rest of the line.
  const lines = logger.child({}, { redact: { paths: [] } });
  return (req: Request & Partial<RequestContext>, res: Response, next: NextFunction) => {
    const started = process.hrtime.bigint();
    const given = req.headers['x-request-id'];
    req.requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    const trace = req.headers.traceparent;
    const span = beginSpan(req.method, {
      kind: 'server',
      parent: typeof trace === 'string' && TRACEPARENT.test(trace) ? trace : undefined,
    });
    req.traceparent = traceparentOf(span);
    res.setHeader('X-Request-Id', req.requestId);
    res.once('close', () => {
      const ms = Number(process.hrtime.bigint() - started) / 1e6;
      const route = routeOf(req);
      const status = res.headersSent ? res.statusCode : CLIENT_CLOSED_REQUEST;
      const isFault = status >= 500 && !req.refusedOfOne;
      duration.observe({ method: req.method, route, status: req.refusedOfOne ? `${status}_of_one` : String(status) }, ms / 1000);
      span.updateName(`${req.method} ${route}`);
      span.setAttributes({
        'http.request.method': req.method,
        'http.route': route,
        'http.response.status_code': status,
        'aps.request_id': req.requestId,
      });
      if (isFault) failSpan(span, String(status));
      span.end();
      const level = isFault ? 'error' : 'info';
      lines[level](
        {
          request_id: req.requestId,
          method: req.method,
          route,
          status,
          ms: Math.round(ms * 10) / 10,
          aborted: !res.writableFinished || undefined,
        },
        'request',
      );
    });
    next();
  };
}
