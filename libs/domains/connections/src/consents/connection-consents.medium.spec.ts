import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@aps/entities';
import { connectionUuid } from '@aps/contracts';
import { mails } from '@aps/identity/testing';
import { aMember, aTeam, type TestTeam } from '@aps/orgs/testing';
import { eventually, sql, startAuthorizationServer, type AuthorizationServer, type Bearer } from '@aps/platform/testing';
import { ConnectionCredentials } from '../connection-credentials';
import { ConnectionsRepository } from '../connections.repository';
import { ConnectionListings } from '../listing/connection-listings';
import { ConnectionCalls } from '../tools/connection-calls';
import { NotSent } from '@aps/tools';
import { PutOff } from '@aps/platform/queues';
import { RevocationsProcessor } from '../jobs';
import { OAuthClient } from '../oauth/oauth-client';
import { connectionsService } from '../testing';

const auth: { server?: AuthorizationServer } = {};
const t = connectionsService(async () => {
  auth.server = await startAuthorizationServer();
  return [auth.server.url];
});
afterAll(() => auth.server?.close());

let server: AuthorizationServer;
let org: TestTeam;
let path: string;
beforeEach(async () => {
  server = auth.server!;
  Object.assign(server, {
    refuses: false,
    invalidGrant: false,
    tokenStatus: undefined,
    revokeStatus: undefined,
    refreshable: true,
    expiresIn: 3_600,
    resource: t.at('/mcp'),
  });
  t.has.before = (request, response) => !server.lets(request, response);
  server.seen.length = 0;
  org = await aTeam(t);
  path = `${org.path}/connections`;
});

interface Begun {
  id: string;
  authorizeUrl: string;
  cookie: string;
}

const call = (method: string, at: string, as: Bearer, body?: object) => t.call(method, path + at, { as, body });
const rowOf = (id: string) => t.db.manager.findOneByOrFail(Connection, { id: connectionUuid(id) });
const goneRow = (id: string) => t.db.manager.findOneOrFail(Connection, { where: { id: connectionUuid(id)! }, withDeleted: true });
const cookieIn = (headers: Headers): string => /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '';
const begin = async (as: Bearer = org.member, body: object = {}): Promise<Begun> => {
  const answer = await call('POST', '', as, { app_key: 'custom-mcp', method: 'mcp_oauth', server_url: t.at('/mcp'), ...body });
  return { id: answer.body.connection.id, authorizeUrl: answer.body.authorize_url, cookie: cookieIn(answer.headers) };
};
/** Comes back from the authorization server. @returns where that leads to */
const comeBack = async (authorizeUrl: string, cookie?: string) => land(await server.visit(authorizeUrl), cookie);
const land = async (query: Record<string, string>, cookie?: string) => {
  const response = await fetch(`${t.url}/api/oauth/callback?${new URLSearchParams(query).toString()}`, {
    redirect: 'manual',
    headers: cookie ? { cookie } : {},
  });
  const location = response.headers.get('location');
  return { status: response.status, at: location === null ? null : new URL(location), body: location ? null : await response.json() };
};
const connected = async (as: Bearer = org.member, body: object = {}): Promise<string> => {
  const { id, authorizeUrl, cookie } = await begin(as, body);
  expect((await comeBack(authorizeUrl, cookie)).at?.searchParams.get('status')).toBe('active');
  return id;
};
const callTool = (id: string) =>
  t
    .get(ConnectionCalls)
    .call(
      { orgId: org.id, connectionId: connectionUuid(id)!, principalId: org.member.id },
      { name: 'add_note', args: {}, idempotencyKey: 'k', signal: AbortSignal.timeout(10_000), progressed: () => undefined },
    );
