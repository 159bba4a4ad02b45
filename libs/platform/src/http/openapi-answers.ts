/** What the generator and the access declarations say about an operation. */
export interface Operation {
  description?: string;
  responses?: Record<string, { description?: string; content?: unknown; headers?: Record<string, unknown> }>;
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema?: Record<string, unknown> }[];
  requestBody?: { content?: Record<string, unknown> };
  security?: Record<string, string[]>[];
  'x-access'?: { tier: string; area?: string; session_only?: true; ticket?: true; identifies?: true };
}

const json = (schema: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } });
const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });

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
};

const SUCCESS: Record<string, string> = {
  '200': 'The result.',
  '201': 'What was made.',
  '202': 'Taken in; it goes on after this answer.',
  '204': 'Done; there is nothing to say.',
};

const NOT_MEMBER = '`not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended.';
const ROLE = '`insufficient_role`: the role in it does not allow this.';
const SCOPE = '`insufficient_scope`: the API token is not good for this.';

/** Why an access declaration refuses those who have signed in. */
function refusals({ tier, area, session_only }: NonNullable<Operation['x-access']>): string[] {
  if (tier === 'public') return [];
  if (tier === 'platform_admin') return ['`platform_admin_required`: the caller is no operator.', SCOPE];
  const ofOrg = tier === 'user' ? [] : tier === 'member' ? [NOT_MEMBER] : [NOT_MEMBER, ROLE];
  return [...ofOrg, ...(area || session_only ? [SCOPE] : [])];
}

/** What is answered in the place of a handler, by status: guards, parsers, limits and interceptors answer so wherever they stand. */
function platformAnswers(path: string, method: string, op: Operation): [status: string, sentences: string[]][] {
  const access = op['x-access'] ?? { tier: 'public' };
  const hasParams = path.includes('{');
  const repeatable = op.parameters?.some((p) => p.in === 'header' && p.name === 'Idempotency-Key');
  const media = Object.keys(op.requestBody?.content ?? {});
  const when = (condition: unknown, ...sentences: string[]) => (condition ? sentences : []);
  return [
    [
      '400',
      [
        ...when(hasParams, '`bad_request`: the path is not percent-encoded UTF-8.'),
        ...when(repeatable, '`idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters.'),
      ],
    ],
    ['401', when(access.tier !== 'public', '`not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out.')],
    ['403', refusals(access)],
    ['404', when(hasParams, '`not_found`: nothing there, or nothing that the caller may see.')],
    [
      '409',
      [
        ...when(repeatable, '`idempotency_in_progress`: the first request with this key is still being handled.'),
        ...when(method !== 'get', '`conflict`: somebody else has changed the same thing at this moment; try again.'),
      ],
    ],
    ['413', when(media.includes('application/json'), '`payload_too_large`: the body is larger than 1 MiB.')],
    ['415', when(media.length, `\`unsupported_media_type\`: the body is not ${media.map((type) => `\`${type}\``).join(' or ')}.`)],
    [
      '422',
      [
        'The request is not valid; every problem is listed.',
        ...when(repeatable, '`idempotency_mismatch`: the key came with another request before.'),
      ],
    ],
    ['429', ['`rate_limited`: too many requests.']],
    // What operators use stands behind the gateway, which answers where that does not.
    ['502', when(access.tier === 'platform_admin', '`upstream_unavailable`: the service behind cannot be reached.')],
    ['503', ['`service_unavailable`: the database or another part cannot answer right now.']],
    ['504', when(access.tier === 'platform_admin', '`upstream_timeout`: the service behind did not answer in time.')],
  ];
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Adds to an operation what the platform answers on its behalf, beside what its handler declares. */
export function completeAnswers(path: string, method: string, op: Operation): void {
  const responses = (op.responses ??= {});
  for (const [status, sentences] of platformAnswers(path, method, op)) {
    if (!sentences.length) continue;
    const own = responses[status]?.description;
    responses[status] = { ...responses[status], description: [...(own ? [sentence(own)] : []), ...sentences].join(' ') };
  }
  const repeatable = op.parameters?.some((p) => p.in === 'header' && p.name === 'Idempotency-Key');
  for (const [status, response] of Object.entries(responses)) {
    response.description ||= SUCCESS[status] ?? 'The request is refused; `code` says why.';
    if (status >= '400') response.content ??= json(status === '422' ? 'HTTPValidationError' : 'Error');
    if (status === '429' || status === '503') response.headers = { ...response.headers, ...header('Retry-After') };
    if (repeatable && status < '300') response.headers = { ...response.headers, ...header('Idempotency-Replayed') };
  }
}
