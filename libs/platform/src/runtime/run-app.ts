import 'reflect-metadata';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type INestApplication, type INestMicroservice, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { broadcastListener } from '@aps/platform/broadcast';
import { ConfigError, configSection, integer, loadConfig, setting } from '@aps/platform/config';
import { configureHttpApp, HttpAdapter, httpConfig } from '@aps/platform/http';
import { collectProcessMetrics, createLogger, flushLogs, gauge, metrics, NestLogger } from '@aps/platform/observability';
import { startTracing } from '@aps/platform/tracing';
import type { Logger as Pino } from 'pino';
import { z } from 'zod';
import { Readiness } from './readiness';

export const runtimeConfig = configSection('runtime', {
  version: setting('APP_VERSION', z.string().max(128).default('dev'), 'Version of the code, as operators read it; images carry theirs'),
  internalHost: setting('INTERNAL_HOST', z.string().default('127.0.0.1'), 'Address of the internal port; 0.0.0.0 in a container'),
  internalPort: setting(
    'INTERNAL_PORT',
    integer(9090, 0, 65_535),
    'Port of /healthz, /readyz and /metrics; never exposed to the outside; 0 takes a free one',
  ),
  shutdownDelayMs: setting(
    'SHUTDOWN_DELAY_MS',
    integer(15_000, 0, 600_000),
    'How long a process with an HTTP port still takes requests after it has turned unready: longer than load balancers need to see that (period and failures of their probe); 0 without one',
  ),
  shutdownGraceMs: setting('SHUTDOWN_GRACE_MS', integer(25_000, 0, 600_000), 'Time that requests and jobs get to finish after a SIGTERM'),
});

const appReady = gauge('app_ready', 'Whether the process can do its work, as whoever asked /readyz last was told');

export interface AppDefinition {
  name: string;
  module: Type<unknown>;
  /** An HTTP port. Without it the app only consumes queues and broadcasts. */
  http?: true;
  /** Without Redis the app cannot do its work at all. */
  redisRequired: boolean;
}

/** `/healthz` (alive), `/readyz` (can work), `/metrics`, on a port of their own, so that they answer while the app is busy or draining. */
function startInternalServer(readiness: () => Readiness | undefined, redisRequired: boolean): Promise<http.Server> {
  const { internalHost, internalPort } = runtimeConfig.value;
  const answer = async (path: string): Promise<[number, string, string]> => {
    if (path === '/healthz') return [200, 'application/json', '{"status":"ok"}'];
    if (path === '/readyz') {
      const report = await readiness()?.report(redisRequired);
      appReady.set(report?.ready ? 1 : 0);
      return [report?.ready ? 200 : 503, 'application/json', JSON.stringify(report ?? { ready: false, checks: { boot: 'in progress' } })];
    }
    if (path === '/metrics') return [200, metrics.contentType, await metrics.metrics()];
    return [404, 'application/json', '{"detail":"There is nothing at this address.","code":"not_found"}'];
  };
  const server = http.createServer((req, res) => {
    void answer((req.url ?? '').split('?')[0])
      .catch((error: Error): [number, string, string] => [500, 'text/plain', error.message])
      .then(([status, type, body]) => res.writeHead(status, { 'Content-Type': type }).end(body));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(internalPort, internalHost, () => resolve(server));
  });
}

/** Errors are thrown and not, as Nest would have it, ended upon: {@link runApp} says in words what they mean. */
async function createApp(definition: AppDefinition, pino: Pino): Promise<INestApplication | INestMicroservice> {
  const logger = new NestLogger(pino);
  if (!definition.http)
    return NestFactory.createMicroservice(definition.module, { ...broadcastListener(), logger, bufferLogs: true, abortOnError: false });
  const app = await NestFactory.create<NestExpressApplication>(definition.module, new HttpAdapter(), {
    logger,
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
  });
  configureHttpApp(app, pino);
  app.connectMicroservice(broadcastListener(), { inheritAppConfig: false });
  return app;
}