/** The server answers calls of tools by a status, and everything else as it should. */
const answerCalls = (status: number): void => {
  t.has.before = (request, response, rpc) => {
    if (rpc !== 'tools/call') return !server.lets(request, response);
    response.writeHead(status).end();
    return true;
  };
};
const refreshes = () => server.seen.filter(({ path: at, form }) => at === '/token' && form.grant_type === 'refresh_token').length;
const ask = async (id: string) => t.get(ConnectionListings).refresh(org.scope, await rowOf(id));
const overIn = (id: string, interval: string) =>
  t.db.execute(sql(`UPDATE connections SET expires_at = now() + $2::interval WHERE id = $1`), [connectionUuid(id), interval]);

describe('consenting', () => {
  it('in the browser that asked makes the connection active, once', async () => {
    const answer = await call('POST', '', org.member, { app_key: 'custom-mcp', method: 'mcp_oauth', server_url: t.at('/mcp') });
    const { connection, authorize_url, expires_at } = answer.body;
    expect(connection).toMatchObject({ status: 'initiated', last_error: null, tool_count: 0 });
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(600_000);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^aps_consent_\w{16}=[\w-]{43}; Max-Age=600; Path=\/api\/oauth\/callback; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    const query = await server.visit(authorize_url);
    const cookie = `other=1; ${cookieIn(answer.headers)}`;
    const landings = await Promise.all([land(query, cookie), land(query, cookie)]);
    expect(landings.map(({ status }) => status).sort()).toEqual([302, 400]);
    expect(landings.find(({ at }) => at)!.at!.href).toBe(`https://app.example/connections/${connection.id}?status=active`);
    expect(landings.find(({ body }) => body)!.body).toMatchObject({ code: 'invalid_state' });
    const shown = await call('GET', `/${connection.id}`, org.member);
    expect(shown.body).toMatchObject({ status: 'active', tool_count: 2, expires_at: expect.any(String) });
    const kept = JSON.stringify([await rowOf(connection.id), await t.audit({ org_id: org.id }), shown.text]);
    expect(kept).not.toMatch(/at-|rt-/);
    expect(await t.audit({ action: 'connection.authorized', org_id: org.id })).toMatchObject([
      { actor_id: org.member.id, metadata: { slug: connection.slug, issuer: server.url } },
    ]);
  });

  it('in another browser waits until its user confirms with what that browser was led on with', async () => {
    const { id, authorizeUrl } = await begin();
    const { at } = await comeBack(authorizeUrl);
    expect([at!.searchParams.get('status'), (await rowOf(id)).status]).toEqual(['confirm', 'initiated']);
    const confirm = (as: Bearer, state: string) => call('POST', `/${id}/confirm`, as, { state });
    // Who has sent somebody there knows the first state, and not this one.
    expect((await confirm(org.member, new URL(authorizeUrl).searchParams.get('state')!)).body.code).toBe('invalid_state');
    const state = at!.searchParams.get('state')!;
    expect([(await confirm(org.owner, state)).status, (await land({ code: 'x', state })).status]).toEqual([404, 400]);
    expect((await confirm(org.member, state)).body).toMatchObject({ id, status: 'active', tool_count: 2 });
    expect((await confirm(org.member, state)).status).toBe(400);
  });

  it('that is refused, too old, or of somebody who has left or whose organization is gone, changes nothing', async () => {
    server.refuses = true;
    const refused = await begin();
    expect((await comeBack(refused.authorizeUrl, refused.cookie)).at!.searchParams.get('status')).toBe('error');
    expect(await rowOf(refused.id)).toMatchObject({ status: 'initiated', last_error: 'The consent was refused.' });
    expect((await call('PATCH', `/${refused.id}`, org.member, { status: 'active' })).body.code).toBe('reconnect_required');
    server.refuses = false;
    const again = await call('POST', `/${refused.id}/authorize`, org.member);
    await t.db.execute(sql(`UPDATE connection_consents SET expires_at = now() WHERE org_id = $1`), [org.id]);
    expect((await comeBack(again.body.authorize_url, cookieIn(again.headers))).status).toBe(400);
    expect([(await land({})).status, (await land({ state: 'x', code: 'y' })).status]).toEqual([400, 400]);
    const left = await begin();
    await t.make('POST', `${org.path}/members/leave`, { as: org.member });
    expect((await comeBack(left.authorizeUrl, left.cookie)).at!.searchParams.get('status')).toBe('error');
    expect(await rowOf(left.id)).toMatchObject({ consent: null, status: 'disabled' });
    const late = await begin(org.owner);
    expect((await t.call('DELETE', org.path, { as: org.owner })).status).toBe(202);
    expect((await comeBack(late.authorizeUrl, late.cookie)).at!.searchParams.get('status')).toBe('error');
    expect(await rowOf(late.id)).toMatchObject({ consent: null, status: 'initiated' });
    expect(await t.audit({ action: 'connection.authorized', org_id: org.id })).toEqual([]);
  });

  it('cannot be asked for where nobody answers in time, which is said and keeps the connection', async () => {
    const oauth = t.get(OAuthClient);
    const asking = oauth.begin.bind(oauth);
    const shortly = jest.spyOn(oauth, 'begin').mockImplementation((of) => asking(of, AbortSignal.timeout(100)));
    t.has.before = () => true;
    const made = await call('POST', '', org.member, { app_key: 'custom-mcp', method: 'mcp_oauth', server_url: t.at('/mcp') });
    const asked = await call('POST', `/${made.body.connection.id}/authorize`, org.member);
    shortly.mockRestore();
    const late = 'The authorization server took too long to answer.';
    expect([made.status, made.body.authorize_url, made.body.connection.status]).toEqual([201, null, 'initiated']);
    expect([made.body.connection.last_error, asked.body.code, asked.text]).toEqual([
      late,
      'authorization_failed',
      expect.stringContaining(late),
    ]);
  });

  it('is not asked for anew where other headers are given, and where another client is', async () => {
    const id = await connected();
    const reconnect = async (body: object) => (await call('POST', `/${id}/reconnect`, org.member, body)).body;
    expect(await reconnect({ headers: { 'x-tenant': 'b' } })).toMatchObject({ ok: true, authorize_url: null });
    expect(await reconnect({ credentials: { client_id: 'known', client_secret: 's3cret' } })).toMatchObject({
      ok: false,
      authorize_url: expect.any(String),
    });
  });

  it('is asked for by who decides on the connection, and only where one is needed', async () => {
    const admin = await aMember(t, org, 'ADMIN');
    const id = await connected(admin, { scope: 'org' });
    const ask = async (as: Bearer) => (await call('POST', `/${id}/authorize`, as)).status;
    expect([await ask(org.member), await ask(org.owner), await ask(admin)]).toEqual([403, 200, 200]);
    const plain = await t.connect(org, org.member);
    expect((await call('POST', `/${plain.id}/authorize`, org.member)).body.code).toBe('unknown_method');
    server.registers = false;
    const { body } = await call('POST', `/${id}/authorize`, admin);
    server.registers = true;
    expect([body.code, (await rowOf(id)).last_error]).toEqual(['authorization_failed', expect.stringContaining('registers no clients')]);
  });
});

