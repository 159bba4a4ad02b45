import 'reflect-metadata';
import { RequestMethod, type Type } from '@nestjs/common';
import { HTTP_CODE_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { MetadataScanner, ModulesContainer, NestFactory } from '@nestjs/core';
import { ACCESS, type AccessDeclaration } from '@aps/guards';
import { credentialsIn, OPERATION, type OperationDeclaration } from '@aps/platform/http';
import { IDEMPOTENT } from '@aps/platform/idempotency';
import { AppModule as AdminApi } from '../../../apps/admin-api/src/app.module';
import { AppModule as Gateway } from '../../../apps/api-gateway/src/app.module';
import { AppModule as BillingWebhooks } from '../../../apps/billing-webhooks/src/app.module';
import { AppModule as InboxIntake } from '../../../apps/inbox-intake/src/app.module';

/** One handler under one address, as the module graph has it. */
export interface Route {
  app: 'api-gateway' | 'admin-api' | 'billing-webhooks' | 'inbox-intake';
  /** `ALL` for what takes every method. */
  method: string;
  /** With `:name` for a parameter; no slash at the end. */
  path: string;
  /** `Controller.method`. */
  handler: string;
  access: AccessDeclaration | undefined;
  /** What is documented beside it. */
  operation: OperationDeclaration | undefined;
  /** Of an answer without refusal. */
  success: number;
  /** A repeat under the same `Idempotency-Key` is answered as the first time. */
  idempotent: boolean;
  /** Fields of its answer that hold a credential. */
  credentials: string[];
}

type Graph = { get<T>(type: unknown): T; close(): Promise<void> };

/** The modules of an application, without anything connected or instantiated. */
export async function previewOf(module: Type<unknown>): Promise<Graph> {
  return (await NestFactory.create(module, { preview: true, logger: false, abortOnError: false })) as unknown as Graph;
}

const listed = (paths: string | string[] | undefined): string[] => (Array.isArray(paths) ? paths : [paths ?? '']);

const joined = (...parts: string[]): string =>
  `/${parts
    .flatMap((p) => p.split('/'))
    .filter(Boolean)
    .join('/')}`;

/** Every handler of every controller of an application. */
export async function routesOf(app: Route['app'], module: Type<unknown>): Promise<Route[]> {
  const graph = await previewOf(module);
  const scanner = new MetadataScanner();
  const routes: Route[] = [];
  for (const { controllers } of graph.get<ModulesContainer>(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      const proto = (metatype as Type<object>).prototype as Record<string, object>;
      for (const name of scanner.getAllMethodNames(proto)) {
        const handler = proto[name];
        const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
        if (method === undefined) continue;
        const access = Reflect.getMetadata(ACCESS, handler) as AccessDeclaration | undefined;
        const operation = Reflect.getMetadata(OPERATION, handler) as OperationDeclaration | undefined;
        const success =
          (Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined) ?? (method === RequestMethod.POST ? 201 : 200);
        const idempotent = Reflect.hasMetadata(IDEMPOTENT, handler);
        const credentials = credentialsIn(handler).map((way) => way.join('.'));
        for (const prefix of listed(Reflect.getMetadata(PATH_METADATA, metatype as object) as string)) {
          for (const path of listed(Reflect.getMetadata(PATH_METADATA, handler) as string)) {
            routes.push({
              app,
              method: RequestMethod[method],
              path: joined(prefix, path),
              handler: `${(metatype as Type<object>).name}.${name}`,
              access,
              operation,
              success,
              idempotent,
              credentials,
            });
          }
        }
      }
    }
  }
  await graph.close();
  const key = (r: Route) => `${r.path} ${r.method}`;
  return routes.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Everything that answers HTTP, of all applications. */
export async function allRoutes(): Promise<Route[]> {
  return [
    ...(await routesOf('api-gateway', Gateway)),
    ...(await routesOf('admin-api', AdminApi)),
    ...(await routesOf('billing-webhooks', BillingWebhooks)),
    ...(await routesOf('inbox-intake', InboxIntake)),
  ];
}

export const paramsOf = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);

/** `/api/orgs/:org_id` as an OpenAPI document writes it. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');
