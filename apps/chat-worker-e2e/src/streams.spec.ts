import { Chance } from '@aps/platform/testing';
import { script, startPlatform, until, type Place, type Platform, type SseReader } from '../../api-gateway-e2e/support';
import { begin, finish } from './turns';

const todo = { name: 'todo_write', arguments: { todos: [{ title: 'x', status: 'pending' }] } };
/** A turn that brings some twenty events, over a second or two. */
const eventful = () =>
  script(...Array.from({ length: 4 }, () => ({ text: 'on it', tool_calls: [todo], delay_ms: 150 })), {
    text: 'one two three four five six',
    chunk_delay_ms: 100,
  });
const numbers = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i + 1);
const PASSWORD = 'correct horse battery staple';

describe('event streams', () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await startPlatform({ apps: ['api-gateway', 'api-gateway:2', 'admin-api', 'chat-worker'], env: { EMAIL_PROOF: 'off' } });
  });
  afterAll(() => platform?.stop());

  const newest = async (chat: string): Promise<number> => {
    const stream = await platform.stream(chat);
    const { data } = await stream.until((f) => f.event === 'snapshot');
    stream.close();
    return Number(data.id);
  };

  it('bring every event once and in order, however often they are cut', async () => {
    const chat = await platform.openChat();
    const whole = await platform.stream(chat, { query: '?after=0' });
    await platform.say(chat, eventful());
    // Cut after each event, and resumed from it, while the turn runs.
    const pieces: number[] = [];
    for (let last = '0', done = false; !done;) {
      const piece = await platform.stream(chat, { lastEventId: last });
      const frame = await piece.until((f) => f.id !== undefined && Number(f.id) > Number(last));
      done = piece.frames.some((f) => f.event === 'status_changed' && f.data.data.to === 'ACTIVE');
      pieces.push(...piece.ids());
      last = String(piece.ids().at(-1) ?? frame.id);
      piece.close();
    }
    await platform.settled(chat, 1);
    const count = await newest(chat);
    expect(count).toBeGreaterThan(15);
    expect(pieces).toEqual(numbers(0, count));
    await until('the uncut stream has all', () => whole.ids().includes(count));
    expect(whole.ids()).toEqual(numbers(0, count));

    // And from every id there is, when all is over: nothing is too old.
    await Promise.all(
      numbers(-1, count).map(async (from) => {
        const stream = await platform.stream(chat, { lastEventId: String(from) });
        await stream.until((f) => f.event === 'snapshot');
        await until(`what follows ${from} has come`, () => from === count || stream.ids().includes(count));
        expect(stream.ids()).toEqual(numbers(from, count));
        // The snapshot must not move the cursor of a client that still has events to come.
        expect(stream.frames[0]).toMatchObject({ event: 'snapshot', data: { id: String(count) } });
        expect(stream.frames[0].id).toBeUndefined();
        stream.close();
      }),
    );
  });

  it('take an id that never was for none, and go on from now', async () => {
    const chat = await platform.openChat();
    await platform.say(chat, 'one');
    await platform.settled(chat, 1);
    const count = await newest(chat);
    for (const id of ['999999', 'nonsense', '-1', '']) {
      const stream = await platform.stream(chat, { lastEventId: id });
      expect(await stream.until((f) => f.event === 'snapshot')).toMatchObject({
        id: String(count),
        data: { data: { last_id: String(count), chat: { id: chat } } },
      });
      expect(stream.ids()).toEqual([]);
      stream.close();
    }
    const stream = await platform.stream(chat, { lastEventId: '999999' });
    await platform.say(chat, 'two');
    await stream.until((f) => f.event === 'status_changed' && f.data.data.to === 'ACTIVE');
    expect(stream.ids()).toEqual(numbers(count, await newest(chat)));
  });

  it('resume on another process when the gateway ends in order or dies', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const chat = await platform.openChat();
      const before = await platform.stream(chat, { query: '?after=0' });
      await platform.say(chat, eventful());
      await until('some have come', () => before.ids().length > 3);
      await platform.restart('api-gateway', signal);
      await before.untilEnd();
      const after = await platform.stream(chat, { lastEventId: String(before.ids().at(-1)) });
      await platform.settled(chat, 1);
      const count = await newest(chat);
      // On a slow machine all may have come before the end.
      const ids = () => [...before.ids(), ...after.ids()];
      await until(
        () => `all up to ${count} come; before there were ${before.ids().join()}, and then ${after.ids().join()}`,
        () => ids().includes(count),
      );
      expect(ids()).toEqual(numbers(0, count));
    }
  });

  it('resume on another gateway when theirs is gone, of one chat and of many topics, with nothing lost or doubled', async () => {
    const second = platform.app('api-gateway:2').url;
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const chats = [await platform.openChat(), await platform.openChat(), await platform.openChat()];
      const topics = ['org', ...chats.map((chat) => `chat:${chat}`)];
      const [many, one] = [await platform.events(topics), await platform.stream(chats[0], { query: '?after=0' })];
      await many.until((f) => f.event === 'snapshot' && f.data.topic === topics.at(-1));
      await Promise.all(chats.map((chat) => platform.say(chat, eventful())));
      await until('some have come', () => one.ids().length > 3 && many.frames.length > 12);
      await (signal === 'SIGTERM' ? platform.app('api-gateway').terminate() : platform.kill('api-gateway'));
      await Promise.all([many.untilEnd(), one.untilEnd()]);
      const [manyAfter, oneAfter] = [
        await platform.events(topics, { url: second, lastEventId: many.lastId() }),
        await platform.stream(chats[0], { url: second, lastEventId: one.lastId() }),
      ];
      await platform.app('api-gateway').spawn().ready();
      for (const chat of chats) {
        await platform.settled(chat, 1);
        const count = await newest(chat);
        const numbersOf = (reader: SseReader) =>
          reader.frames
            .filter((f) => f.id !== undefined && f.event !== 'snapshot' && f.data.topic === `chat:${chat}`)
            .map((f) => Number(f.data.id));
        const ids = () => [...numbersOf(many), ...numbersOf(manyAfter)];
        await until('the rest has come', () => ids().includes(count));
        expect(ids()).toEqual(numbers(0, count));
      }
      const count = await newest(chats[0]);
      const ids = () => [...one.ids(), ...oneAfter.ids()];
      await until('the rest of the one has come', () => ids().includes(count));
      expect(ids()).toEqual(numbers(0, count));
    }
  });

  it('open by a ticket that no log has', async () => {
    const chat = await platform.openChat();
    const { body } = await platform.call('POST', '/api/realtime/tickets', { body: { topics: [`chat:${chat}`] } });
    const path = `/api/orgs/${platform.demo.org_id}/events?topics=chat:${chat}&ticket=${body.ticket as string}`;
    // Issued by one gateway, used at another.
    const stream = await platform.follow(path, { as: null, url: platform.app('api-gateway:2').url });
    await stream.until((f) => f.event === 'snapshot');
    const refused = await platform.follow(path, { as: null });
    expect(refused.status).toBe(401);
    stream.close();
    const logged = (instance: 'api-gateway' | 'api-gateway:2') => platform.logs(instance).includes('"route":"/api/orgs/:org_id/events"');
    await until('both have logged the request', () => logged('api-gateway') && logged('api-gateway:2'));
    expect(['api-gateway', 'api-gateway:2'].filter((name) => platform.logs(name as 'api-gateway').includes(body.ticket as string))).toEqual(
      [],
    );
  });

  /** A new user in the demo organization, with a session. */
  async function member(name: string): Promise<{ place: Place; userId: string }> {
    const email = `${name}@example.com`;
    await platform.admin('POST', '/allowed-emails', { email });
    const signed = await platform.call('POST', '/api/auth/signup', { as: null, body: { email, password: PASSWORD } });
    expect([signed.status, signed.body.code]).toEqual([201, undefined]);
    expect((await platform.admin('POST', `/orgs/${platform.demo.org_id}/members`, { email })).status).toBe(201);
    return { place: { ...platform.home, token: signed.body.session.token as string }, userId: signed.body.user.id as string };
  }

  it('end soon for who may not read any more, ping the others, and are cut from who does not read', async () => {
    const [removed, loggedOut, revoked, bystander] = await Promise.all(['removed', 'left', 'revoked', 'bystander'].map(member));
    const made = await platform.call('POST', '/api/tokens', { as: revoked.place.token, body: { name: 'e2e' } });
    expect(made.status).toBe(201);
    const byToken: Place = { ...platform.home, token: made.body.token as string };
    const open = async (place: Place): Promise<SseReader> => {
      const stream = await platform.stream(await platform.openChat(place), { place });
      await stream.until((f) => f.event === 'snapshot');
      return stream;
    };
    const streams = await Promise.all([removed.place, loggedOut.place, byToken].map(open));
    const stays = await open(bystander.place);
    expect((await platform.admin('DELETE', `/orgs/${platform.demo.org_id}/members/${removed.userId}`)).status).toBe(204);
    expect((await platform.call('POST', '/api/auth/logout', { as: loggedOut.place.token })).status).toBe(204);
    expect((await platform.call('DELETE', `/api/tokens/${made.body.token_info.id}`, { as: revoked.place.token })).status).toBe(204);
    await Promise.all([...streams.map((s) => s.untilEnd()), neverReading(), stays.until((f) => f.event === 'ping')]);
    expect(stays.ended).toBe(false);
  });

  async function neverReading(): Promise<void> {
    const chat = await platform.openChat();
    const lazy = await platform.stream(chat, { paused: true });
    const keen = await platform.stream(chat, { query: '?after=0' });
    const streams = async () => Number(/^sse_streams(?:\{[^}]*\})? (\d+)/m.exec(await platform.app('api-gateway').metrics())?.[1]);
    const text = 'x'.repeat(99_000);
    let sent = 0;
    // Beyond what the sockets hold and what the gateway keeps for a slow reader.
    for (; sent < 60; sent++) {
      const { message_id } = await platform.say(chat, text);
      await keen.until((f) => f.event === 'message_created' && f.data.data.message.id === message_id);
    }
    await platform.settled(chat, sent);
    const count = await newest(chat);
    await until('the keen reader has everything', () => keen.ids().includes(count));
    expect(keen.ids()).toEqual(numbers(0, count));
    expect(keen.ended).toBe(false);
    expect(await streams()).toBeGreaterThan(0);
    await until(
      'the lazy reader is cut off',
      async () => Number(/^sse_streams_cut_total(?:\{[^}]*\})? (\d+)/m.exec(await platform.app('api-gateway').metrics())?.[1]) > 0,
    );
    // What it finds when it begins to read at last ends before the end; it resumes like after any cut.
    lazy.resume();
    await lazy.untilEnd();
    expect(lazy.ids().at(-1) ?? 0).toBeLessThan(count);
    expect(lazy.ids()).toEqual(numbers(0, lazy.ids().at(-1) ?? 0));
    const resumed = await platform.stream(chat, { lastEventId: String(lazy.ids().at(-1) ?? 0) });
    await until('it has caught up', () => resumed.ids().includes(count));
    keen.close();
    resumed.close();
  }

  it('leave nothing behind in the gateway', async () => {
    platform.closeStreams();
    const works = await begin(platform, new Chance(1), 5);
    await finish(platform, works);
    await until(
      'the gateway holds no stream',
      async () =>
        /^sse_streams(?:\{[^}]*\})? 0$/m.test(await platform.app('api-gateway').metrics()) &&
        /^realtime_topics(?:\{[^}]*\})? 0$/m.test(await platform.app('api-gateway').metrics()),
    );
  });
});
