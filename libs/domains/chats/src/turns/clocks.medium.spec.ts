import { metrics } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { sql } from '@aps/platform/testing';
import { calls, chatsService, type TestOrg } from '../testing/chats';

const MINUTES_5 = 300_000;
/** More than anything here takes, and far less than the clocks are wrong. */
const BOUND_S = 90;

describe('a process whose clock is wrong', () => {
  const right = Date;
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await app.org();
  });
  afterEach(() => {
    globalThis.Date = right;
  });

  /** Shifts what this process takes for the time, its libraries included. */
  const shift = (ms: number) => {
    globalThis.Date = class extends right {
      constructor(...args: [] | [number]) {
        if (args.length) super(...args);
        else super(right.now() + ms);
      }
      static override now = () => right.now() + ms;
    } as DateConstructor;
  };
  const sumOf = async (name: string): Promise<number> =>
    (await metrics.getSingleMetric(name)!.get()).values.find((v) => (v as { metricName?: string }).metricName?.endsWith('_sum'))?.value ??
    0;
  const oldest = async (): Promise<number> =>
    (await metrics.getSingleMetric('queue_oldest_ready_seconds')!.get()).values.find((v) => v.labels.queue === 'turns')!.value;

  it.each([
    ['fast', MINUTES_5],
    ['slow', -MINUTES_5],
  ])('waits as long as it is to, and writes the database’s time: five minutes too %s', async (_, ms) => {
    shift(ms);
    const waited = await sumOf('run_queue_delay_seconds');
    const chat = await app.chat(org);
    const began = performance.now();
    await app.send(org, chat, calls('wait_until', { for_s: 8 }));
    await app.until(org, chat, (c) => c.pause?.kind === 'timer');
    await app.settled(org, chat, 1);
    const tookS = (performance.now() - began) / 1000;
    expect([tookS >= 7.5, tookS < BOUND_S]).toEqual([true, true]);
    expect((await sumOf('run_queue_delay_seconds')) - waited).toBeLessThan(BOUND_S);
    const off = await app.db.query(
      sql<{ off: number }>(`SELECT max(abs(extract(epoch FROM now() - x.at)))::float8 AS off FROM (
         SELECT started_at AS at FROM turn_steps WHERE chat_id = $1 UNION ALL SELECT finished_at FROM turn_steps WHERE chat_id = $1
         UNION ALL SELECT created_at FROM messages WHERE chat_id = $1 UNION ALL SELECT created_at FROM events WHERE topic = 'chat:' || $1::text
         UNION ALL SELECT created_at FROM chats WHERE id = $1 UNION ALL SELECT finished_at FROM turns WHERE chat_id = $1) x`),
      [chat],
    );
    expect(off[0].off).toBeLessThan(BOUND_S);
  });

  it.each([
    ['fast', MINUTES_5],
    ['slow', -MINUTES_5],
  ])('dates all that a stream brings by the database, also what is stored nowhere: five minutes too %s', async (_, ms) => {
    shift(ms);
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    const frames = await stream.until(({ event }) => event === 'snapshot');
    await app.call('POST', `${org.path}/${chat}/presence`, { as: org.owner });
    frames.push(...(await stream.until(({ event }) => event === 'presence_changed')));
    await app.send(org, chat, 'hello');
    frames.push(...(await stream.until(({ event, data }) => event === 'status_changed' && data.data.to === 'ACTIVE')));
    stream.close();
    expect(frames.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['snapshot', 'presence_changed', 'message_delta', 'message_completed']),
    );
    for (const { data } of frames) expect(Math.abs(right.now() - right.parse(data.at as string)) / 1000).toBeLessThan(BOUND_S);
  });

  it.each([
    ['fast', MINUTES_5],
    ['slow', -MINUTES_5],
  ])('tells the age of jobs that others have published: five minutes too %s', async (_, ms) => {
    const queue = app.get(Outbox).queueOf('turn.run');
    await queue.pause();
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    shift(ms);
    const age = await oldest();
    expect([age >= 1, age < BOUND_S]).toEqual([true, true]);
    globalThis.Date = right;
    await queue.resume();
    await app.settled(org, chat, 1);
  });
});
