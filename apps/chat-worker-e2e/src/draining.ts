import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '@aps/platform/testing';
import { NodeProcess, ROOT, until, withPlatform, type Platform } from '../../api-gateway-e2e/support';
import { check } from './invariants';
import { begin, finish, running } from './turns';

const WORKERS = ['chat-worker', 'chat-worker:b'] as const;

interface ListedWorker {
  id: string;
  draining: boolean;
  queues: { name: string; active: number }[];
  leases: { id: string; org_id: string }[];
}

const listed = async (platform: Platform): Promise<ListedWorker[]> => {
  const { status, body } = await platform.admin('GET', '/workers');
  expect([status, body.total]).toEqual([200, body.items.length]);
  return body.items as ListedWorker[];
};

/** Which of the listed workers a process is: its number is in the id. */
const idOf = (platform: Platform, worker: (typeof WORKERS)[number]): Promise<string> =>
  until(`${worker} is listed`, async () => {
    const found = (await listed(platform)).filter(({ id }) => id.split(':')[1] === String(platform.app(worker).pid));
    return found.length === 1 && found[0].id;
  });

/** Deliveries of turns that a worker has begun, those under way included. */
const begunBy = async (platform: Platform, worker: (typeof WORKERS)[number]): Promise<number> => {
  const series = (await platform.app(worker).metrics()).matchAll(
    /^(?:worker_jobs_running|job_duration_seconds_count)\{queue="turns"[^}]*\} (\d+)/gm,
  );
  return [...series].reduce((sum, [, n]) => sum + Number(n), 0);
};

/** Waits until a worker has heard what its row says, by a broadcast or by its heartbeat. */
const drainsNow = (platform: Platform, worker: (typeof WORKERS)[number], wanted: 0 | 1) =>
  until(`${worker} has heard it`, async () => (await platform.app(worker).metrics()).includes(`\nworker_draining ${wanted}\n`));

/** `npm run drain -- …`; what it has said. */
const byHand = async (platform: Platform, ...args: string[]): Promise<string> => {
  const env = { ...process.env, APS_URL: platform.url, APS_ADMIN_TOKEN: platform.demo.admin_token };
  const tool = new NodeProcess('drain', path.join(ROOT, 'tools/drain/drain.mjs'), env, args).spawn();
  expect([(await tool.ended).code, tool.errors()]).toEqual([0, '']);
  return tool.logs();
};

/** Of two workers one is told to begin nothing new while turns run, and in the end the other one. */
export async function oneOfTwoWorkersDrained(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'admin-api', ...WORKERS] }, async (platform) => {
    const [leaving, other] = WORKERS;
    const [id, otherId] = [await idOf(platform, leaving), await idOf(platform, other)];

    // Long enough to be there still when the worker has heard of it, in one step and in many.
    const works = await begin(platform, chance, 12, { kinds: ['slow', 'tools', 'slow', 'streaming', 'pair', 'waits'] });
    await until('the worker runs turns', async () => (await running(platform, leaving)) > 0);
    expect(await platform.admin('POST', `/workers/${id}/drain`)).toMatchObject({ status: 202, body: { id, draining: true } });
    await drainsNow(platform, leaving, 1);
    const held = (await listed(platform)).find((worker) => worker.id === id)!;
    expect(held.draining).toBe(true);
    expect(held.leases.every(({ org_id }) => org_id === platform.demo.org_id)).toBe(true);
    const begun = await begunBy(platform, leaving);
    expect(begun).toBeGreaterThan(0);

    // Two would share this.
    works.push(...(await begin(platform, chance, 12)));
    await finish(platform, works);
    await until('it has ended what it had', async () => (await running(platform, leaving)) === 0);
    expect(platform.app(leaving).isRunning).toBe(true);
    expect((await platform.app(leaving).readyz()).body.ready).toBe(true);
    expect(await begunBy(platform, leaving)).toBeLessThanOrEqual(begun);
    expect(await platform.app(leaving).metrics()).not.toContain('run_duration_seconds_count{kind="turn",outcome="handed_back"}');
    await check(platform, works);

    // Nobody takes anything: it waits, and is lost nowhere.
    await byHand(platform, '--all');
    await drainsNow(platform, other, 1);
    const waiting = await begin(platform, chance, 6, { kinds: ['plain'] });
    await sleep(2_000);
    for (const { chat } of waiting) expect((await platform.getChat(chat)).body.messages).toHaveLength(1);
    const { queues } = (await platform.admin('GET', '/workers')).body as {
      queues: { name: string; ready: number; oldest_ready_s: number }[];
    };
    const turns = queues.find(({ name }) => name === 'turns')!;
    expect([turns.ready, turns.oldest_ready_s > 1]).toEqual([6, true]);

    expect(await byHand(platform, '--resume', id)).toMatch(new RegExp(`^draining  ${otherId} `, 'm'));
    await drainsNow(platform, leaving, 0);
    await finish(platform, waiting);
    expect(await running(platform, other)).toBe(0);
    await check(platform, [...works, ...waiting]);

    // One that starts anew is another, and takes work.
    await platform.restart(other);
    const fresh = await idOf(platform, other);
    expect(fresh).not.toBe(otherId);
    expect((await listed(platform)).find((worker) => worker.id === fresh)).toMatchObject({ draining: false });
  });
}

/** As a container is ended: its worker begins nothing new and ends what it has, before it is sent SIGTERM. */
export async function drainedBeforeItEnds(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'admin-api', ...WORKERS] }, async (platform) => {
    const [leaving] = WORKERS;
    const id = await idOf(platform, leaving);
    const works = await begin(platform, chance, 12, { kinds: ['slow', 'tools', 'slow', 'streaming'] });
    await until('the worker runs turns', async () => (await running(platform, leaving)) > 0);
    const app = platform.app(leaving);
    const drain = new NodeProcess('drain', path.join(ROOT, 'docker/drain.js'), {
      ...process.env,
      APP_PID: String(app.pid),
      INTERNAL_PORT: new URL(app.internalUrl).port,
    }).spawn();
    expect([await drain.ended, drain.logs()]).toEqual([{ code: 0, signal: null }, '']);
    expect(await running(platform, leaving)).toBe(0);
    const handedBack = (await app.metrics()).includes('run_duration_seconds_count{kind="turn",outcome="handed_back"}');
    expect([app.isRunning, handedBack]).toEqual([true, false]);

    // Nobody makes it begin anything any more.
    await platform.admin('POST', `/workers/${id}/resume`);
    await until('it says so', async () => (await listed(platform)).find((worker) => worker.id === id)?.draining);
    expect((await app.metrics()).includes('\nworker_draining 1\n')).toBe(true);
    expect(await app.terminate()).toEqual({ code: 0, signal: null });
    expect((await listed(platform)).map((worker) => worker.id)).not.toContain(id);
    await finish(platform, works);
    await check(platform, works);
  });
}
