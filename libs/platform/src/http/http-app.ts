import type { NestExpressApplication } from '@nestjs/platform-express';
import { durationHistogram } from '@aps/platform/observability';
import type { Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { hasBody } from './body';
import { ErrorFilter } from './error.filter';
import { httpConfig } from './http.config';
import { ANSWER_HEADERS } from './openapi-answers';
import { FILE_BYTES } from './operation';
import { requestContext } from './request-context';
import { installSelectiveInterceptors } from './selective-interceptors';

const duration = durationHistogram('http_request_duration_seconds', 'Time from a request to the end of its answer', [
  'method',
  'route',
  'status',
]);

/** Time that a body has to arrive, and that a form with a file has: 50 MiB over a slow line. */
const BODY_MS = 30_000;
const UPLOAD_MS = 300_000;

/** Cuts off who sends a body too slowly. The server itself knows one time for all requests. */
function bodyDeadline(req: Request, _res: Response, next: () => void): void {
  if (hasBody(req) && !/^multipart\/form-data\b/i.test(req.headers['content-type'] ?? '')) {
    const timer = setTimeout(() => {
      if (!req.complete) req.destroy();
    }, BODY_MS).unref();
    req.once('end', () => clearTimeout(timer));
    req.once('close', () => clearTimeout(timer));
  }
  next();
}

/** Sets what helmet sets. That is the same for every request, so helmet is asked once, instead of a dozen functions for each. */
function securityHeaders(): RequestHandler {
  const headers = new Map<string, string>();
  const recorder = { setHeader: (name: string, value: string) => headers.set(name, value), removeHeader: () => undefined };
  const record = helmet({
    // The API answers JSON only; the documentation page sets its own policy.
    contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }, useDefaults: false },
    frameguard: { action: 'deny' },
    strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: true },
  });
  record({} as Request, recorder as unknown as Response, () => undefined);
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}

/** The edge of an HTTP application: request ids, security headers, deadlines of bodies, one error shape. */
export function configureHttpApp(app: NestExpressApplication, logger: Logger): void {
  const { trustProxy, corsOrigins } = httpConfig.value;
  installSelectiveInterceptors();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  if (trustProxy > 0) app.set('trust proxy', trustProxy);
  app.use(requestContext(logger, duration));
  app.use(securityHeaders());
  if (corsOrigins.length) {
    app.enableCors({
      origin: corsOrigins,
      exposedHeaders: ['X-Request-Id', ...Object.keys(ANSWER_HEADERS), ...Object.keys(FILE_BYTES.tells!), 'Accept-Ranges'],
      maxAge: 600,
    });
  }
  app.use(bodyDeadline);
  app.useGlobalFilters(new ErrorFilter());
  const server = app.getHttpServer() as import('node:http').Server;
  server.requestTimeout = UPLOAD_MS;
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 65_000;
}
