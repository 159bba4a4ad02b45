import { aPerson, type Person } from '@aps/identity/testing';
import { ERRORS } from '@aps/contracts';
import { bodySchema, buildDocument, operationsOf, resolve, type Document, type Schema } from './testing/document';
import { CANARY, hostilePaths, hostileRequests, send, type HostileRequest, type RawAnswer } from './testing/hostile';
import { House } from './testing/house';
import { fill, OUTSIDE_OF_TENANTS, tenant, type Tenant } from './testing/tenant';

/** Only these may name the kind of a problem; clients switch on them. */
const TYPES = new Set(
  'missing string_type int_parsing float_parsing bool_parsing uuid_parsing decimal_parsing datetime_parsing enum literal_error string_too_short string_too_long greater_than_equal less_than_equal too_long too_short dict_type list_type json_invalid value_error'.split(
    ' ',
  ),
);

let house: House;
let org: Tenant;
let operator: Person;
let machine: string;
let document: Document;
let params: Record<string, string>;

beforeAll(async () => {
  house = await new House().start();
  [document, org, operator] = [await buildDocument(), await tenant(house, 'h'), await aPerson(house, { admin: true })];
  const environment = { kind: 'REMOTE_MACHINE', name: 'Machine' };
  machine = (await house.make('POST', `/api/orgs/${org.id}/environments`, { as: org.owner, body: environment })).daemon_token;
  params = { ...OUTSIDE_OF_TENANTS, ...org.params, user_id: org.member.id, file: 'start.js' };
});
afterAll(() => house?.close());

const bearerOf = (path: string) =>
  path.startsWith('/api/admin') ? operator.token : path.startsWith('/api/daemon') ? machine : org.owner.token;

/** What is wrong about an answer; undefined when it is as it should be. */
function fault({ status, headers, text }: RawAnswer): string | undefined {
  if (status >= 500) return `a ${status}`;
  if (
    headers['x-content-type-options'] !== 'nosniff' ||
    headers['x-frame-options'] === undefined ||
    !headers['content-security-policy']?.includes("frame-ancestors 'none'")
  )
    return 'no security headers';
  if (status < 400) return undefined;
  let body: { detail: unknown; code: keyof typeof ERRORS; request_id: string };
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    return 'an error that is no JSON';
  }
  if (text.includes(CANARY)) return 'an error that repeats the input';
  if (ERRORS[body.code].status !== status) return 'a code that does not belong to the status';
  if (!body.request_id || body.request_id !== headers['x-request-id']) return 'no request id';
  if (status !== 422) return typeof body.detail === 'string' && body.detail ? undefined : 'a detail that is no sentence';
  const problems = body.detail as { loc: unknown[]; msg: string; type: string }[];
  const proper =
    Array.isArray(problems) &&
    problems.length > 0 &&
    problems.every(
      (p) =>
        ['body', 'query', 'path', 'header'].includes(p.loc[0] as string) && p.msg && (TYPES.has(p.type) || p.type.startsWith('semantic.')),
    );
  return proper ? undefined : 'problems of an undocumented form';
}

/** Sends all, several at a time, and lists what is answered wrongly. */
async function faults(requests: HostileRequest[]): Promise<string[]> {
  const found: string[] = [];
  const queue = requests.values();
  const worker = async () => {
    for (const request of queue) {
      const answer = await send(house.url, request, bearerOf(request.path)).catch((error: Error) => error);
      const wrong = answer instanceof Error ? `no answer: ${answer.message}` : fault(answer);
      if (wrong)
        found.push(
          `${request.method} ${request.path.slice(0, 120)} [${request.what.slice(0, 80)}]: ${wrong} ${answer instanceof Error ? '' : answer.text.slice(0, 200)}`.replaceAll(
            org.id,
            'ORG',
          ),
        );
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  return found;
}

const withInput = () => operationsOf(document).filter(({ op }) => op.requestBody || op.parameters?.some((p) => p.in === 'query'));

it('sends thousands of hostile bodies and queries, and every answer is a proper one', async () => {
  const requests = withInput().flatMap(({ method, path, op }) => hostileRequests(document, method, op, fill(path, params)));
  expect(requests.length).toBeGreaterThan(2_000);
  expect(await faults(requests)).toEqual([]);
});

it('and hostile paths', async () => {
  const paths = operationsOf(document).flatMap(({ method, path }) => hostilePaths(method, path, (rest) => fill(rest, params)));
  const edges = [
    '/api/admin/%',
    '/api/admin/%zz',
    '/api/admin/orgs/%00',
    '/api/admin/%2e%2e/orgs',
    '/api//admin',
    '/api/admin/..%2f..%2f',
    '/api/%',
    '/%ff',
    '/api/orgs/%',
    '/%00',
  ];
  const requests = [...paths, ...edges.map((path) => ({ what: 'edge', method: 'GET', path }))];
  expect(requests.length).toBeGreaterThan(500);
  expect(await faults(requests)).toEqual([]);
});

it('nothing of it has changed a prototype', () => {
  expect(({} as { polluted?: unknown; admin?: unknown }).polluted ?? ({} as { admin?: unknown }).admin).toBeUndefined();
});

it('the service is still well', async () => {
  expect((await house.call('GET', '/api/auth/me', { as: operator })).status).toBe(200);
});

describe('a 422 lists every problem at once', () => {
  /** A value of a type that the field does not take. */
  const wrong = (schema: Schema): unknown => (schema.type === 'object' ? CANARY : schema.type === 'array' ? { a: 1 } : { wrong: CANARY });

  it('of body and query together, without repeating a value', async () => {
    const odd: string[] = [];
    for (const { method, path, op } of operationsOf(document)) {
      const schema = bodySchema(document, op);
      // A field that takes any JSON takes nothing amiss.
      const fields = Object.entries(schema?.properties ?? {}).filter(([, field]) => (resolve(document, field).oneOf ?? []).length < 5);
      const numbers = (op.parameters ?? []).filter(
        (p) => p.in === 'query' && ['integer', 'number', 'boolean'].includes(resolve(document, p.schema).type ?? ''),
      );
      if (!fields.length && !numbers.length) continue;
      const body = fields.length
        ? JSON.stringify(Object.fromEntries(fields.map(([name, s]) => [name, wrong(resolve(document, s))])))
        : undefined;
      const query = numbers.map((p) => `${p.name}=${CANARY}`).join('&');
      const answer = await send(
        house.url,
        { what: '', method, path: `${fill(path, params)}${query && `?${query}`}`, headers: { 'content-type': 'application/json' }, body },
        bearerOf(path),
      );
      const problems = answer.status === 422 ? (JSON.parse(answer.text) as { detail: { loc: unknown[] }[] }).detail : [];
      const named = new Set(problems.map((p) => `${p.loc[0] as string}.${p.loc[1] as string}`));
      const silent = [...fields.map(([name]) => `body.${name}`), ...numbers.map((p) => `query.${p.name}`)].filter(
        (name) => !named.has(name),
      );
      if (answer.status !== 422 || silent.length || answer.text.includes(CANARY))
        odd.push(
          `${method} ${path}: ${answer.status}, says nothing of ${silent.join()} ${answer.text.slice(0, 200)}`.replaceAll(org.id, 'ORG'),
        );
    }
    expect(odd).toEqual([]);
  });
});
