import type { IncomingMessage, ServerResponse } from 'node:http';
import { connectionUuid } from '@aps/contracts';
import { Connection } from '@aps/entities';
import { mails } from '@aps/identity/testing';
import { anOrg, aTeam, type TestTeam } from '@aps/orgs/testing';
import { PutOff } from '@aps/platform/queues';
import { eventually, sql, type Bearer } from '@aps/platform/testing';
import { NotSent } from '@aps/tools';
import { startDemoTools, type DemoTools } from '../../../../../tools/demo-tools/server';
import { AccountsProcessor } from '../jobs';
import { ServerFailed, ServerRefused } from '../mcp/tool-server';
import { ConnectionCalls } from '../tools/connection-calls';
import { AccessTokens } from '../consents/access-tokens';
import { ManagedAccounts } from './managed-accounts';
import { connectionsService, connectManaged, cookieIn, signIn } from '../testing';

let demo: DemoTools;
/** What the provider is asked, and answers in its own place where that says so. */
let seen: { path: string; key: unknown }[] = [];
let before: (path: string, res: ServerResponse) => boolean = () => false;
const hook = (path: string, { headers }: IncomingMessage, res: ServerResponse): boolean => {
  seen.push({ path, key: headers['x-api-key'] });
  return before(path, res);
};
const says = (res: ServerResponse, status: number, body: object): true => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return true;
};

const t = connectionsService(async () => {
  demo = await startDemoTools({ before: hook });
  return [];
});
afterAll(() => demo?.close());

let org: TestTeam;
const NONE = { DEMO_APPS_URL: undefined, COMPOSIO_API_KEY: undefined, COMPOSIO_URL: undefined, NODE_ENV: process.env.NODE_ENV };
/** Under an address of its own each time: which apps there are is known for a while. */
let asked = 0;
const address = () => `${new URL(demo.url).origin}/${'/'.repeat(asked++)}`;
const forgetAway = () => Object.assign(t.get(AccountsProcessor), { awayUntil: 0 });
beforeEach(async () => {
  before = () => false;
  seen = [];
  forgetAway();
  t.configure({ ...NONE, DEMO_APPS_URL: new URL(demo.url).origin });
  org = await aTeam(t);
});
let clock: jest.SpyInstance | undefined;
afterEach(() => clock?.mockRestore());
afterAll(() => t.configure(NONE));

const call = (method: string, at: string, as: Bearer = org.member, body?: object, of: { path: string } = org) =>
  t.call(method, `${of.path}/connections${at}`, { as, body });
const rowOf = (id: string) => t.db.manager.findOneByOrFail(Connection, { id: connectionUuid(id) });
const begin = async (app_key = 'demo-crm', as: Bearer = org.member, body: object = {}, of: { path: string } = org) => {
  const answer = await call('POST', '', as, { app_key, method: 'oauth2', ...body }, of);
  expect(answer.status).toBe(201);
  const { connection, authorize_url, expires_at } = answer.body;
  return { id: connection.id as string, connection, authorize_url, expires_at, cookie: cookieIn(answer.headers) };
};
/** @returns what the connection is now, as its user is told */
const landed = async (link: string, cookie?: string) => (await signIn(t, link, cookie))?.searchParams.get('status');
const connected = async (app_key = 'demo-crm', as: Bearer = org.member, body: object = {}, of: { id: string } = org): Promise<string> =>
  (await connectManaged(t, of, as, { app_key, ...body })).id;
const calling = (id: string, principalId: string | null = org.member.id) => ({
  orgId: org.id,
  connectionId: connectionUuid(id)!,
  principalId,
});
const soon = () => AbortSignal.timeout(10_000);
const callTool = (id: string, name: string, args: object = {}) =>
  t.get(ConnectionCalls).call(calling(id), { name, args: { ...args }, idempotencyKey: 'turn/1/call', signal: soon(), progressed: () => undefined }); // prettier-ignore
const only = (account: string) => demo.apps.accounts.get(account)!;
const JOBS = sql<{ id: string; payload: { org_id: string; connection_id: string; account_id: string } }>(`
  SELECT id, payload FROM outbox WHERE job = 'connection.forget_account' AND payload->>'org_id' = $1 AND available_at <= now() + $2::interval`);