/** One sentence for what commonly goes wrong at a start. */
function explain(error: unknown): string {
  const e = error as { code?: string; port?: number; message?: string; address?: string };
  if (error instanceof ConfigError) return error.message;
  if (e.code === 'EADDRINUSE') return `Port ${e.port} is taken. Choose another with PORT or INTERNAL_PORT.`;
  if (e.code === 'ECONNREFUSED') return `Nothing answers at ${e.address}:${e.port}. Is the database running, and is DATABASE_URL right?`;
  if (e.code === '28P01' || e.code === '3D000') return `PostgreSQL refuses the connection: ${e.message}`;
  return e.message ?? String(error);
}

/**
 * Runs a deployable: checks the configuration, serves the internal port, starts the application, and ends it in order on SIGTERM or
 * SIGINT: unready first, out of service when load balancers know, then the running work within the grace, then connections.
 */
export async function runApp(definition: AppDefinition): Promise<void> {
  process.title = `aps-${definition.name}`;
  const fail = (error: unknown): never => {
    process.stderr.write(`${definition.name}: ${explain(error)}\n`);
    process.exit(1);
  };
  try {
    loadConfig();
  } catch (error) {
    return fail(error);
  }
  const pino = createLogger(definition.name);
  const logger = new Logger('Runtime');
  Logger.overrideLogger(new NestLogger(pino));
  collectProcessMetrics();

  let readiness: Readiness | undefined;
  let app: INestApplication | INestMicroservice | undefined;
  let ending = false;
  let endTracing = (): Promise<void> => Promise.resolve();

  /** An HTTP port stays open until load balancers have seen that it is unready; until then every answer tells its client to connect anew. */
  const leaveService = async (): Promise<void> => {
    if (!app || !definition.http) return;
    ((app as INestApplication).getHttpAdapter() as HttpAdapter).release();
    await sleep(runtimeConfig.value.shutdownDelayMs);
  };
  const end = async (signal: string, exitCode = 0): Promise<void> => {
    if (ending) return;
    ending = true;
    const { shutdownGraceMs } = runtimeConfig.value;
    logger.log(`${signal}: shutting down`);
    if (readiness) readiness.accepting = false;
    if (exitCode === 0) await leaveService();
    const timer = setTimeout(() => {
      logger.warn(`Still busy after ${shutdownGraceMs} ms, ending anyway`);
      process.exit(exitCode || 1);
    }, shutdownGraceMs);
    await app?.close().catch((error: Error) => logger.error({ msg: 'Shutdown failed', error: error.stack }));
    await endTracing();
    clearTimeout(timer);
    logger.log('Ended');
    await flushLogs();
    process.exit(exitCode);
  };
  process.on('SIGTERM', () => void end('SIGTERM'));
  process.on('SIGINT', () => void end('SIGINT'));
  // A process whose state is unknown must not go on: it ends in order, and whoever supervises it starts a fresh one.
  process.on('uncaughtException', (error) => {
    logger.fatal({ msg: 'Uncaught exception', error: error.stack });
    void end('uncaughtException', 1);
  });
  process.on('unhandledRejection', (reason) => {
    logger.fatal({ msg: 'Unhandled rejection', error: (reason as Error)?.stack ?? String(reason) });
    void end('unhandledRejection', 1);
  });

  try {
    await startInternalServer(() => readiness, definition.redisRequired);
    endTracing = await startTracing(definition.name);
    app = await createApp(definition, pino);
    app.flushLogs();
    if (definition.http) {
      const webApp = app as INestApplication;
      // Not awaited: broadcasts only make things faster, and an HTTP face must come up without Redis.
      webApp.startAllMicroservices().catch((error: Error) => logger.warn(`Broadcasts are not heard yet: ${error.message}`));
      await webApp.listen(httpConfig.value.port, httpConfig.value.host);
      const { address, port } = (webApp.getHttpServer() as http.Server).address() as AddressInfo;
      logger.log(`Listening on http://${address}:${port}`);
    } else {
      await (app as INestMicroservice).listen();
    }
    readiness = app.get(Readiness, { strict: false });
    logger.log('Ready');
  } catch (error) {
    pino.fatal({ err: error }, 'Start failed');
    fail(error);
  }
}
