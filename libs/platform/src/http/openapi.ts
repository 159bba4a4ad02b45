import type { INestApplication, Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { ERROR_STATUS } from '@aps/contracts';

interface Operation {
  description?: string;
  responses?: Record<string, { description?: string; content?: unknown }>;
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema?: Record<string, unknown> }[];
  'x-access'?: { tier: string; area?: string };
}

const errorRef = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
const validationRef = { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } };
const codesOf = (status: number) => Object.entries(ERROR_STATUS).filter(([, s]) => s === status).map(([c]) => c);

const COMPONENTS = {
  Error: {
    type: 'object',
    required: ['detail', 'code', 'request_id'],
    properties: {
      detail: { type: 'string', description: 'One sentence for a human.' },
      code: { type: 'string', description: 'Stable, for programs.', enum: [...new Set(Object.keys(ERROR_STATUS))].filter((c) => ERROR_STATUS[c as keyof typeof ERROR_STATUS] !== 422).sort() },
      request_id: { type: 'string' },
      context: { type: 'object', additionalProperties: true, description: 'Facts that let a program act on the error.' },
    },
  },
  HTTPValidationError: {
    type: 'object',
    required: ['detail', 'code', 'request_id'],
    properties: {
      detail: { type: 'array', description: 'Every problem of the request.', items: { $ref: '#/components/schemas/ValidationError' } },
      code: { type: 'string', enum: codesOf(422).sort() },
      request_id: { type: 'string' },
      context: { type: 'object', additionalProperties: true },
    },
  },
  ValidationError: {
    type: 'object',
    required: ['loc', 'msg', 'type'],
    properties: {
      loc: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'integer' }] }, description: 'Where: `body`, `query`, `path` or `header`, then the way down.' },
      msg: { type: 'string' },
      type: { type: 'string' },
    },
  },
};

const WHY: Record<string, string> = {
  '200': 'The result.',
  '201': 'What was made.',
  '202': 'Taken in; it goes on after this answer.',
  '204': 'Done; there is nothing to say.',
  '401': 'No valid bearer token.',
  '403': 'Not allowed: membership, suspension, role, token scope or plan.',
  '404': 'Nothing there, or nothing that the caller may see.',
  '422': 'The request is not valid; every problem is listed.',
  '429': 'Too many requests; see `Retry-After`.',
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

/** Adds to every operation what the platform answers on its behalf: the errors of its access tier, its limits and its validation. */
function completeOperation(path: string, method: string, op: Operation): void {
  const access = op['x-access'] ?? { tier: 'public' };
  const responses = (op.responses ??= {});
  if (access.tier !== 'public') {
    responses['401'] ??= {};
    responses['403'] ??= {};
  }
  if (path.includes('{')) responses['404'] ??= {};
  responses['422'] ??= {};
  responses['429'] ??= {};
  for (const [status, response] of Object.entries(responses)) {
    response.description ||= WHY[status] ?? 'The request is refused; `code` says why.';
    if (status >= '400') response.content ??= status === '422' ? validationRef : errorRef;
  }
  op.description = [op.description, accessOf(method, access)].filter(Boolean).join('\n\n');
  const parameters = (op.parameters ??= []);
  for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
    // What only the access guard reads is in no handler's arguments, where the generator looks.
    if (!parameters.some((p) => p.in === 'path' && p.name === name)) parameters.unshift({ in: 'path', name, required: true, schema: { type: 'string' } });
  }
  for (const p of parameters) {
    if (p.in !== 'path' || !p.name.endsWith('_id')) continue;
    p.description ??= p.name === 'org_id' ? 'The organization.' : `The ${p.name.slice(0, -'_id'.length).replaceAll('_', ' ')}.`;
    if (p.schema && !('format' in p.schema) && !('pattern' in p.schema)) p.schema.format = 'uuid';
  }
}

/**
 * Generates the OpenAPI document of an application. `@nestjs/swagger` is loaded only here: at run time the gateway serves the
 * committed document.
 */
export async function buildOpenApi(app: INestApplication, info: { title: string; description: string; version: string; tags: Record<string, string> }, extraModels: Type<unknown>[] = []): Promise<OpenAPIObject> {
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
  const builder = new DocumentBuilder().setTitle(info.title).setDescription(info.description).setVersion(info.version).addBearerAuth();
  for (const [name, description] of Object.entries(info.tags)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels,
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '').replace(/^./, (c) => c.toLowerCase())}.${method}`,
  });
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, op] of Object.entries(item as Record<string, Operation>)) completeOperation(path, method, op);
  }
  document.components ??= {};
  document.components.schemas = { ...document.components.schemas, ...(COMPONENTS as unknown as typeof document.components.schemas) };
  // Sorted, so that a diff shows what changed and nothing else.
  document.paths = Object.fromEntries(Object.entries(document.paths).sort(([a], [b]) => (a < b ? -1 : 1)));
  document.components.schemas = Object.fromEntries(Object.entries(document.components.schemas ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
  return document;
}
