import { NestFactory } from '@nestjs/core';
import { buildOpenApi } from '@aps/platform/http';
import { INFO } from '../../openapi/info';
import { PublicSurface } from '../../openapi/surface';

export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  nullable?: boolean;
  description?: string;
  example?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  oneOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: boolean | Schema;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema?: Schema;
}

type Content = Record<string, { schema?: Schema }>;

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description?: string; content?: Content }>;
  security?: unknown[];
  'x-access'?: { tier: string; area?: string };
}

export interface Document {
  openapi: string;
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The document of the whole public surface, built from the source. */
export async function buildDocument(): Promise<Document> {
  const app = await NestFactory.create(PublicSurface, { preview: true, logger: false, abortOnError: false });
  const document = (await buildOpenApi(app, INFO)) as unknown as Document;
  await app.close();
  return JSON.parse(JSON.stringify(document)) as Document;
}

/** Every operation with its method in capitals and its path. */
export function operationsOf(document: Document): { method: string; path: string; op: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) => Object.entries(item).map(([method, op]) => ({ method: method.toUpperCase(), path, op })));
}

/** What a `$ref` points at, and what `allOf` of one schema wraps. */
export function resolve(document: Document, schema: Schema | undefined): Schema {
  if (!schema) return {};
  if (schema.$ref) return resolve(document, document.components.schemas[schema.$ref.split('/').pop() ?? '']);
  if (schema.allOf?.length === 1) return { ...resolve(document, schema.allOf[0]), nullable: schema.nullable };
  return schema;
}

export const bodySchema = (document: Document, op: Operation): Schema | undefined => {
  const schema = op.requestBody?.content['application/json']?.schema;
  return schema && resolve(document, schema);
};