/** Does the jobs by which the provider is told, as a worker does it within a time. */
const done = async (within = '10 seconds'): Promise<void> => {
  for (const { id, payload } of await t.db.query(JOBS, [org.id, within])) {
    await t.get(AccountsProcessor).forget(payload);
    await t.db.execute(sql('DELETE FROM outbox WHERE id = $1'), [id]);
  }
};
const accounts = (user: string) => [...demo.apps.accounts.values()].filter(({ user_id }) => user_id === user);

describe('the catalog', () => {
  it('has the apps of the provider before any server, and one way to connect each', async () => {
    const { body } = await call('GET', '/catalog');
    const cards = body.items as { app_key: string; kind: string }[];
    expect([body.managed_unavailable, body.total]).toEqual([false, cards.length]);
    expect(cards.slice(-3)).toEqual([
      ...(['demo-crm', 'demo-drive'] as const).map((app_key) => ({
        ...{ app_key, kind: 'managed', provider_key: app_key, icon_url: null, connected: false, connection_count: 0 },
        ...{ name: expect.stringMatching(/^Demo /), description: expect.any(String), knowledge_capable: app_key === 'demo-drive' },
      })),
      expect.objectContaining({ app_key: 'custom-mcp', kind: 'custom_mcp' }),
    ]);
    for (const key of ['demo-crm', 'demo-drive'])
      expect((await call('GET', `/catalog/${key}/methods`)).body).toEqual({
        methods: [{ method: 'oauth2', label: 'Sign in', rank: 1, recommended: true, fields: [] }],
      });
    expect((await call('GET', '/catalog/demo-erp/methods')).status).toBe(404);
    const refused = async (body: object) => (await call('POST', '', org.member, body)).body.code;
    expect(await refused({ app_key: 'demo-erp', method: 'oauth2' })).toBe('unknown_app');
    expect(await refused({ app_key: 'demo-crm', method: 'none' })).toBe('unknown_method');
    expect(await refused({ app_key: 'demo-crm', method: 'oauth2', credentials: { client_id: 'x' } })).toBe('validation_error');
  });

  it('goes on without them, and says so, where the provider is away or talks nonsense', async () => {
    const off = async () => {
      const catalog = await call('GET', '/catalog');
      expect([catalog.status, catalog.body.managed_unavailable]).toEqual([200, true]);
      expect(catalog.body.items.filter(({ kind }: { kind: string }) => kind === 'managed')).toEqual([]);
      expect((await call('GET', '/catalog/demo-crm/methods')).body.code).toBe('upstream_unavailable');
      expect((await call('POST', '', org.member, { app_key: 'demo-crm', method: 'oauth2' })).body.code).toBe('upstream_unavailable');
      expect((await call('GET', '/catalog/demo/methods')).status).toBe(200);
    };
    t.configure({ DEMO_APPS_URL: 'http://127.0.0.1:9' });
    await off();
    for (const answer of [
      (res: ServerResponse) => says(res, 500, {}),
      (res: ServerResponse) => says(res, 401, { error: { message: 'Invalid API key' } }),
      (res: ServerResponse) => says(res, 200, { items: 'none' }),
      (res: ServerResponse) => Boolean(res.writeHead(302, { location: 'http://127.0.0.1:9' }).end()),
    ]) {
      before = (path, res) => path === '/auth_configs' && answer(res);
      t.configure({ DEMO_APPS_URL: address() });
      await off();
    }
  });

  it('asks Composio where a key is set, once a minute, and the demo neither then nor in production', async () => {
    const managed = async () => {
      const { items } = (await call('GET', '/catalog')).body;
      return items.filter(({ kind }: { kind: string }) => kind === 'managed').length;
    };
    t.configure({ NODE_ENV: 'production', DEMO_APPS_URL: address() });
    expect([await managed(), seen]).toEqual([0, []]);
    t.configure({ ...NONE, DEMO_APPS_URL: 'http://127.0.0.1:9', COMPOSIO_API_KEY: 'ak_secret', COMPOSIO_URL: address() });
    expect([await managed(), await managed()]).toEqual([2, 2]);
    expect(seen).toEqual([
      { path: '/auth_configs', key: 'ak_secret' },
      { path: '/toolkits/multi', key: 'ak_secret' },
    ]);
  });

  it('holds nobody up who asks while it asks anew', async () => {
    const managed = async (): Promise<number> =>
      (await call('GET', '/catalog')).body.items.filter(({ kind }: { kind: string }) => kind === 'managed').length;
    t.configure({ DEMO_APPS_URL: address() });
    expect(await managed()).toBe(2);
    const held: ServerResponse[] = [];
    before = (path, res) => path === '/auth_configs' && held.push(res) > 0;
    clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
    expect([await managed(), await managed()]).toEqual([2, 2]);
    expect((await call('POST', '', org.member, { app_key: 'demo', method: 'none' })).status).toBe(201);
    const [asking] = await eventually(
      () => Promise.resolve(held),
      ({ length }) => length > 0,
    );
    says(asking, 200, { items: [] });
    await eventually(managed, (n) => n === 0);
    // What was so an hour ago says nothing.
    clock.mockReturnValue(performance.now() + 3_700_000);
    before = () => false;
    expect([await managed(), held.length]).toEqual([2, 1]);
  });

  it('has an app that is both ours and managed once, with a further way', async () => {
    const [config, toolkit] = [
      { id: 'ac_1', status: 'ENABLED', toolkit: { slug: 'notion' } },
      { slug: 'notion', name: 'Notion' },
    ];
    before = (path, res) =>
      path !== '/tools' && says(res, 200, { items: [path === '/auth_configs' ? config : toolkit], next_cursor: null });
    t.configure({ DEMO_APPS_URL: address() });
    const { items } = (await call('GET', '/catalog')).body;
    expect(items.filter(({ app_key }: { app_key: string }) => app_key === 'notion')).toMatchObject([{ kind: 'static' }]);
    const { methods } = (await call('GET', '/catalog/notion/methods')).body;
    expect(methods.map(({ method }: { method: string }) => method)).toEqual(['mcp_oauth', 'oauth2']);
  });
});

