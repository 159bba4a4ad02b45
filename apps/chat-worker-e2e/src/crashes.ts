import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Chance } from '@aps/platform/testing';
import { script, until, withPlatform, type Platform } from '../../api-gateway-e2e/support';
import { check } from './invariants';
import { begin, finish, running } from './turns';

/** The only worker is killed among ten turns, and then again and again with one that is always there when it happens. */
export async function onlyWorkerKilled(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'chat-worker'] }, async (platform) => {
    const poison = await platform.openChat();
    await platform.say(poison, script({ text: 'never', delay_ms: 55_000 }));
    const works = await begin(platform, chance, 10);
    await sleep(chance.between(100, 2_500));
    await platform.restart('chat-worker');
    await finish(platform, works);
    await giveUp(platform, poison);

    // A turn that was given up blocks nothing, its own chat included.
    await platform.say(poison, 'better now');
    expect((await platform.settled(poison, 1)).error).toBeNull();
    await check(platform, works);
  });
}

/** Kills the worker each time it has taken the turn up, until the platform takes the turn for what kills it. */
async function giveUp(platform: Platform, poison: string): Promise<void> {
  const worker = platform.app('chat-worker');
  const state = async () => (await platform.getChat(poison)).body;
  for (let kills = 0; ; kills++) {
    const held = await until(
      'the turn is taken up or given up',
      async () => ((await state()).status === 'ERRORED' ? 'no' : (await running(platform)) > 0 && 'yes'),
      60_000,
    );
    if (held === 'no') break;
    expect(kills).toBeLessThan(4);
    await worker.kill();
    await worker.spawn().ready();
    const other = await platform.openChat();
    await platform.say(other, 'and me?');
    await platform.settled(other, 1);
  }
  expect(await state()).toMatchObject({ status: 'ERRORED', error: { code: 'worker_lost', retryable: true } });
}

/** Of two workers the one that has all turns stands still for longer than its leases last. */
export async function workerFrozen(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'chat-worker', 'chat-worker:b'] }, async (platform) => {
    const [frozen, other] = ['chat-worker', 'chat-worker:b'] as const;
    await platform.kill(other);
    // Slow ones, so that some still run however long the sends take.
    const works = await begin(platform, chance, 6, { kinds: ['slow', 'streaming', 'slow', 'tools', 'waits', 'pair'] });
    await until('the worker runs turns', async () => (await running(platform, frozen)) > 1);
    platform.app(frozen).freeze();
    await platform.app(other).spawn().ready();
    await finish(platform, works);
    // It wakes up in the middle of turns that are long over, with answers on its sockets.
    platform.app(frozen).thaw();
    await until('the worker lets go of them', async () => (await running(platform, frozen).catch(() => -1)) === 0);
    await finish(platform, works);
    await check(platform, works);
  });
}

const OWNERS = sql<{ lease_owner: string }>(
  `SELECT lease_owner FROM turns WHERE chat_id = ANY ($1::uuid[]) AND status = 'running' AND lease_owner IS NOT NULL`,
);

/** SIGTERM under load: unready at once, then finished or handed back, then gone with code 0. */
export async function drained(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'chat-worker', 'chat-worker:b'], env: { SHUTDOWN_GRACE_MS: '15000' } }, async (platform) => {
    const works = await begin(platform, chance, 16, { kinds: ['streaming', 'tools', 'waits', 'pair'] });
    // Longer than the grace, in one step and in many.
    const long = Array.from({ length: 45 }, (_, i) => `long${i}`).join(' ');
    const chats = await Promise.all([0, 1, 2, 3].map(() => platform.openChat()));
    for (const [i, chat] of chats.entries()) {
      const steps = Array.from({ length: 20 }, () => ({
        tool_calls: [{ name: 'todo_write', arguments: { todos: [{ title: 'x', status: 'pending' }] } }],
        delay_ms: 500,
      }));
      await platform.say(chat, i % 2 ? script({ text: long, chunk_delay_ms: 400 }) : script(...steps, { text: long }));
    }
    // Which of them has got more is for the queue to say; of four long turns one has two.
    const leaving = await until('one of the workers runs two of them', async () => {
      const owners = await platform.database((db) => db.query(OWNERS, [chats]));
      const workers = (['chat-worker', 'chat-worker:b'] as const).map((name) => platform.app(name));
      return workers.find(({ pid }) => owners.filter(({ lease_owner }) => lease_owner.includes(`:${pid}:`)).length >= 2);
    });
    const end = leaving.terminate(60_000);
    // Once it has said that it ends, it is unready for as long as it still works.
    const seen: boolean[] = [];
    await leaving.said(/SIGTERM: shutting down/);
    await until('it ends', async () => {
      const report = await leaving.readyz().catch(() => undefined);
      if (report) seen.push(report.body.ready);
      return !leaving.isRunning;
    });
    expect(await end).toEqual({ code: 0, signal: null });
    expect([seen.length > 0, seen.includes(true)]).toEqual([true, false]);
    for (const chat of chats) works.push({ chat, place: platform.home, replies: [long], todos: chats.indexOf(chat) % 2 ? [] : ['x'] });
    await finish(platform, works);
    await check(platform, works);
  });
}
