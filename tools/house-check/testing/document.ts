import { NestFactory } from '@nestjs/core';
import { buildOpenApi } from '@aps/platform/http';
import { INFO } from '../../openapi/info';
import { PublicSurface } from '../../openapi/surface';

/** A schema as {@link resolve} gives it; in the document `type` may be a list with null. */
export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  description?: string;
  example?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  uniqueItems?: boolean;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
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
  responses: Record<string, { description?: string; content?: Content; headers?: Record<string, unknown> }>;
  security?: Record<string, string[]>[];
  'x-access'?: { tier: string; area?: string; session_only?: true; ticket?: true; identifies?: true };
}

export interface Document {
  openapi: string;
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, unknown> };
}

/** The document of the whole public surface, built from the source. */
export async function buildDocument(): Promise<Document> {
  const app = await NestFactory.create(PublicSurface, { preview: true, logger: false, abortOnError: false });
  const document = buildOpenApi(app, INFO) as unknown as Document;
  await app.close();
  return JSON.parse(JSON.stringify(document)) as Document;
}

/** Every operation with its method in capitals and its path. */
export function operationsOf(document: Document): { method: string; path: string; op: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, op]) => ({ method: method.toUpperCase(), path, op })),
  );
}

/** The error codes that an operation is documented to answer with. */
export const codesOf = (op: Operation): string[] =>
  Object.values(op.responses).flatMap(({ description }) => [...(description ?? '').matchAll(/`(\w+)`:/g)].map(([, code]) => code));

/** What a schema says of values other than null: what a `$ref` points at, and what may be null as if it might not. */
export function resolve(document: Document, schema: Schema | undefined): Schema {
  if (!schema) return {};
  if (schema.$ref) return resolve(document, document.components.schemas[schema.$ref.split('/').pop() ?? '']);
  const isNull = (alternative: Schema) => alternative.type === 'null';
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives?.some(isNull)) {
    const rest = alternatives.filter((s) => !isNull(s));
    return rest.length === 1 ? resolve(document, rest[0]) : { ...schema, oneOf: rest };
  }
  const types = schema.type as string | string[] | undefined;
  if (!Array.isArray(types)) return schema;
  return {
    ...schema,
    type: types.find((type) => type !== 'null'),
    ...(schema.enum && { enum: schema.enum.filter((value) => value !== null) }),
  };
}

export const bodySchema = (document: Document, op: Operation): Schema | undefined => {
  const schema = op.requestBody?.content['application/json']?.schema;
  return schema && resolve(document, schema);
};