describe('connecting an account', () => {
  it('makes the connection active for who asked, with the tools of the app, and keeps no secret', async () => {
    const { id, connection, authorize_url, expires_at, cookie } = await begin();
    expect(connection).toMatchObject({ status: 'initiated', method: 'oauth2', server_url: null, provider_key: 'demo-crm', tool_count: 0 });
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(600_000);
    expect((await call('POST', `/${id}/test`)).body.ok).toBe(false);
    expect((await signIn(t, authorize_url, cookie))!.href).toBe(`https://app.example/connections/${id}?status=active`);
    expect((await call('GET', `/${id}`)).body).toMatchObject({
      status: 'active',
      tool_count: 4,
      knowledge_capable: false,
      last_error: null,
    });
    expect((await call('POST', `/${id}/test`)).body).toEqual({ ok: true, message: 'The server answers. It has 4 tools.' });
    const levels = await t.db.query(
      sql<{ name: string; access_level: string }>(`SELECT name, access_level FROM connection_tools WHERE connection_id = $1 ORDER BY name`),
      [connectionUuid(id)],
    );
    expect(Object.fromEntries(levels.map(({ name, access_level }) => [name, access_level]))).toEqual({
      DEMO_CRM_CREATE_CONTACT: 'write',
      DEMO_CRM_DELETE_CONTACT: 'destructive',
      DEMO_CRM_GET_CONTACT: 'read',
      DEMO_CRM_LIST_CONTACTS: 'read',
    });
    const [account] = accounts(`org:${org.id}:user:${org.member.id}`);
    expect(await t.audit({ action: 'connection.authorized', org_id: org.id })).toMatchObject([
      { actor_id: org.member.id, metadata: { slug: connection.slug, account: account.id } },
    ]);
    expect((await call('GET', '/catalog')).body.items).toContainEqual(
      expect.objectContaining({ app_key: 'demo-crm', connected: true, connection_count: 1 }),
    );
  });

  it('in another browser waits until its user confirms, and an account that was not signed in to connects nothing', async () => {
    const { id, authorize_url } = await begin();
    const at = (await signIn(t, authorize_url))!;
    expect([at.searchParams.get('status'), (await rowOf(id)).status]).toEqual(['confirm', 'initiated']);
    expect((await call('POST', `/${id}/confirm`, org.member, { state: at.searchParams.get('state') })).body).toMatchObject({
      status: 'active',
    });
    const refused = await begin();
    expect(await landed(`${refused.authorize_url}?refuse`, refused.cookie)).toBe('error');
    expect(await rowOf(refused.id)).toMatchObject({ status: 'initiated', consent: null, last_error: 'The consent was refused.' });
    // Who comes back has said nothing that counts: the provider is asked.
    const forged = await call('POST', `/${refused.id}/authorize`);
    const [account] = [...demo.apps.accounts.values()].slice(-1);
    before = (path, res) =>
      path === `/connected_accounts/${account.id}` && says(res, 200, { ...account, user_id: 'org:other', status: 'ACTIVE' });
    expect(await landed(forged.body.authorize_url, cookieIn(forged.headers))).toBe('error');
    // Nor has somebody who may not decide on it any more, and nothing of theirs is left there.
    before = () => false;
    const late = await begin('demo-crm', org.owner);
    expect((await t.call('DELETE', org.path, { as: org.owner })).status).toBe(202);
    expect(await landed(late.authorize_url, late.cookie)).toBe('error');
    await done();
    expect(accounts(`org:${org.id}:user:${org.owner.id}`)).toEqual([]);
  });

  it('is of one organization, and there of its owner or of all', async () => {
    const other = await anOrg(t, { owner: org.member });
    const [mine, shared, theirs] = [
      await connected(),
      await connected('demo-crm', org.owner, { scope: 'org' }),
      await connected('demo-crm', org.member, {}, other),
    ];
    for (const user of [`org:${org.id}:user:${org.member.id}`, `org:${org.id}`, `org:${other.id}:user:${org.member.id}`])
      expect(accounts(user)).toMatchObject([{ status: 'ACTIVE' }]);
    await callTool(mine, 'DEMO_CRM_CREATE_CONTACT', { name: 'Grace', email: 'grace@example.com' });
    expect((await callTool(shared, 'DEMO_CRM_LIST_CONTACTS')).content).not.toContain('Grace');
    await expect(callTool(theirs, 'DEMO_CRM_LIST_CONTACTS')).rejects.toBeInstanceOf(NotSent);
  });

  it('cannot be asked for where the provider does not do it, which is said and keeps the connection', async () => {
    before = (path, res) => path === '/connected_accounts/link' && says(res, 400, { error: { message: 'The auth config is disabled.' } });
    const { connection, authorize_url } = await begin();
    expect([authorize_url, connection.status, connection.last_error]).toEqual([null, 'initiated', 'The auth config is disabled.']);
    before = (path, res) => path === '/connected_accounts/link' && says(res, 201, { redirect_url: 'javascript:alert(1)', connected_account_id: 'x' }); // prettier-ignore
    expect((await call('POST', `/${connection.id}/authorize`)).body.code).toBe('authorization_failed');
  });

  it('has the one before forgotten, and the last one with the connection', async () => {
    const id = await connected();
    const user = `org:${org.id}:user:${org.member.id}`;
    const [first] = accounts(user);
    const again = await call('POST', `/${id}/authorize`);
    expect(await landed(again.body.authorize_url, cookieIn(again.headers))).toBe('active');
    await done();
    expect(accounts(user).map(({ id }) => id)).not.toContain(first.id);
    expect(accounts(user)).toHaveLength(1);
    // A provider that is away holds nobody up, and hears of it later.
    before = (path, res) => path.startsWith('/connected_accounts/') && says(res, 503, {});
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    await expect(done()).rejects.toBeInstanceOf(PutOff);
    forgetAway();
    before = () => false;
    expect(accounts(user)).toHaveLength(1);
    await done();
    expect(accounts(user)).toEqual([]);
    // Told again, it knows of none.
    await t.get(ManagedAccounts).forget(org.id, connectionUuid(id)!, first.id);
  });

  it('leaves an account alone as long as it cannot be read whose it is', async () => {
    const user = `org:${org.id}:user:${org.member.id}`;
    const id = await connected();
    const { consent } = await rowOf(id);
    const keep = sql('UPDATE connections SET consent = $2 WHERE id = $1');
    // As where a worker lacks the newest of the master keys.
    await t.db.execute(keep, [connectionUuid(id), `${consent!.slice(0, -8)}AAAAAAAA`]);
    const job = { org_id: org.id, connection_id: connectionUuid(id)!, account_id: accounts(user)[0].id };
    await expect(t.get(AccountsProcessor).forget(job)).rejects.toBeInstanceOf(PutOff);
    await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [org.id]);
    // Nor does it stand before another one that can.
    const other = await anOrg(t, { owner: org.member });
    const readable = await connected('demo-crm', org.member, {}, other);
    await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [other.id]);
    await t.get(ManagedAccounts).leaveDeletedOrgs(1);
    expect([(await rowOf(id)).consent !== null, accounts(user)]).toEqual([true, [only(job.account_id)]]);
    expect((await rowOf(readable)).consent).toBeNull();
    // What has failed is not asked for the next one at once.
    seen = [];
    await expect(t.get(AccountsProcessor).forget({ ...job, account_id: 'another' })).rejects.toBeInstanceOf(PutOff);
    expect(seen).toEqual([]);
  });

  it('has those forgotten that nobody has completed in time, and not the one that somebody has', async () => {
    const user = `org:${org.id}:user:${org.member.id}`;
    const kept = await connected();
    const { id, authorize_url } = await begin();
    expect(await landed(authorize_url)).toBe('confirm');
    const again = await call('POST', `/${id}/authorize`);
    expect(await landed(again.body.authorize_url)).toBe('confirm');
    const gone = await begin();
    expect(await landed(gone.authorize_url)).toBe('confirm');
    expect((await call('DELETE', `/${gone.id}`)).status).toBe(204);
    await done('10 minutes');
    expect(accounts(user)).toHaveLength(4);
    await done('12 minutes');
    expect(accounts(user)).toHaveLength(1);
    expect((await call('POST', `/${kept}/test`)).body.ok).toBe(true);
  });

  it('has those forgotten that a deleted organization has, and one that is over while it is switched off', async () => {
    const user = `org:${org.id}:user:${org.member.id}`;
    const off = await connected();
    expect((await call('PATCH', `/${off}`, org.member, { status: 'disabled' })).status).toBe(200);
    await t.get(AccessTokens).over(await rowOf(off), 'It is over.');
    await done();
    expect(accounts(user)).toEqual([]);
    const [id, { id: other }] = [await connected(), await anOrg(t, { owner: org.member })];
    await connected('demo-crm', org.member, {}, { id: other });
    expect((await t.call('DELETE', org.path, { as: org.owner })).status).toBe(202);
    await t.get(ManagedAccounts).leaveDeletedOrgs(10);
    expect([await t.get(ManagedAccounts).leaveDeletedOrgs(10), (await rowOf(id)).consent]).toEqual([0, null]);
    await done();
    expect([accounts(user).length, accounts(`org:${other}:user:${org.member.id}`).length]).toEqual([0, 1]);
  });
});

