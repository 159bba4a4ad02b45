import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '@aps/platform/testing';
import { accepted, persist, redisCommand, until, withPlatform, type Platform, type SseReader } from '../../api-gateway-e2e/support';
import { check } from './invariants';
import { begin, finish, type Work } from './turns';

/** Nothing lost, nothing twice, in order: what a stream brought, from its snapshot on. */
export function expectGapless(stream: SseReader, from: number, to: number): void {
  expect(stream.ids()).toEqual(Array.from({ length: to - from }, (_, i) => from + i + 1));
}

/** Opens a stream to each chat; the returned function waits until each has brought everything, once and in order. */
async function watch(platform: Platform, works: Work[]): Promise<() => Promise<void>> {
  const watched = [...works];
  const streams = await Promise.all(watched.map(({ chat, place }) => platform.stream(chat, { place, query: '?after=0' })));
  return async () => {
    for (const [i, work] of watched.entries()) {
      const newest = await newestId(platform, work);
      await until(
        () =>
          `the stream of ${work.chat} brings event ${newest}; it has ${streams[i].ids().join(' ')}${streams[i].ended ? ' and has ended' : ''}`,
        () => streams[i].ids().includes(newest),
        20_000,
      );
      expectGapless(streams[i], 0, newest);
      streams[i].close();
    }
  };
}

async function newestId(platform: Platform, { chat, place }: Work): Promise<number> {
  const stream = await platform.stream(chat, { place });
  const snapshot = await stream.until((f) => f.event === 'snapshot');
  stream.close();
  return Number(snapshot.data.id);
}

/** Redis killed and restarted with nothing in it, flushed, and taken from a send between its commit and its publication. */
export async function redisTakenAway(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'chat-worker'], own: ['redis'] }, async (platform) => {
    const pids = [platform.app('api-gateway').pid, platform.app('chat-worker').pid];
    const redis = platform.redis!;
    const works = await begin(platform, chance, 10);
    const caughtUp = await watch(platform, works);
    await sleep(chance.between(100, 1_500));
    await redis.kill();
    const refused = await whileRedisIsDown(platform);
    await redis.restart();
    await afterRedisIsBack(platform, refused);
    await finish(platform, works);
    await caughtUp();
    await check(platform, works);

    const more = await begin(platform, chance, 15);
    const caughtUpAgain = await watch(platform, more);
    await sleep(chance.between(100, 1_000));
    expect(await redisCommand(redis.url, 'FLUSHALL')).toBe('+OK');
    more.push(...(await begin(platform, chance, 3)));
    await finish(platform, more);
    await caughtUpAgain();
    expect([platform.app('api-gateway').pid, platform.app('chat-worker').pid]).toEqual(pids);

    await gatewayKilledBeforePublishing(platform);
    await check(platform, more);
  });
}

type Refused = { chat: string; key: string; messageId: string }[];

/** Reads go on; sends are stored and refused, and say so. */
async function whileRedisIsDown(platform: Platform): Promise<Refused> {
  const { email, password } = platform.demo.user;
  expect((await platform.call('POST', '/api/auth/login', { as: null, body: { email, password } })).status).toBe(200);
  expect((await platform.call('GET', platform.chatsPath())).status).toBe(200);
  const refused: Refused = [];
  for (let i = 0; i < 3; i++) {
    const chat = await platform.openChat();
    const key = randomUUID();
    const sent = await platform.send(chat, `held up ${i}`, { headers: { 'Idempotency-Key': key } });
    expect(sent).toMatchObject({
      status: 503,
      body: {
        code: 'dispatch_failed',
        detail: expect.any(String),
        request_id: expect.any(String),
        context: { message_id: expect.any(String) },
      },
    });
    expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(0);
    const messageId = sent.body.context.message_id as string;
    const { status, body } = await platform.getChat(chat);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'ERRORED',
      error: { code: 'dispatch_failed', retryable: true },
      messages: [{ id: messageId, content: `held up ${i}` }],
    });
    refused.push({ chat, key, messageId });
  }
  expect((await platform.app('chat-worker').readyz()).body.ready).toBe(false);
  expect((await platform.app('api-gateway').readyz()).body.ready).toBe(true);
  return refused;
}

