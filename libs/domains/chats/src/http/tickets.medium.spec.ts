import { anApiToken, aSession } from '@aps/identity/testing';
import type { Bearer } from '@aps/platform/testing';
import { PrincipalStore, Tickets, type Principal } from '@aps/guards';
import { hashToken, newOpaqueToken } from '@aps/platform/crypto';
import { CommandRedis, connectRedis, redisConfig } from '@aps/platform/redis';
import { sql } from '@aps/platform/testing';
import type { Redis } from 'ioredis';
import { uuidv7 } from 'uuidv7';
import { chatsService, type StreamReader, type TestOrg } from '../testing/chats';
import { EventStreamsClient } from '../testing/event-streams';

describe('tickets for streams', () => {
  const app = chatsService();
  let streams: EventStreamsClient;
  let org: TestOrg;
  let chat: string;
  let redis: Redis;

  beforeAll(async () => {
    streams = new EventStreamsClient(app);
    org = await app.org();
    chat = await app.chat(org);
    redis = app.get<Redis>(CommandRedis);
  });

  const issue = async (body: Record<string, unknown>, as: Bearer = org.owner): Promise<string> => {
    const answer = await app.call('POST', '/api/realtime/tickets', { as, body });
    expect([answer.status, answer.body.expires_in]).toEqual([201, 60]);
    return answer.body.ticket as string;
  };
  const forChat = (as?: Bearer) => issue({ topics: [`chat:${chat}`] }, as);
  const ofChat = (ticket: string, as: Bearer | null = null) => streams.follow(`${org.path}/${chat}/stream?ticket=${ticket}`, { as });
  const refusal = async ({ response }: StreamReader): Promise<[number, string]> => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ];
  const UNAUTHENTICATED = [401, 'not_authenticated'];

  it('open a stream where no header can be sent, of one chat and of many topics', async () => {
    const one = await ofChat(await forChat());
    expect((await one.until(({ event }) => event === 'snapshot'))[0].data.data.chat.id).toBe(chat);
    const ticket = await issue({ topics: ['org', `chat:${chat.toUpperCase()}`], org_id: org.id.toUpperCase() });
    const many = await streams.events(org, { topics: `chat:${chat},org`, ticket }, { as: null });
    expect((await many.until(({ data }) => data.topic === 'org')).map(({ event }) => event)).toEqual(['snapshot', 'snapshot']);
  });

  it('open what is asked of an organization that is named by the stream alone, to its members', async () => {
    const ofOrg = async (of: TestOrg) => streams.events(of, { topics: 'org', ticket: await issue({ topics: ['org'] }) }, { as: null });
    const own = await ofOrg(org);
    expect((await own.until(({ event }) => event === 'snapshot'))[0].data.topic).toBe('org');
    expect(await refusal(await ofOrg(await app.org()))).toEqual([403, 'not_org_member']);
  });

  it('open one, however many try at once', async () => {
    const ticket = await forChat();
    const tried = await Promise.all(Array.from({ length: 20 }, () => ofChat(ticket)));
    expect(tried.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const refused of tried.filter(({ status }) => status !== 200)) expect(await refusal(refused)).toEqual(UNAUTHENTICATED);
  });

  it('are worth nothing when they are unknown, malformed or too old', async () => {
    const old = await forChat();
    const key = `${redisConfig.value.prefix}:ticket:${hashToken(old).toString('base64url')}`;
    expect(await redis.ttl(key)).toBeLessThanOrEqual(60);
    await redis.pexpire(key, 1);
    await new Promise((r) => setTimeout(r, 20));
    for (const ticket of [old, newOpaqueToken(), 'x', '', `${newOpaqueToken()}&ticket=${newOpaqueToken()}`, org.owner.token])
      expect(await refusal(await ofChat(ticket))).toEqual(UNAUTHENTICATED);
  });

  it('open nothing but the topics that they are for, in the organization that they are for', async () => {
    const [elsewhere, other] = [await app.org(), await app.chat(org)];
    await app.db.execute(sql(`INSERT INTO memberships (id, org_id, user_id, role) VALUES ($1, $2, $3, 'MEMBER')`), [
      uuidv7(),
      elsewhere.id,
      org.owner.id,
    ]);
    const events = (ticket: string, topics: string, where = org) => streams.events(where, { topics, ticket }, { as: null });
    expect(await refusal(await streams.follow(`${org.path}/${other}/stream?ticket=${await forChat()}`, { as: null }))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect(await refusal(await events(await forChat(), `chat:${chat},chat:${other}`))).toEqual([403, 'insufficient_scope']);
    expect(await refusal(await events(await forChat(), 'org'))).toEqual([403, 'insufficient_scope']);
    expect(await refusal(await events(await issue({ topics: ['org'], org_id: org.id }), 'org', elsewhere))).toEqual([
      403,
      'not_org_member',
    ]);
    // Some of them are fine; and what its user may not open, it does not either.
    expect((await events(await issue({ topics: [`chat:${chat}`, `chat:${other}`] }), `chat:${other}`)).status).toBe(200);
    expect(await refusal(await ofChat(await forChat(org.member)))).toEqual([404, 'not_found']);
    expect(await refusal(await ofChat(await forChat(elsewhere.owner)))).toEqual([403, 'not_org_member']);
  });

  it('are for streams alone, and a bearer token decides where there is one', async () => {
    const ticket = await forChat();
    for (const path of [org.path, `${org.path}/${chat}`]) expect((await app.call('GET', `${path}?ticket=${ticket}`)).status).toBe(401);
    expect((await app.call('POST', `${org.path}/${chat}/messages?ticket=${ticket}`, { body: { content: 'x' } })).status).toBe(401);
    expect(await refusal(await ofChat(ticket, { token: 'Bearer nonsense' }))).toEqual(UNAUTHENTICATED);
    expect((await ofChat(ticket, org.owner)).status).toBe(200);
    // None of that has used it up.
    expect((await ofChat(ticket)).status).toBe(200);
  });

  it('end with the session that asked for them, before they are used and after', async () => {
    const session = await aSession(app, org.owner);
    const [used, unused] = [await forChat(session), await forChat(session)];
    const stream = await ofChat(used);
    expect(stream.status).toBe(200);
    await app.db.execute(sql('UPDATE sessions SET revoked_at = now() WHERE id = $1'), [session.sessionId]);
    for (let frame = await stream.next(); frame; frame = await stream.next()) expect(['snapshot', 'ping']).toContain(frame.event);
    expect(await refusal(await ofChat(unused))).toEqual(UNAUTHENTICATED);
  });

  it('do no more than the API token that asked for them', async () => {
    expect((await ofChat(await forChat(await anApiToken(app, org.owner, { scope: 'chats:read' })))).status).toBe(200);
    expect(await refusal(await ofChat(await forChat(await anApiToken(app, org.owner, { scope: 'agents:write' }))))).toEqual([
      403,
      'insufficient_scope',
    ]);
    const elsewhere = await app.org();
    const pinned = await anApiToken(app, org.owner, { org_id: elsewhere.id });
    expect(await refusal(await ofChat(await forChat(pinned)))).toEqual([403, 'not_org_member']);
    expect((await app.call('POST', '/api/realtime/tickets', { as: pinned, body: { topics: ['org'], org_id: org.id } })).status).toBe(403);
  });

  it('are refused for what is no topic', async () => {
    const problems = async (body: unknown) => {
      const answer = await app.call('POST', '/api/realtime/tickets', { as: org.owner, body });
      return [
        answer.status,
        ...(answer.body.detail as { loc: unknown[]; type: string }[]).map(({ loc, type }) => `${loc.join('.')} ${type}`),
      ];
    };
    expect(await problems({ topics: [] })).toEqual([422, 'body.topics too_short']);
    expect(await problems({ topics: ['nonsense'], org_id: 'x' })).toEqual([422, 'body.topics value_error', 'body.org_id uuid_parsing']);
    expect(await problems({ topics: Array.from({ length: 51 }, () => `chat:${uuidv7()}`) })).toEqual([422, 'body.topics too_long']);
    expect((await app.call('POST', '/api/realtime/tickets', { body: { topics: [`chat:${chat}`] } })).status).toBe(401);
  });

  it('leave neither themselves nor the token in Redis', async () => {
    const ticket = await forChat();
    const keys = await redis.keys(`${redisConfig.value.prefix}:ticket:*`);
    const held = JSON.stringify([keys, await redis.mget(keys)]);
    expect(keys.length).toBeGreaterThan(0);
    expect([held.includes(ticket), held.includes(org.owner.token)]).toEqual([false, false]);
  });

  it('cannot be had and not be used while Redis is away, and that is said', async () => {
    const away = connectRedis('commands', { retryStrategy: () => null });
    away.disconnect();
    const tickets = new Tickets(away, app.get(PrincipalStore));
    const said = { code: 'service_unavailable', retryAfterS: 2 };
    const [{ id: credentialId }] = await app.db.query(sql<{ id: string }>('SELECT id FROM sessions WHERE user_id = $1'), [org.owner.id]);
    await expect(
      tickets.issue({ via: 'session', credentialId, orgPin: null } as Principal, { orgId: null, topics: ['org'] }),
    ).rejects.toMatchObject(said);
    await expect(tickets.redeem(newOpaqueToken())).rejects.toMatchObject(said);
  });
});
