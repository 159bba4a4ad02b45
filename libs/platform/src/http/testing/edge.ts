import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModuleMetadata } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { createLogger, NestLogger } from '@aps/platform/observability';
import { httpCaller, type HttpCaller } from '../../testing/http-caller';
import { HttpAdapter } from '../express-adapter';
import { configureHttpApp } from '../http-app';
import { RequestValidationGuard } from '../validation.guard';

export interface TestEdge {
  port: number;
  url: string;
  call: HttpCaller;
  close(): Promise<void>;
}

/** The edge of an application with the check of its input behind it, and neither callers nor servers. */
export async function startEdge(metadata: ModuleMetadata): Promise<TestEdge> {
  process.env.LOG_LEVEL = process.env.TEST_LOG_LEVEL ?? 'fatal';
  const logger = createLogger('test');
  const module = await Test.createTestingModule({ ...metadata, providers: [{ provide: APP_GUARD, useClass: RequestValidationGuard }] })
    .setLogger(new NestLogger(logger))
    .compile();
  const app = module.createNestApplication<NestExpressApplication>(new HttpAdapter(), {
    bodyParser: false,
    logger: new NestLogger(logger),
  });
  configureHttpApp(app, logger);
  await app.listen(0, '127.0.0.1');
  const server: Server = app.getHttpServer();
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const close = () => {
    // Clients that took no interest in a body would hold the close up.
    server.closeAllConnections();
    return app.close();
  };
  return { port, url, call: httpCaller(url), close };
}
