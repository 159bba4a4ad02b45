import type { Person } from '@aps/identity/testing';
import type { Bearer } from '@aps/platform/testing';
import { aMember } from '@aps/orgs/testing';
import { ChatsQueries } from '../reading/chats.queries';
import { PresenceService } from './presence.service';
import { OrgScope } from '@aps/guards';
import { RealtimePublisher } from '@aps/platform/realtime';
import { CommandRedis, connectRedis, redisConfig } from '@aps/platform/redis';
import { sql } from '@aps/platform/testing';
import type { Redis } from 'ioredis';
import { chatsService, type Frame, type StreamReader, type TestOrg } from '../testing/chats';
import { PresenceQueries } from './presence.queries';
import { PresenceStore } from './presence.store';

describe('presence in a chat', () => {
  const app = chatsService();
  let org: TestOrg;
  let redis: Redis;
  let ada: Person;
  let bob: Person;
  let chat: string;
  let stream: StreamReader;

  beforeAll(async () => {
    org = await app.org();
    redis = app.get<Redis>(CommandRedis);
    [ada, bob] = [await aMember(app, org, 'MEMBER'), await aMember(app, org, 'MEMBER')];
    await app.db.execute(sql(`UPDATE users SET name = 'Ada', avatar_url = 'https://pictures.example/ada' WHERE id = $1`), [ada.id]);
    await app.db.execute(sql(`UPDATE users SET name = 'Bob' WHERE id = $1`), [bob.id]);
  });
  beforeEach(async () => {
    chat = await app.chat(org);
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    stream = await app.stream(org, chat);
    await stream.until(({ event }) => event === 'snapshot');
  });
  afterEach(() => stream?.close());

  const service = () => app.get(PresenceService);
  const say = (method: 'POST' | 'DELETE', as: Bearer, of = chat) => app.call(method, `${org.path}/${of}/presence`, { as });
  const viewersKey = () => `${redisConfig.value.prefix}:presence:${chat}`;
  /** As if a viewer had been silent for 45 seconds. */
  const silence = async (userId: string) => {
    await redis.zadd(viewersKey(), 'XX', 1, userId);
    await redis.zadd(`${redisConfig.value.prefix}:presence-due`, 1, `${org.id}:${chat}`);
  };
  /** The viewers of each `presence_changed` until a message that is sent now has come. */
  const told = async (): Promise<string[][]> => {
    const before = frames.length;
    const { body } = await app.send(org, chat, 'mark');
    for (;;) {
      const frame = (await stream.next())!;
      frames.push(frame);
      if (frame.event === 'message_created' && frame.data.data.message.id === body.message_id) break;
    }
    return frames
      .slice(before)
      .filter(({ event }) => event === 'presence_changed')
      .map(({ data }) => data.data.viewers.map((v: { name: string }) => v.name));
  };
  const frames: Frame[] = [];

  it('tells each who else is there, and the readers who comes and goes but not each heartbeat', async () => {
    const first = await say('POST', ada);
    expect([first.status, first.body]).toEqual([200, { viewers: [], heartbeat_interval_s: 15, expires_in_s: 45 }]);
    const since = Date.now();
    const second = await say('POST', bob);
    expect(second.body.viewers).toEqual([
      { user_id: ada.id, name: 'Ada', avatar_url: 'https://pictures.example/ada', last_seen_at: expect.any(String) },
    ]);
    expect(Math.abs(Date.parse(second.body.viewers[0].last_seen_at as string) - since)).toBeLessThan(10_000);
    for (let i = 0; i < 3; i++) await say('POST', ada);
    expect(await told()).toEqual([['Ada'], ['Ada', 'Bob']]);
    const left = await say('DELETE', ada);
    expect([left.status, left.body.viewers.map((v: { name: string }) => v.name)]).toEqual([200, ['Bob']]);
    // Going twice is going once.
    await say('DELETE', ada);
    expect(await told()).toEqual([['Bob']]);
    // Nothing of it has a number.
    expect(
      frames.filter(
        ({ event, id, data }) => event === 'presence_changed' && (id !== undefined || 'id' in data || data.topic !== `chat:${chat}`),
      ),
    ).toEqual([]);
  });

  it('is not what an open stream makes', async () => {
    expect((await say('POST', ada)).body.viewers).toEqual([]);
  });

  it('ends with silence, and one gateway tells of it', async () => {
    await say('POST', ada);
    await say('POST', bob);
    await told();
    await silence(ada.id);
    const other = new PresenceService(
      app.db,
      app.get(ChatsQueries),
      new PresenceStore(redis),
      new PresenceQueries(app.db),
      app.get(RealtimePublisher),
    );
    await Promise.all([service().sweep(), other.sweep(), service().sweep(), other.sweep()]);
    other.onApplicationShutdown();
    expect(await told()).toEqual([['Bob']]);
    // The chat is looked at again when Bob would be gone, and not before.
    const due = () => redis.zscore(`${redisConfig.value.prefix}:presence-due`, `${org.id}:${chat}`);
    expect(Number(await due())).toBeGreaterThan(Date.now());
    // The last one, too, with nobody left to notice by a heartbeat.
    await silence(bob.id);
    await service().sweep();
    expect(await told()).toEqual([[]]);
    expect(await due()).toBeNull();
    await service().sweep();
    expect(await told()).toEqual([]);
  });

  it('is found out by whoever calls before the sweep, and one who is late has never been away', async () => {
    await say('POST', ada);
    await say('POST', bob);
    await told();
    await redis.zadd(viewersKey(), 'XX', 1, ada.id);
    expect((await say('POST', bob)).body.viewers).toEqual([]);
    expect(await told()).toEqual([['Bob']]);
    await redis.zadd(viewersKey(), 'XX', 1, bob.id);
    await say('POST', bob);
    expect(await told()).toEqual([]);
  });

  it('is for those who may open the chat', async () => {
    await say('POST', ada);
    await app.db.execute(sql('UPDATE chats SET shared = false WHERE id = $1'), [chat]);
    for (const method of ['POST', 'DELETE'] as const) {
      expect((await say(method, bob)).status).toBe(404);
      expect((await say(method, org.owner, '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11')).status).toBe(404);
    }
    // Ada was there when it was shared; she can see nothing any more, and is seen no more.
    expect((await say('POST', org.owner)).body.viewers).toEqual([]);
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    expect((await say('POST', org.owner)).body.viewers).toHaveLength(1);
    await app.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [ada.id]);
    expect((await say('POST', org.owner)).body.viewers).toEqual([]);
    await app.db.execute(sql('UPDATE users SET deactivated_at = NULL WHERE id = $1'), [ada.id]);
  });

  it('is nobody while Redis is away, and no error', async () => {
    await say('POST', ada);
    const away = connectRedis('commands', { retryStrategy: () => null });
    away.disconnect();
    const blind = new PresenceService(
      app.db,
      app.get(ChatsQueries),
      new PresenceStore(away),
      new PresenceQueries(app.db),
      app.get(RealtimePublisher),
    );
    const scope = OrgScope.member(org.id, org.owner.id, 'OWNER');
    expect(await blind.heartbeat(scope, org.agentId, chat)).toEqual([]);
    expect(await blind.leave(scope, org.agentId, chat)).toEqual([]);
    await blind.sweep();
    await expect(blind.heartbeat(scope, org.agentId, '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11')).rejects.toMatchObject({ code: 'not_found' });
    blind.onApplicationShutdown();
  });
});