describe('calls', () => {
  it('go by the account, under their key, and answer what a model reads', async () => {
    const id = await connected();
    expect(await callTool(id, 'DEMO_CRM_CREATE_CONTACT', { name: 'Grace', email: 'grace@example.com' })).toEqual({
      content: '{"id":"3"}',
      isError: false,
    });
    expect(demo.apps.calls.at(-1)).toEqual({
      ...{ tool: 'DEMO_CRM_CREATE_CONTACT', args: { name: 'Grace', email: 'grace@example.com' }, key: 'turn/1/call' },
      user_id: `org:${org.id}:user:${org.member.id}`,
    });
    expect(await callTool(id, 'DEMO_CRM_GET_CONTACT', { id: '9' })).toEqual({ content: 'There is no contact 9.', isError: true });
    // What the provider does not take as it is, whoever calls may put right.
    expect(await callTool(id, 'DEMO_CRM_BUY')).toEqual({ content: 'There is no tool DEMO_CRM_BUY.', isError: true });
    expect((await rowOf(id)).status).toBe('active');
  });

  it.each<[string, (res: ServerResponse) => boolean, typeof NotSent | typeof ServerFailed]>([
    ['a key that is not taken', (res) => says(res, 401, { error: { message: 'Invalid key ak_1' } }), NotSent],
    ['too many calls', (res) => says(res, 429, {}), NotSent],
    ['a fault of the provider', (res) => says(res, 503, { error: { message: 'x' } }), ServerFailed],
    ['a time that is up', (res) => says(res, 408, {}), ServerFailed],
    ['an answer that cannot be read', (res) => says(res, 200, { successful: 'yes' }), ServerFailed],
    ['an exchange that breaks off', (res) => Boolean(res.destroy()), ServerFailed],
  ])('tell of %s whether anything was done', async (_what, answer, failure) => {
    const id = await connected();
    before = (path, res) => path.startsWith('/tools/execute/') && answer(res);
    const error = await callTool(id, 'DEMO_CRM_LIST_CONTACTS').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(failure);
    expect((error as Error).message).not.toContain('ak_1');
    expect((await rowOf(id)).status).toBe('active');
  });

  it('may have been done where their time is up, and the account is over by then', async () => {
    const id = await connected();
    const [account] = accounts(`org:${org.id}:user:${org.member.id}`);
    before = (path, res) => {
      if (!path.startsWith('/tools/execute/')) return false;
      only(account.id).status = 'EXPIRED';
      return says(res, 408, {});
    };
    await expect(callTool(id, 'DEMO_CRM_LIST_CONTACTS')).rejects.toBeInstanceOf(ServerFailed);
  });

  it('surely come to nothing where nobody is reached', async () => {
    const id = await connected();
    t.configure({ DEMO_APPS_URL: 'http://127.0.0.1:9' });
    await expect(callTool(id, 'DEMO_CRM_CREATE_CONTACT')).rejects.toBeInstanceOf(NotSent);
  });

  it('by an account that is over were not made, and its owner is asked to sign in again', async () => {
    const id = await connected();
    const [account] = accounts(`org:${org.id}:user:${org.member.id}`);
    only(account.id).status = 'EXPIRED';
    await expect(callTool(id, 'DEMO_CRM_LIST_CONTACTS')).rejects.toBeInstanceOf(NotSent);
    expect((await rowOf(id)).status).toBe('expired');
    expect((await mails(t, org.member.email)).map(({ subject }) => subject)).toEqual(['Your connection demo-crm has to be renewed']);
    expect((await call('PATCH', `/${id}`, org.member, { status: 'active' })).body.code).toBe('reconnect_required');
    const again = await call('POST', `/${id}/reconnect`, org.member, {});
    expect(again.body).toMatchObject({ ok: false, authorize_url: expect.any(String) });
    expect(await landed(again.body.authorize_url, cookieIn(again.headers))).toBe('active');
    expect((await callTool(id, 'DEMO_CRM_LIST_CONTACTS')).isError).toBe(false);
  });
});

