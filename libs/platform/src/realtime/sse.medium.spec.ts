import { randomUUID } from 'node:crypto';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import type { TopicEvent } from '@aps/contracts';
import { loadConfig } from '@aps/platform/config';
import { metrics } from '@aps/platform/observability';
import { connectRedis } from '@aps/platform/redis';
import type { Response } from 'express';
import type { Redis } from 'ioredis';
import { RealtimeHub } from './hub';
import { RealtimePublisher } from './publisher';
import type { EventLog } from './event-log';
import { SseStreams, type Audience } from './sse';

/** An event log that holds what it is told to, so that backlogs of any size are at hand. */
class TestEventLog implements Pick<EventLog, 'now' | 'after' | 'newestOf'> {
  readonly events = new Map<string, TopicEvent[]>();
  now = () => new Date();

  add(topic: string, text: string): TopicEvent {
    const list = this.events.get(topic) ?? [];
    this.events.set(topic, list);
    const event: TopicEvent = { id: list.length + 1, type: 'message_created', at: new Date().toISOString(), data: { text } };
    list.push(event);
    return event;
  }
  after(topic: string, seq: number, limit: number): Promise<TopicEvent[]> {
    return Promise.resolve((this.events.get(topic) ?? []).slice(seq, seq + limit));
  }
  newestOf(topics: string[]): Promise<Map<string, number>> {
    return Promise.resolve(new Map(topics.map((topic) => [topic, this.events.get(topic)?.length ?? 0])));
  }
}

const everybody: Audience<null> = (questions) => Promise.resolve(questions.map(() => 'yes' as const));