/** Three ways on from a refused send: the same request, another message, `continue`. */
async function afterRedisIsBack(platform: Platform, [again, next, goOn]: Refused): Promise<void> {
  await platform.app('chat-worker').ready();
  const repeat = () => platform.send(again.chat, 'held up 0', { headers: { 'Idempotency-Key': again.key } });
  const repeated = await until('the repeat is accepted', async () => {
    const answer = await repeat();
    return answer.status === 202 && answer;
  });
  expect(repeated.body).toMatchObject({ message_id: again.messageId, dispatched: true });
  await platform.say(next.chat, 'next');
  await persist(() => platform.call('POST', `${platform.chatsPath()}/${goOn.chat}/continue`).then(accepted));

  const once = await platform.settled(again.chat, 1);
  expect(once.messages.map((m: { content: string }) => m.content)).toEqual(['held up 0', 'You said: held up 0']);
  const revived = await platform.settled(next.chat, 1);
  expect(revived.messages.map((m: { content: string }) => m.content)).toEqual(['held up 1', 'next', 'You said: next']);
  const continued = await platform.settled(goOn.chat, 1);
  expect(continued.messages.map((m: { content: string }) => m.content)).toEqual(['held up 2', 'You said: held up 2']);
  // Answered once and for all: the same key brings the same answer, and no other message.
  expect((await repeat()).body).toEqual(repeated.body);
  expect((await platform.getChat(again.chat)).body.messages).toHaveLength(2);
}

/** The message is committed, and the process that would publish its turn dies: the relay does it. */
async function gatewayKilledBeforePublishing(platform: Platform): Promise<void> {
  const chat = await platform.openChat();
  await platform.redis!.freeze();
  const lost = platform.send(chat, 'did it arrive?').then(
    () => 'answered',
    () => 'cut off',
  );
  await until('the message is stored', async () => (await platform.getChat(chat)).body.messages.length === 1, undefined, 5);
  await platform.kill('api-gateway');
  // With what may have reached its socket.
  await platform.redis!.kill();
  await platform.redis!.restart();
  await platform.app('api-gateway').spawn().ready();
  expect(await lost).toBe('cut off');
  const settled = await platform.settled(chat, 1);
  expect(settled.messages.map((m: { content: string }) => m.content)).toEqual(['did it arrive?', 'You said: did it arrive?']);
}

/** PostgreSQL dies at once, twice, and comes back; the apps are left alone. */
export async function postgresRestarted(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'chat-worker'], own: ['postgres'] }, async (platform) => {
    const apps = ['api-gateway', 'chat-worker'] as const;
    const pids = apps.map((app) => platform.app(app).pid);
    const all: Work[] = [];
    for (const signal of ['SIGQUIT', 'SIGINT'] as const) {
      const works = await begin(platform, chance, 4, { kinds: ['slow'] });
      // Until the relay has once looked at what runs.
      await sleep(chance.between(5_500, 7_500));
      works.push(...(await begin(platform, chance, 10)));
      const caughtUp = await watch(platform, works);
      await sleep(chance.between(100, 1_500));
      await platform.postgres!.kill(signal);
      for (const [method, path, body] of [
        ['GET', platform.chatsPath(), undefined],
        ['GET', `${platform.chatsPath()}/${works[0].chat}`, undefined],
        ['POST', `${platform.chatsPath()}/${works[0].chat}/messages`, { content: 'x' }],
        ['POST', '/api/auth/login', { email: platform.demo.user.email, password: 'wrong password' }],
      ] as const) {
        const answer = await platform.call(method, path, { body });
        expect([path, answer.status, answer.body]).toMatchObject([
          path,
          503,
          { code: 'service_unavailable', detail: expect.any(String), request_id: expect.any(String) },
        ]);
      }
      expect((await platform.app('api-gateway').readyz()).body.ready).toBe(false);
      await platform.postgres!.restart();
      await Promise.all(apps.map((app) => platform.app(app).ready()));
      await finish(platform, works);
      await caughtUp();
      all.push(...works);
    }
    expect(apps.map((app) => platform.app(app).pid)).toEqual(pids);
    await check(platform, all);
  });
}
