import type { AddressInfo } from 'node:net';
import type http from 'node:http';
import type { ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { broadcastTransport } from '@aps/platform/broadcast';
import { configureHttpApp, HttpAdapter } from '@aps/platform/http';
import { createLogger, NestLogger } from '@aps/platform/observability';
import { watchErrors } from './watch-errors';

export interface TestApp {
  app: NestExpressApplication;
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Fails where an operation has answered an error that the API document does not know of it. */
  close(): Promise<void>;
}

/**
 * Runs modules as an HTTP application with the edge of the real ones, on a free port.
 *
 * @param customize overrides providers, for parts that stand outside the service
 */
export async function createTestApp(
  imports: NonNullable<ModuleMetadata['imports']>,
  customize: (builder: TestingModuleBuilder) => TestingModuleBuilder = (b) => b,
): Promise<TestApp> {
  const logger = createLogger('test');
  const module = await customize(Test.createTestingModule({ imports })).setLogger(new NestLogger(logger)).compile();
  const app = module.createNestApplication<NestExpressApplication>(new HttpAdapter(), {
    bodyParser: false,
    logger: new NestLogger(logger),
  });
  const judgeErrors = watchErrors(app);
  configureHttpApp(app, logger);
  app.connectMicroservice(broadcastTransport(), { inheritAppConfig: false });
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  const close = async () => {
    await app.close();
    judgeErrors();
  };
  const { port } = (app.getHttpServer() as http.Server).address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}`, close };
}
