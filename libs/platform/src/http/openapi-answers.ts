import { ERRORS, type ErrorCode } from '@aps/contracts';

/** As the generator writes it: of OpenAPI 3.0. */
export interface Schema {
  $ref?: string;
  type?: string;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
}

/** What the generator and the access declarations say about an operation. */
export interface DocumentedOperation {
  description?: string;
  responses?: Record<string, { description?: string; content?: unknown; headers?: Record<string, unknown> }>;
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema?: Record<string, unknown> }[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  security?: Record<string, string[]>[];
  'x-refuses'?: ErrorCode[];
  'x-access'?: { tier: string; area?: string; session_only?: true; ticket?: true; identifies?: true };
}

const json = (schema: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } });
const headers = (names: string[]) => Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers of answers that several operations give. */
export const ANSWER_HEADERS = {
  'Retry-After': {
    description: 'Seconds after which the same request may be answered otherwise.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Idempotency-Replayed': {
    description: '`true` where this is the answer to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'RateLimit-Limit': { description: 'Requests that the limit which is closest lets through.', schema: { type: 'integer', minimum: 0 } },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: { type: 'integer', minimum: 0 } },
  'RateLimit-Reset': { description: 'Seconds until all of them are left again.', schema: { type: 'integer', minimum: 0 } },
};
const RATE = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

const SUCCESS: Record<string, string> = {
  '200': 'The result.',
  '201': 'What was made.',
  '202': 'Taken in; it goes on after this answer.',
  '204': 'Done; there is nothing to say.',
};

/** Why an access declaration refuses those who have signed in. */
function refusals({ tier, area, session_only }: NonNullable<DocumentedOperation['x-access']>): ErrorCode[] {
  if (tier === 'public') return [];
  if (tier === 'platform_admin') return ['platform_admin_required', 'insufficient_scope'];
  const ofOrg: ErrorCode[] =
    tier === 'user'
      ? []
      : ['not_org_member', 'org_suspended', 'sso_required', ...(tier === 'member' ? [] : (['insufficient_role'] as const))];
  return [...ofOrg, ...(area || session_only ? (['insufficient_scope'] as const) : [])];
}

/** Whether a body has a place that keeps numbers as they were written, in its own fields or in the objects in it. */
function keepsNumbers(schema: Schema | undefined, schemas: Record<string, Schema>, outer: readonly Schema[] = []): boolean {
  if (!schema || outer.includes(schema)) return false;
  if (schema.$ref) return keepsNumbers(schemas[schema.$ref.split('/').at(-1)!], schemas, outer);
  if (schema.additionalProperties === true || schema.oneOf?.some(({ type }) => type === 'number')) return true;
  const parts = [schema.items, ...(schema.allOf ?? []), ...Object.values(schema.properties ?? {})];
  return parts.some((part) => keepsNumbers(part, schemas, [...outer, schema]));
}

/** What is answered in the place of a handler: guards, parsers, limits and interceptors answer so wherever they stand. */
function platformAnswers(path: string, method: string, op: DocumentedOperation, schemas: Record<string, Schema>): ErrorCode[] {
  const access = op['x-access'] ?? { tier: 'public' };
  const hasParams = path.includes('{');
  const content = op.requestBody?.content ?? {};
  const when = (condition: unknown, ...codes: ErrorCode[]) => (condition ? codes : []);
  return [
    ...when(hasParams, 'bad_request', 'not_found'),
    ...when(access.tier !== 'public', 'not_authenticated', 'user_deactivated'),
    ...refusals(access),
    ...when(isRepeatable(op), 'idempotency_key_invalid', 'idempotency_in_progress', 'idempotency_mismatch'),
    ...when(method !== 'get', 'conflict'),
    ...when(op.requestBody, 'payload_too_large', 'unsupported_media_type'),
    'validation_error',
    ...when(keepsNumbers(content['application/json']?.schema, schemas), 'number_unsafe'),
    'rate_limited',
    'service_unavailable',
    // What operators use stands behind the gateway, which answers where that does not.
    ...when(access.tier === 'platform_admin', 'upstream_unavailable', 'upstream_timeout'),
  ];
}

const isRepeatable = (op: DocumentedOperation) => op.parameters?.some((p) => p.in === 'header' && p.name === 'Idempotency-Key');

/** Adds to an operation what the platform answers on its behalf, and says what every code means. */
export function completeAnswers(path: string, method: string, op: DocumentedOperation, schemas: Record<string, Schema>): void {
  const { default: usual, ...responses } = op.responses ?? {};
  if (usual) responses[method === 'post' ? '201' : '200'] = usual;
  const { 'x-refuses': own = [] } = op;
  delete op['x-refuses'];
  const platform = platformAnswers(path, method, op, schemas);
  const twice = own.filter((code) => platform.includes(code));
  if (twice.length) throw new Error(`${method} ${path} need not say that it refuses with ${twice.join()}: that follows.`);
  const said = new Map<number, string[]>();
  for (const code of [...own, ...platform]) {
    const { status, means } = ERRORS[code];
    said.set(status, [...(said.get(status) ?? []), `\`${code}\`: ${means}`]);
  }
  for (const [status, sentences] of said)
    responses[status] = { description: sentences.join(' '), content: json(status === 422 ? 'HTTPValidationError' : 'Error') };
  const isCounted = platform.includes('rate_limited');
  for (const [status, response] of Object.entries(responses)) {
    response.description ||= SUCCESS[status];
    const told = [
      ...(status === '429' || status === '503' ? ['Retry-After'] : []),
      ...(isRepeatable(op) && status < '300' ? ['Idempotency-Replayed'] : []),
      ...(isCounted && (status < '300' || status === '429') ? RATE : []),
    ];
    if (told.length) response.headers = { ...response.headers, ...headers(told) };
  }
  op.responses = responses;
}
