import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '@aps/platform/testing';
import type { Instance, Platform } from './platform';
import { redisCommand } from './servers';

/** What happens to a platform in a campaign. `hit` notes the runs that are under a lease of such an owner (LIKE). */
export type Fault = (platform: Platform, chance: Chance, hit: (owner: string) => Promise<void>) => Promise<void>;

/** Longer than a lease, so that others take over what the frozen one holds. */
const FREEZE_MS = 25_000;
const ownedBy = (pid: number): string => `%:${pid}:%`;

/** To the servers of the platform, which have to be its own. */
export const SERVER_FAULTS = {
  redis_restarted: async (platform, chance, hit) => {
    await platform.redis!.kill();
    await sleep(chance.between(0, 3_000));
    await platform.redis!.restart();
    await hit('%');
  },
  redis_flushed: async (platform, _chance, hit) => {
    await redisCommand(platform.redis!.url, 'FLUSHALL');
    await hit('%');
  },
  postgres_restarted: async (platform, chance, hit) => {
    await platform.postgres!.kill(chance.choose(['SIGQUIT', 'SIGINT', 'SIGKILL'] as const));
    await sleep(chance.between(0, 2_000));
    await platform.postgres!.restart();
    await hit('%');
  },
} satisfies Record<string, Fault>;

/** One of these dies, and starts anew. */
export const killed =
  (...of: Instance[]): Fault =>
  async (platform, chance, hit) => {
    const app = platform.app(chance.choose(of));
    const { pid } = app;
    await app.kill();
    await hit(ownedBy(pid));
    await app.spawn().ready();
  };

/** One of these is asked to end, does so, and starts anew. */
export const ended =
  (...of: Instance[]): Fault =>
  async (platform, chance, hit) => {
    const app = platform.app(chance.choose(of));
    await hit(ownedBy(app.pid));
    const end = await app.terminate(60_000);
    if (end.code !== 0) throw new Error(`A worker ended with ${JSON.stringify(end)}`);
    await app.spawn().ready();
  };

/** One of these stands still, and wakes up when all that it had is somebody else's. */
export const frozen =
  (...of: Instance[]): Fault =>
  async (platform, chance, hit) => {
    const app = platform.app(chance.choose(of));
    app.freeze();
    await hit(ownedBy(app.pid));
    await sleep(FREEZE_MS);
    app.thaw();
  };

/** For campaigns that look at what comes of it alone. */
export const unnoted = () => Promise.resolve();

/**
 * Does the faults of a campaign one after another, each as often as it is to happen and at a share of the work that chance gives.
 *
 * @param share of the work that is done, from 0 to 1. It may throw, which ends the campaign.
 * @param work that the faults happen to, and that is waited for; when it fails, no fault comes after
 */
export async function inflict<K extends string>(
  chance: Chance,
  counts: Record<K, number>,
  fault: (kind: K) => Promise<unknown>,
  share: () => number,
  work: Promise<unknown>,
): Promise<void> {
  let hasFailed = false;
  work.catch(() => (hasFailed = true));
  const order = (Object.keys(counts) as K[]).flatMap((kind) =>
    Array.from({ length: counts[kind] }, () => ({ kind, at: chance.between(2, 95) / 100 })),
  );
  for (const { kind, at } of order.sort((a, b) => a.at - b.at)) {
    while (!hasFailed && share() < at) await sleep(10);
    if (hasFailed) break;
    await fault(kind);
  }
  await work;
}

/** @throws Error with what an app has said last that has ended without being told to: nothing would go on, for minutes, and nobody know why */
export function requireAlive(platform: Platform, names: readonly Instance[]): void {
  for (const name of names) {
    const app = platform.app(name);
    if (!app.isRunning) throw new Error(`${name} has ended by itself:\n${app.logs().slice(-3_000)}`);
  }
}

/** What a campaign came to, as Markdown. */
export function tableOf(title: string, figures: object): string {
  const rows = Object.entries(figures).map(([name, value]: [string, unknown]) => `| ${name.replaceAll('_', ' ')} | ${String(value)} |`);
  return [`| ${title} | |`, '|---|---|', ...rows].join('\n');
}

/** For {@link tableOf}: how often each fault was done. */
export const timesOf = (faults: Record<string, number>) =>
  Object.fromEntries(Object.entries(faults).map(([kind, n]) => [`faults: ${kind}`, n]));

/** For {@link tableOf}: names of what does not hold. */
export const namesOf = (broken: readonly string[]): string => broken.join(', ') || 'none';
