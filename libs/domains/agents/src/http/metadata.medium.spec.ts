import { hashOf } from '@aps/platform/definitions';
import { sql } from '@aps/platform/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { anAgent } from '../testing';
import { agentsService } from '../testing/agents';

describe('metadata', () => {
  const t = agentsService();
  let org: TestTeam;
  beforeAll(async () => {
    org = await aTeam(t);
  });

  /** In the order in which jsonb keeps keys: by length, then by bytes. */
  const KEYS = ['then', 'toJSON', '__proto__', 'prototype', 'constructor', 'hasOwnProperty'];
  const METADATA = `{${KEYS.map((key) => `"${key}":{"__proto__":[{"constructor":{"prototype":null}}]}`).join(',')}}`;
  const stored = async (table: string, column: string, id: string) =>
    (await t.db.query(sql<{ text: string }>(`SELECT (${column})::text AS text FROM ${table} WHERE id = $1`), [id]))[0].text.replaceAll(
      /(?<=[:,]) /g,
      '',
    );

  it('keeps every key, on its way in, where it lies, and on its way out', async () => {
    const made = await t.call('POST', `${org.path}/agents`, { as: org.owner, body: `{"name":"Keys","metadata":${METADATA}}` });
    expect(made.status).toBe(201);
    const id = made.body.id as string;
    expect(await stored('agents', 'metadata', id)).toBe(METADATA);
    expect(made.text).toContain(`"metadata":${METADATA}`);
    expect((await t.call('GET', `${org.path}/agents/${id}`, { as: org.owner })).text).toContain(`"metadata":${METADATA}`);
    expect((await t.call('GET', `${org.path}/agents`, { as: org.owner })).text).toContain(`"metadata":${METADATA}`);

    const [sealed] = (await t.call('GET', `${org.path}/agents/${id}/revisions`, { as: org.owner })).body.items as { id: string }[];
    const revision = await t.call('GET', `${org.path}/agents/${id}/revisions/${sealed.id}`, { as: org.owner });
    expect(revision.text).toContain(`"metadata":${METADATA}`);
    expect(await stored('agent_revisions', `config->'metadata'`, sealed.id)).toBe(METADATA);
    expect(hashOf(revision.body.config)).toBe(revision.body.hash);
  });

  it('is changed by a key like any other', async () => {
    const { id } = await anAgent(t, org, { metadata: { a: 1 } });
    const patched = await t.call('PATCH', `${org.path}/agents/${id}?deploy=true`, { as: org.owner, body: `{"metadata":${METADATA}}` });
    expect([patched.status, patched.text.includes(`"metadata":${METADATA}`)]).toEqual([200, true]);
    expect((await t.call('GET', `${org.path}/agents/${id}/revisions`, { as: org.owner })).body.total).toBe(2);
    expect(({} as Record<string, unknown>).constructor).toBe(Object);
  });

  it('is answered again as it was', async () => {
    const request = { as: org.owner, body: `{"name":"Again","metadata":${METADATA}}`, headers: { 'Idempotency-Key': 'k' } };
    const [first, again] = [await t.call('POST', `${org.path}/agents`, request), await t.call('POST', `${org.path}/agents`, request)];
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    const other = await t.call('POST', `${org.path}/agents`, {
      ...request,
      body: request.body.replace('"__proto__":[', '"__proto__":[1,'),
    });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  });

  it.each(['0', '-1.5', '9007199254740992', '1e23', '5e-324', '1.7976931348623157e308', '0.1'])('keeps the number %s', async (number) => {
    const { status, body } = await t.call('POST', `${org.path}/agents`, { as: org.owner, body: `{"name":"N","metadata":{"n":${number}}}` });
    expect([status, (await t.call('GET', `${org.path}/agents/${body.id}`, { as: org.owner })).body.metadata]).toEqual([
      201,
      { n: Number(number) },
    ]);
  });

  it.each(['POST', 'PATCH'])('is not changed in silence: %s', async (method) => {
    const path = method === 'POST' ? `${org.path}/agents` : `${org.path}/agents/${(await anAgent(t, org)).id}`;
    for (const number of ['9007199254740993', '1e400', '0.1000000000000000055']) {
      const { status, body } = await t.call(method, path, { as: org.owner, body: `{"name":"N","metadata":{"a":[{"n":${number}}]}}` });
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'number_unsafe', ['body', 'metadata', 'a', 0, 'n']]);
    }
  });
});
