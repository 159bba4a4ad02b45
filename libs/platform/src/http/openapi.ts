import type { INestApplication } from '@nestjs/common';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { ERRORS } from '@aps/contracts';
import { unionSchemas } from './event-schemas';
import { ANSWER_HEADERS, completeAnswers, type DocumentedOperation, type Schema } from './openapi-answers';
import { toJsonSchema } from './openapi-schema';

const codesOf = (status: number) =>
  Object.entries(ERRORS)
    .filter(([, error]) => error.status === status)
    .map(([code]) => code);

/** What a 422 says of one problem: the vocabulary of Pydantic, and the code of a refusal that needs more than the value to be seen. */
const PROBLEM_TYPES = [
  ...[
    'missing',
    'string_type',
    'int_parsing',
    'float_parsing',
    'bool_parsing',
    'uuid_parsing',
    'decimal_parsing',
    'datetime_parsing',
    'enum',
    'literal_error',
    'string_too_short',
    'string_too_long',
  ],
  ...['greater_than_equal', 'less_than_equal', 'too_short', 'too_long', 'dict_type', 'list_type', 'json_invalid', 'value_error'],
  ...codesOf(422)
    .filter((code) => code !== 'validation_error')
    .map((code) => `semantic.${code}`),
];

const common = {
  request_id: { type: 'string', description: 'The `X-Request-Id` of the answer, by which operators find it in their logs.' },
  context: { type: 'object', additionalProperties: true, description: 'Facts that let a program act on the error.' },
};

const COMPONENTS = {
  Error: {
    type: 'object',
    description: 'The body of every error but 422.',
    required: ['detail', 'code', 'request_id'],
    properties: {
      detail: { type: 'string', description: 'One sentence for a human.' },
      code: {
        type: 'string',
        description: 'Stable, for programs.',
        enum: Object.keys(ERRORS)
          .filter((code) => !codesOf(422).includes(code))
          .sort(),
      },
      ...common,
    },
  },
  HTTPValidationError: {
    type: 'object',
    description: 'The body of every 422.',
    required: ['detail', 'code', 'request_id'],
    properties: {
      detail: {
        type: 'array',
        minItems: 1,
        description: 'Every problem of the request.',
        items: { $ref: '#/components/schemas/ValidationError' },
      },
      code: { type: 'string', description: 'Stable, for programs.', enum: codesOf(422).sort() },
      errors: {
        type: 'array',
        description: 'Of `revision_invalid`: what keeps the revision from being run.',
        items: { $ref: '#/components/schemas/RevisionError' },
      },
      warnings: {
        type: 'array',
        description: 'Of `revision_invalid` of a process: what is worth a look besides.',
        items: { $ref: '#/components/schemas/DefinitionWarning' },
      },
      ...common,
    },
  },
  ValidationError: {
    type: 'object',
    description: 'One problem of a request.',
    required: ['loc', 'msg', 'type'],
    properties: {
      loc: {
        type: 'array',
        minItems: 1,
        description: 'Where: `body`, `query`, `path` or `header`, then the way down.',
        items: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      },
      msg: { type: 'string', description: 'What is wrong, for a human.' },
      type: { type: 'string', description: 'What is wrong, for a program.', enum: PROBLEM_TYPES },
    },
  },
  RevisionError: {
    type: 'object',
    description: 'One thing that keeps a revision from being run.',
    required: ['field', 'problem', 'valid_values'],
    properties: {
      stage_id: { type: 'string', nullable: true, description: 'Of an inbox: id of the stage; null where no stage is to blame.' },
      step_id: { type: 'string', nullable: true, description: 'Of a process: id of the step; null where no step is to blame.' },
      field: { type: 'string', description: 'The way down from there, joined by dots.' },
      problem: { type: 'string', description: 'What is wrong, for a human.' },
      valid_values: { type: 'array', description: 'What would do, where that can be listed.', items: { type: 'string' } },
    },
  },
};

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'opaque',
    description: 'A session (`aps_…`) from login or signup, or an API token (`apt_…`) from `POST /api/tokens`.',
  },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'From `POST /api/realtime/tickets`, for streams, once: browsers cannot send a header with them.',
  },
};

const WHO: Record<string, string> = {
  public: 'Anybody may call this.',
  user: 'For any signed-in user',
  member: 'For members of the organization',
  admin: 'For ADMIN and OWNER of the organization',
  owner: 'For the OWNER of the organization',
  platform_admin: 'For operators of the platform',
};

/** Who may call an operation, in words. */
function accessOf(method: string, { tier, area }: { tier: string; area?: string }): string {
  const who = WHO[tier] ?? tier;
  if (tier === 'public') return who;
  return area ? `${who}; with an API token, of scope \`${area}:${method === 'get' ? 'read' : 'write'}\`.` : `${who}.`;
}

/** Adds to every operation what its path and its access declaration say. */
function completeOperation(path: string, method: string, op: DocumentedOperation, schemas: Record<string, Schema>): void {
  const access = op['x-access'] ?? { tier: 'public' };
  completeAnswers(path, method, op, schemas);
  op.description = [op.description, accessOf(method, access)].filter(Boolean).join('\n\n');
  // Said also where nothing is asked for: an operation that says nothing may have been forgotten.
  if (access.tier === 'public') op.security = access.identifies ? [{}, { bearer: [] }] : [];
  if (access.ticket) op.security?.push({ ticket: [] });
  const parameters = (op.parameters ??= []);
  for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
    // What only the access guard reads is in no handler's arguments, where the generator looks.
    if (!parameters.some((p) => p.in === 'path' && p.name === name)) parameters.unshift({ in: 'path', name, required: true });
  }
  for (const p of parameters) {
    if (p.in !== 'path') continue;
    p.schema = { type: 'string', ...p.schema };
    if (!p.name.endsWith('_id')) continue;
    p.description ??= p.name === 'org_id' ? 'The organization.' : `The ${p.name.slice(0, -'_id'.length).replaceAll('_', ' ')}.`;
    if (!('format' in p.schema) && !('pattern' in p.schema)) p.schema.format = 'uuid';
  }
}

/** What the document says about the API as a whole. */
export interface ApiInfo {
  title: string;
  description: string;
  version: string;
  license: { name: string; identifier: string };
  contact: { name: string };
  tags: Record<string, string>;
}

/**
 * Generates the OpenAPI document of an application. At run time nobody does: the gateway serves the committed one.
 */
export function buildOpenApi(app: INestApplication, { tags, ...info }: ApiInfo): OpenAPIObject {
  const generated = SwaggerModule.createDocument(
    app,
    {
      openapi: '3.1.0',
      info,
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      servers: [{ url: '/', description: 'The service that gave you this document.' }],
    },
    {
      operationIdFactory: (controller, method) =>
        `${controller.replace(/Controller$/, '').replace(/^./, (c) => c.toLowerCase())}.${method}`,
    },
  );
  const schemas = (generated.components?.schemas ?? {}) as Record<string, Schema>;
  for (const [path, item] of Object.entries(generated.paths)) {
    for (const [method, op] of Object.entries(item as Record<string, DocumentedOperation>)) completeOperation(path, method, op, schemas);
  }
  // Sorted, so that a diff shows what changed and nothing else.
  const sorted = <T>(record: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  const document = {
    ...generated,
    paths: sorted(generated.paths),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: ANSWER_HEADERS,
      schemas: sorted({ ...generated.components?.schemas, ...unionSchemas(generated.components?.schemas ?? {}), ...COMPONENTS }),
    },
  };
  return toJsonSchema(document) as OpenAPIObject;
}