describe('readers of event streams', () => {
  let commands: Redis;
  let subscriber: Redis;
  let hub: RealtimeHub;
  let streams: SseStreams;
  let eventLog: TestEventLog;
  let publisher: RealtimePublisher;
  let server: http.Server;
  let port: number;
  let responses: Response[];
  const open: { destroy(): void }[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    loadConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: process.env.TEST_REDIS_URL, REDIS_PREFIX: `t-${randomUUID()}` });
    [commands, subscriber] = [connectRedis('commands'), connectRedis('blocking')];
    for (const redis of [commands, subscriber])
      if (redis.status !== 'ready') await new Promise<void>((ready) => redis.once('ready', () => ready()));
    eventLog = new TestEventLog();
    publisher = new RealtimePublisher(commands);
    hub = new RealtimeHub(subscriber);
    streams = new SseStreams(hub, eventLog as unknown as EventLog);
    responses = [];
    server = http.createServer((request, response) => {
      const url = new URL(request.url!, 'http://test');
      const topics = url.searchParams
        .get('topics')!
        .split(',')
        .map((topic) => ({ topic, name: topic }));
      responses.push(response as Response);
      void streams.serve(response as Response, {
        orgId: 'o',
        topics,
        multiplexed: topics.length > 1,
        after: url.searchParams.get('after') ?? undefined,
        snapshots: () => Promise.resolve(topics.map(({ topic }) => ({ data: {}, newestId: eventLog.events.get(topic)?.length ?? 0 }))),
        reader: null,
        audience: everybody,
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(async () => {
    streams.beforeApplicationShutdown();
    open.forEach((socket) => socket.destroy());
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    [commands, subscriber].forEach((redis) => redis.disconnect());
  });

  /** A socket that asks for a stream and reads nothing of it. */
  async function deaf(path: string): Promise<{ socket: net.Socket; response: Response }> {
    const before = responses.length;
    const socket = net.connect(port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    open.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
    await until(() => responses.length > before && responses[before].headersSent);
    return { socket, response: responses[before] };
  }

  /** A reader that notes the numbers that it was given. */
  async function keen(path: string): Promise<{ ids: string[] }> {
    const ids: string[] = [];
    let tail = '';
    await new Promise<void>((begun, failed) => {
      const request = http.get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
        response.setEncoding('utf8').on('data', (text: string) => {
          tail += text;
          begun();
          for (let end = tail.indexOf('\n\n'); end >= 0; end = tail.indexOf('\n\n')) {
            const frame = tail.slice(0, end);
            tail = tail.slice(end + 2);
            const id = /^event: message_created\nid: (\S+)/.exec(frame)?.[1];
            if (id) ids.push(id);
          }
        });
        response.on('error', () => undefined);
      });
      request.on('error', failed);
      open.push(request);
    });
    return { ids };
  }

  async function until(holds: () => boolean): Promise<void> {
    for (let i = 0; !holds(); i++) {
      if (i > 3_000) throw new Error('It did not come to hold.');
      await new Promise((r) => setTimeout(r, 10));
    }
  }

  const upTo = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1));
  const cut = async () =>
    Number(/^sse_streams_cut_total(?:\{[^}]*\})? (\d+)/m.exec(await metrics.getSingleMetricAsString('sse_streams_cut_total'))?.[1] ?? 0);

  it('are told by HEAD what the stream would be, and not kept waiting', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/?topics=chat:${randomUUID()}`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    // It ends for the server, too: its place is free again.
    await until(() => responses.at(-1)!.closed);
  });

  it('do not wait for one that does not read; that one is cut off and holds no more than its share', async () => {
    const topic = `chat:${randomUUID()}`;
    const [before, lazy, reader] = [await cut(), await deaf(`/?topics=${topic}`), await keen(`/?topics=${topic}`)];
    let most = 0;
    for (let i = 0; i < 300; i++) {
      publisher.publish(topic, [eventLog.add(topic, 'x'.repeat(50_000))]);
      // Its turn to read is every other reader's, too.
      await until(() => reader.ids.length > i);
      most = Math.max(most, lazy.response.writableLength);
    }
    expect(reader.ids).toEqual(upTo(300));
    await until(() => lazy.response.destroyed);
    expect(most).toBeLessThan(2 * 1024 * 1024);
    expect(await cut()).toBe(before + 1);
  });

  it('read up a large backlog at their own pace, are told meanwhile what has no number, and the backlog does not stand in memory', async () => {
    const topic = `chat:${randomUUID()}`;
    for (let i = 0; i < 800; i++) eventLog.add(topic, 'x'.repeat(50_000));
    const { socket, response } = await deaf(`/?topics=${topic}&after=0`);
    // The hub tells of what comes after, too, in the order of those who listen.
    const heard = new Promise<void>((resolve) => void hub.listen(topic, { onSignal: () => resolve() }));
    publisher.publish(topic, [{ notice: 'presence_changed', at: new Date().toISOString(), data: {} }]);
    await heard;
    let most = 0;
    let text = '';
    let isTold = false;
    // Slowly at first, then as it comes.
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text = `${text}${piece}`.slice(-200_000);
      isTold ||= text.includes('event: presence_changed\n');
      most = Math.max(most, response.writableLength);
    });
    for (let i = 0; i < 20; i++) {
      socket.resume();
      await new Promise((r) => setTimeout(r, 5));
      socket.pause();
      most = Math.max(most, response.writableLength);
      await new Promise((r) => setTimeout(r, 5));
    }
    socket.resume();
    await until(() => text.includes('\nid: 800\n'));
    expect([response.destroyed, isTold]).toEqual([false, true]);
    expect(most).toBeLessThan(512 * 1024);
  });

  it('that take nothing of a backlog are cut off in time', async () => {
    const topic = `chat:${randomUUID()}`;
    for (let i = 0; i < 400; i++) eventLog.add(topic, 'x'.repeat(50_000));
    const { response } = await deaf(`/?topics=${topic}&after=0`);
    await until(() => response.destroyed);
  });

  it('find what signals did not tell, in each of their topics, once', async () => {
    const topics = [randomUUID(), randomUUID()].map((id) => `chat:${id}`);
    const reader = await keen(`/?topics=${topics.join()}`);
    // Told of the third alone, and of nothing of the other topic.
    for (let i = 0; i < 2; i++) eventLog.add(topics[0], 'silent');
    publisher.publish(topics[0], [eventLog.add(topics[0], 'told')]);
    eventLog.add(topics[1], 'silent');
    publisher.publish(topics[0], [eventLog.events.get(topics[0])![2], eventLog.events.get(topics[0])![0]]);
    await until(() => reader.ids.length >= 4);
    const numbers = reader.ids.map((id) => id.split('~').map((entry) => Number(entry.split('.')[1])));
    expect(numbers).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [3, 1],
    ]);
  });

  it('ask what they have missed once at a time, however long the answer takes', async () => {
    const slow = new TestEventLog();
    const answers: (() => void)[] = [];
    slow.newestOf = () => new Promise((resolve) => answers.push(() => resolve(new Map())));
    const asking = new SseStreams(new RealtimeHub(subscriber), slow as unknown as EventLog);
    for (let i = 0; i < 3; i++) subscriber.emit('ready');
    expect(answers.length).toBe(1);
    answers[0]();
    await until(() => subscriber.emit('ready') && answers.length === 2);
    asking.beforeApplicationShutdown();
  });

  it('begin, and are told what comes, while Redis stands still', async () => {
    const address = new URL(process.env.TEST_REDIS_URL!);
    const sockets: net.Socket[] = [];
    let isStill = false;
    const relay = net.createServer((client) => {
      if (isStill) return void sockets.push(client);
      const upstream = net.connect(Number(address.port), address.hostname);
      for (const socket of [client, upstream]) sockets.push(socket.on('error', () => undefined));
      client.pipe(upstream).pipe(client);
    });
    await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening));
    const still = subscriber.duplicate({ host: '127.0.0.1', port: (relay.address() as AddressInfo).port });
    await still.on('error', () => undefined).connect();
    isStill = true;
    for (const socket of sockets) socket.unpipe().pause();
    const others = streams;
    streams = new SseStreams(new RealtimeHub(still), eventLog as unknown as EventLog);
    try {
      const topic = `chat:${randomUUID()}`;
      // The second finds a subscription that was asked for and does not stand.
      const readers = [await keen(`/?topics=${topic}`), await keen(`/?topics=${topic}`)];
      eventLog.add(topic, 'silent');
      await until(() => readers.every(({ ids }) => ids.length === 1));
    } finally {
      streams.beforeApplicationShutdown();
      streams = others;
      still.disconnect();
      sockets.forEach((socket) => socket.destroy());
      relay.close();
    }
  }, 60_000);

  it('that were told what the database does not know any more are sent away, to begin anew', async () => {
    const topics = [randomUUID(), randomUUID()].map((id) => `chat:${id}`);
    const [lost, kept] = await Promise.all(topics.map((topic) => keen(`/?topics=${topic}`)));
    const [ofLost, ofKept] = responses.slice(-2).sort((one) => (one.req.url!.includes(topics[0]) ? -1 : 1));
    for (const topic of topics) for (let i = 0; i < 3; i++) publisher.publish(topic, [eventLog.add(topic, 'told')]);
    await until(() => lost.ids.length === 3 && kept.ids.length === 3);
    eventLog.events.get(topics[0])!.length = 1;
    await until(() => ofLost.writableFinished);
    expect(ofKept.writableEnded).toBe(false);
  });
});
