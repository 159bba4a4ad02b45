import { request } from 'node:http';
import { uuidv7 } from 'uuidv7';
import { sql } from '@aps/platform/testing';
import { anEmail, type Member, OrgsTestApp } from '../testing/orgs-test-app';

const VALUES: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202egnp.exe',
  "'; DROP TABLE organizations; --",
  '%',
  '_',
  '\\',
  '{{7*7}}',
  '../../etc',
  'x'.repeat(100_000),
  '\u{1F600}'.repeat(60),
  'İ',
  [],
  [[]],
  {},
  { toString: 1 },
  { $ne: null },
  [null],
  { name: { length: 5 } },
  'OWNER\n',
  'ada@example.com\r\nBcc: x@example.com',
  'ä@bücher.example',
  `a@${'b.'.repeat(60)}example`,
];
const BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '7',
  '{"__proto__":{"role":"OWNER"}}',
  '{"constructor":{"prototype":{"role":"OWNER"}}}',
  '{"role":"OWNER","role":"MEMBER"}',
  `${'['.repeat(5_000)}`,
  '\ufeff{}',
];
const IDS = [
  'x',
  '%00',
  '%',
  '..',
  '%2e%2e',
  '00000000-0000-0000-0000-000000000000',
  uuidv7().toUpperCase(),
  `${uuidv7()}'`,
  'x'.repeat(2_000),
  '%ff',
  'undefined',
  '*',
];
const QUERIES = [
  'limit=101',
  'limit=-1',
  'limit=1e3',
  'limit=',
  'offset=99999999999999999999',
  'offset=2147483647',
  'limit=1&limit=2',
  'limit[]=1',
  'limit[a]=1',
  'offset=%00',
  '__proto__=1',
];

describe('hostile input', () => {
  let t: OrgsTestApp;
  let orgId: string;
  let owner: Member;
  beforeAll(async () => {
    t = await OrgsTestApp.start({ MAX_OWNED_ORGS: '0' });
    ({ orgId, owner } = await t.orgWithOwner());
  });
  afterAll(() => t.close());

  /** The path as it is; `fetch` would resolve `..` before it asks. */
  const raw = (method: string, path: string) =>
    new Promise<number>((resolve, reject) => {
      const call = request(t.url, { method, path, headers: { Authorization: `Bearer ${owner.token}` } }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0));
      });
      call.once('error', reject).end();
    });

  /** Anything but a fault of ours. */
  const survives = async (method: string, path: string, body?: unknown) => {
    const answer = await t.call(method, path, { as: owner, body }).catch((error: Error) => ({ status: 0, body: error.message }));
    if (answer.status === 0 || answer.status >= 500)
      throw new Error(
        `${method} ${path.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 200)} answered ${answer.status} ${JSON.stringify(answer.body)}`,
      );
  };

  it('never breaks a body', async () => {
    const routes: [string, string, string[]][] = [
      ['POST', '/api/orgs', ['name', 'slug']],
      ['PATCH', `/api/orgs/${orgId}`, ['name', 'slug']],
      ['POST', `/api/orgs/${orgId}/members/invitations`, ['email', 'role']],
      ['POST', `/api/orgs/${orgId}/members/invite`, ['email', 'role']],
      ['PATCH', `/api/orgs/${orgId}/members/${uuidv7()}`, ['role']],
      ['PATCH', `/api/orgs/${orgId}/members/invitations/${uuidv7()}`, ['role']],
    ];
    for (const [method, path, fields] of routes) {
      for (const field of fields) {
        for (const value of VALUES) await survives(method, path, { name: 'Fine', email: anEmail(), [field]: value });
      }
      for (const body of BODIES) await survives(method, path, body);
    }
    expect(await t.db.query(sql('SELECT 1 FROM organizations WHERE id = $1'), [orgId])).toHaveLength(1);
  }, 120_000);

  it('never breaks a path', async () => {
    for (const id of IDS) {
      for (const [method, path] of [
        ['GET', `/api/orgs/${id}`],
        ['GET', `/api/orgs/${id}/members`],
        ['GET', `/api/orgs/${orgId}/members/${id}`],
        ['DELETE', `/api/orgs/${orgId}/members/${id}`],
        ['DELETE', `/api/orgs/${orgId}/members/invitations/${id}`],
        ['GET', `/api/invitations/${id}`],
        ['POST', `/api/invitations/${id}/accept`],
      ]) {
        const status = await raw(method, path);
        expect([status, status >= 400 && status < 500]).toEqual([status, true]);
      }
    }
  });

  it('never breaks a query', async () => {
    for (const query of QUERIES) {
      for (const path of ['/api/orgs', `/api/orgs/${orgId}/members`, `/api/orgs/${orgId}/audit`]) await survives('GET', `${path}?${query}`);
    }
  });

  it('keeps a name as it was written, and finds nothing to run in it', async () => {
    const name = `<script>alert(1)</script> ' " \\ %s \${x} \u202e`;
    const { body } = await t.call('PATCH', `/api/orgs/${orgId}`, { as: owner, body: { name } });
    expect(body.name).toBe(name);
  });
});