it('lists of an app with more tools than may be those that matter', async () => {
  const items = (n: number) => Array.from({ length: n }, (_, i) => ({ slug: `TOOL_${i}`, description: '', input_parameters: {} }));
  let lists: string[] = [];
  const id = await connected();
  t.has.before = undefined;
  before = (path, res) => {
    if (path !== '/tools') return false;
    lists.push(path);
    return says(res, 200, lists.length > 3 ? { items: items(3) } : { items: items(200).map((tool) => ({ ...tool, slug: `${tool.slug}_${lists.length}` })), next_cursor: `${lists.length}` }); // prettier-ignore
  };
  expect((await call('POST', `/${id}/test`)).body.message).toContain('3 tools');
  lists = [];
  before = (path, res) => path === '/tools' && says(res, 200, { items: items(501) });
  expect((await call('POST', `/${id}/test`)).body).toEqual({ ok: false, message: 'The app has more than 500 tools.' });
});

it('what an app holds is read by the two tools that it names for that', async () => {
  const id = await connected('demo-drive');
  expect((await call('GET', `/${id}`)).body).toMatchObject({ knowledge_capable: true, tool_count: 4 });
  const calls = t.get(ConnectionCalls);
  const listed = await calls.resources(calling(id), soon());
  expect(listed.map(({ uri, name }) => [uri, name])).toEqual([
    ['drive://demo/handbook.md', 'handbook.md'],
    ['drive://demo/menu.md', 'menu.md'],
  ]);
  const { bytes, media_type } = await calls.read(calling(id), 'drive://demo/menu.md', soon());
  expect([String(bytes), media_type]).toEqual(['# Menu\n\nOn Fridays there is fish.', 'text/markdown']);
  await expect(calls.read(calling(id), 'drive://demo/gone.md', soon())).rejects.toMatchObject({ constructor: ServerRefused, isGone: true });
  before = (path, res) => path.startsWith('/tools/execute/') && says(res, 429, {});
  await expect(calls.resources(calling(id), soon())).rejects.toBeInstanceOf(ServerFailed);
  before = () => false;
  const crm = await connected('demo-crm');
  await expect(calls.resources(calling(crm), soon())).rejects.toBeInstanceOf(ServerRefused);
});