describe('access tokens', () => {
  it('are renewed a minute before they are over, by one of all who need one', async () => {
    const id = await connected();
    expect([await ask(id), refreshes()]).toMatchObject([{ ok: true }, 0]);
    await overIn(id, '59 seconds');
    const { token_version } = await rowOf(id);
    // It takes the authorization server long enough for all of them to come.
    const oauth = t.get(OAuthClient);
    const refresh = oauth.refresh.bind(oauth);
    const slowly = jest.spyOn(oauth, 'refresh').mockImplementation(async (...given) => (await sleep(300), refresh(...given)));
    const asked = await Promise.all(Array.from({ length: 6 }, () => ask(id)));
    slowly.mockRestore();
    expect(asked.map(({ ok }) => ok)).toEqual([true, true, true, true, true, true]);
    expect([refreshes(), (await rowOf(id)).token_version]).toEqual([1, token_version + 1]);
  });

  it('that a server refuses are renewed once', async () => {
    const id = await connected();
    server.expire();
    expect([await ask(id), refreshes()]).toMatchObject([{ ok: true }, 1]);
    t.has.before = (_request, response) => Boolean(response.writeHead(401).end());
    expect([await ask(id), refreshes()]).toMatchObject([{ ok: false }, 2]);
    expect((await rowOf(id)).status).toBe('error');
  });

  it('that cannot be renewed any more have their owner asked again', async () => {
    const id = await connected();
    server.expire();
    server.invalidGrant = true;
    expect((await ask(id)).ok).toBe(false);
    expect((await rowOf(id)).status).toBe('expired');
    expect((await mails(t, org.member.email)).map(({ subject }) => subject)).toEqual([
      'Your connection custom-tool-server has to be renewed',
    ]);
    expect((await ask(id)).ok).toBe(false);
    expect([refreshes(), (await mails(t, org.member.email)).length]).toEqual([1, 1]);
    server.invalidGrant = false;
    const { body, headers } = await call('POST', `/${id}/reconnect`, org.member, {});
    expect(body).toMatchObject({ ok: false, authorize_url: expect.any(String) });
    expect((await comeBack(body.authorize_url, cookieIn(headers))).at!.searchParams.get('status')).toBe('active');
    expect((await call('POST', `/${id}/reconnect`, org.member, {})).body).toMatchObject({ ok: true, authorize_url: null });
  });

  it('stay in use where they cannot be renewed for now', async () => {
    const id = await connected();
    await overIn(id, '30 seconds');
    server.tokenStatus = 503;
    const token = await t.get(ConnectionCredentials).asking(await rowOf(id), async ({ headers }) => headers.authorization);
    expect(token).toMatch(/^Bearer at-/);
    expect(await rowOf(id)).toMatchObject({ status: 'active', last_error: expect.stringContaining('refused'), refreshing_until: null });
  });

  it('that were renewed, or consented to, are kept though the database fails just then', async () => {
    const failing = () =>
      jest
        .spyOn(ConnectionsRepository.prototype, 'lock')
        .mockRejectedValueOnce(Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }));
    const { id, authorizeUrl, cookie } = await begin();
    failing();
    expect((await comeBack(authorizeUrl, cookie)).at?.searchParams.get('status')).toBe('active');
    await overIn(id, '1 second');
    const locks = failing();
    expect([await ask(id), refreshes()]).toMatchObject([{ ok: true }, 1]);
    expect([await ask(id), refreshes()]).toMatchObject([{ ok: true }, 1]);
    locks.mockRestore();
  });

  it('that are renewed while the connection gets other headers are kept', async () => {
    const id = await connected();
    await overIn(id, '1 second');
    const { token_version } = await rowOf(id);
    const oauth = t.get(OAuthClient);
    const refresh = oauth.refresh.bind(oauth);
    let reconnecting: ReturnType<typeof call> | undefined;
    const meanwhile = jest.spyOn(oauth, 'refresh').mockImplementation(async (...given) => {
      const tokens = await refresh(...given);
      reconnecting ??= call('POST', `/${id}/reconnect`, org.member, { headers: { 'x-tenant': 'b' } });
      await eventually(
        () => rowOf(id),
        (row) => row.token_version > token_version,
      );
      return tokens;
    });
    await ask(id);
    meanwhile.mockRestore();
    expect((await reconnecting)?.status).toBe(200);
    expect([await ask(id), refreshes(), await rowOf(id)]).toMatchObject([{ ok: true }, 1, { status: 'active' }]);
  });

  it('are not to blame for what they may not do', async () => {
    const id = await connected();
    answerCalls(403);
    await expect(callTool(id)).rejects.toMatchObject({ constructor: NotSent, message: expect.stringContaining('does not permit') });
    expect([refreshes(), (await rowOf(id)).status]).toEqual([0, 'active']);
    t.has.before = (_request, response) => Boolean(response.writeHead(403).end());
    expect((await ask(id)).ok).toBe(false);
    expect([refreshes(), await rowOf(id)]).toMatchObject([0, { status: 'active', last_error: expect.stringContaining('does not permit') }]);
  });

  it('that a server refuses when it is called, new ones, too, make the connection an error, and nothing was sent', async () => {
    const id = await connected();
    answerCalls(401);
    for (let times = 0; times < 2; times++) await expect(callTool(id)).rejects.toBeInstanceOf(NotSent);
    expect([refreshes(), (await rowOf(id)).status]).toEqual([1, 'error']);
    expect((await mails(t, org.member.email)).map(({ subject }) => subject)).toEqual([
      'Your connection custom-tool-server is refused by its service',
    ]);
  });

  it('that are refused and cannot be renewed, or whose connection is gone, leave no doubt that nothing was done', async () => {
    const id = await connected();
    answerCalls(401);
    server.invalidGrant = true;
    await expect(callTool(id)).rejects.toMatchObject({ constructor: NotSent, message: expect.stringContaining('grant') });
    expect((await rowOf(id)).status).toBe('expired');
    server.invalidGrant = false;
    const gone = await connected();
    const oauth = t.get(OAuthClient);
    const refresh = oauth.refresh.bind(oauth);
    const slowly = jest.spyOn(oauth, 'refresh').mockImplementation(async (...given) => {
      await call('DELETE', `/${gone}`, org.member);
      return refresh(...given);
    });
    await expect(callTool(gone)).rejects.toMatchObject({ constructor: NotSent, message: expect.stringContaining('not') });
    slowly.mockRestore();
  });

  it('that nothing renews are used until their server takes them no more', async () => {
    server.refreshable = false;
    const id = await connected();
    await overIn(id, '30 seconds');
    expect((await ask(id)).ok).toBe(true);
    server.expire();
    expect((await ask(id)).ok).toBe(false);
    expect((await rowOf(id)).status).toBe('expired');
  });

  it('of a connection that is switched off are asked for once more, and nobody is mailed', async () => {
    const id = await connected();
    await call('PATCH', `/${id}`, org.member, { status: 'disabled' });
    server.expire();
    server.invalidGrant = true;
    for (let times = 0; times < 2; times++) expect((await call('POST', `/${id}/test`, org.member)).body.ok).toBe(false);
    expect([refreshes(), await mails(t, org.member.email), await rowOf(id)]).toMatchObject([1, [], { status: 'disabled', consent: null }]);
    server.invalidGrant = false;
    expect((await call('PATCH', `/${id}`, org.member, { status: 'active' })).body.code).toBe('reconnect_required');
  });
});

describe('what somebody has consented to', () => {
  const JOBS = sql<{ id: string; payload: { org_id: string; connection_id: string } }>(
    `SELECT id, payload FROM outbox WHERE job = 'connection.revoke' AND payload->>'org_id' = $1`,
  );
  /** Does the jobs by which tokens are revoked, as a worker does it. */
  const done = async (): Promise<string> => {
    const [{ id, payload }] = await t.db.query(JOBS, [org.id]);
    expect(Object.keys(payload)).toEqual(['org_id', 'connection_id']);
    await t.get(RevocationsProcessor).revoke(payload);
    await t.db.execute(sql('DELETE FROM outbox WHERE id = $1'), [id]);
    return payload.connection_id;
  };
  const revoked = () =>
    server.seen.filter(({ path: at }) => at === '/revoke').map(({ form }) => [form.token_type_hint, form.token.slice(0, 3)]);
  const both = [
    ['refresh_token', 'rt-'],
    ['access_token', 'at-'],
  ];

  it('is revoked when its connection is deleted, and forgotten then', async () => {
    const id = await connected();
    const token = await t.get(ConnectionCredentials).asking(await rowOf(id), ({ headers }) => Promise.resolve(headers.authorization));
    expect((await call('DELETE', `/${id}`, org.member)).status).toBe(204);
    expect([(await goneRow(id)).secrets, revoked()]).toEqual([null, []]);
    await done();
    expect(revoked()).toEqual(both);
    expect((await goneRow(id)).consent).toBeNull();
    const asked = await fetch(t.at('/mcp'), { method: 'POST', headers: { authorization: token! } });
    expect(asked.status).toBe(401);
  });

  it('is sealed until then where its server is away, and given up after an hour', async () => {
    const id = await connected();
    server.revokeStatus = 503;
    expect((await call('DELETE', `/${id}`, org.member)).status).toBe(204);
    await expect(done()).rejects.toBeInstanceOf(PutOff);
    const { consent } = await goneRow(id);
    expect(consent).toEqual(expect.any(String));
    expect(consent).not.toMatch(/at-|rt-/);
    expect((await call('GET', `/${id}`, org.member)).status).toBe(404);
    await t.db.execute(sql(`UPDATE connections SET deleted_at = now() - interval '61 minutes' WHERE id = $1`), [connectionUuid(id)]);
    await done();
    expect((await goneRow(id)).consent).toBeNull();
    expect(revoked()).toEqual([...both, ...both]);
  });

  it('is revoked of two at a time, so that servers that do not answer leave places to other jobs', async () => {
    for (let i = 0; i < 3; i++) expect((await call('DELETE', `/${await connected()}`, org.member)).status).toBe(204);
    const jobs = await t.db.query(JOBS, [org.id]);
    const processor = t.get(RevocationsProcessor);
    const oauth = t.get(OAuthClient);
    const revoke = oauth.revoke.bind(oauth);
    let answer = () => {};
    const answers = new Promise<void>((resolve) => (answer = resolve));
    const slowly = jest.spyOn(oauth, 'revoke').mockImplementation(async (...given) => (await answers, revoke(...given)));
    const [first, second, third] = jobs.map(
      ({ payload }) =>
        () =>
          processor.revoke(payload),
    );
    const both = [first(), second()];
    await expect(third()).rejects.toBeInstanceOf(PutOff);
    answer();
    await Promise.all(both);
    await third();
    slowly.mockRestore();
    for (const { payload } of jobs) expect((await goneRow(payload.connection_id)).consent).toBeNull();
  });

  it('is revoked, too, where it has only come, or was renewed, while its connection was deleted', async () => {
    const oauth = t.get(OAuthClient);
    const given: string[] = [];
    for (const way of ['exchange', 'refresh'] as const) {
      const { id, authorizeUrl, cookie } = await begin();
      if (way === 'refresh') {
        await comeBack(authorizeUrl, cookie);
        await overIn(id, '1 second');
      }
      const asking = oauth[way].bind(oauth) as (...args: unknown[]) => ReturnType<OAuthClient['refresh']>;
      const late = jest.spyOn(oauth, way).mockImplementation(async (...args: unknown[]) => {
        const tokens = await asking(...args);
        given.push(tokens.refreshToken!, tokens.accessToken);
        expect((await call('DELETE', `/${id}`, org.member)).status).toBe(204);
        return tokens;
      });
      if (way === 'exchange') expect((await comeBack(authorizeUrl, cookie)).at?.searchParams.get('status')).toBe('error');
      else await expect(callTool(id)).rejects.toBeInstanceOf(NotSent);
      late.mockRestore();
    }
    expect(server.seen.filter(({ path: at }) => at === '/revoke').map(({ form }) => form.token)).toEqual(given);
  });

  it('is given up at once where its server refuses, has no way to, or it cannot be read', async () => {
    server.revokeStatus = 400;
    const refused = await connected();
    server.metadata = { revocation_endpoint: undefined };
    const without = await connected();
    server.metadata = {};
    const unread = await connected();
    const row = await rowOf(unread);
    await t.db.manager.update(Connection, { id: row.id }, { consent: `${row.consent!.slice(0, -8)}AAAAAAAA` });
    for (const id of [refused, without, unread]) {
      expect((await call('DELETE', `/${id}`, org.member)).status).toBe(204);
      await done();
      expect((await goneRow(id)).consent).toBeNull();
    }
    // One that is refused keeps no other.
    expect(revoked()).toEqual(both);
  });
});
