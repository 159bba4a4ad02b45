import { setTimeout as sleep } from 'node:timers/promises';
import { startPlatform, type Platform, type PlatformOptions } from '../../api-gateway-e2e/support';

/** Chance that can be repeated: the same seed makes the same choices. */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = (seed * 2_654_435_761 + 12_345) >>> 0;
  }

  /** A whole number from `min` to `max`. */
  between(min: number, max: number): number {
    // The high bits of a linear congruence are the random ones.
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return min + Math.floor((this.state / 2 ** 32) * (max - min + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)];
  }

  shuffled<T>(all: readonly T[]): T[] {
    const left = [...all];
    for (let i = left.length - 1; i > 0; i--) {
      const j = this.between(0, i);
      [left[i], left[j]] = [left[j], left[i]];
    }
    return left;
  }
}

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

export type Scenario = (chance: Chance) => Promise<void>;

/**
 * Runs scenarios at the same time, each as a test of its own. What a recovery takes is mostly waiting for leases to run out, and that
 * can be done side by side. A failure names the seed; TEST_SEED repeats it.
 */
export function sideBySide(scenarios: Record<string, Scenario>): void {
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
  const results = new Map<string, Promise<Error | undefined>>();
  beforeAll(() => {
    Object.entries(scenarios).forEach(([name, scenario], i) => {
      const run = scenario(new Chance(seed + i)).then(
        () => undefined,
        (error: Error) => error,
      );
      results.set(name, run);
    });
  });
  afterAll(() => Promise.all(results.values()));
  for (const name of Object.keys(scenarios)) {
    it(name, async () => {
      const error = await results.get(name);
      if (!error) return;
      error.message = `${error.message}\n\nRepeat with TEST_SEED=${seed}`;
      throw error;
    });
  }
}

/** A platform for the time of one scenario. What its processes logged last is in the failure. */
export async function withPlatform(options: PlatformOptions, fn: (platform: Platform) => Promise<void>): Promise<void> {
  const platform = await startPlatform(options);
  try {
    const { org_id, agent_id } = platform.demo;
    const patched = await platform.call('PATCH', `/api/orgs/${org_id}/agents/${agent_id}?deploy=true`, { body: { memory_enabled: true } });
    if (patched.status !== 200) throw new Error(`Changing the agent answered ${patched.status} ${JSON.stringify(patched.body)}`);
    await fn(platform);
  } catch (error) {
    const logs = (options.apps ?? ['api-gateway', 'chat-worker']).map((app) => `--- ${app}\n${tail(platform.logs(app))}`);
    (error as Error).message += `\n\n${logs.join('\n')}`;
    throw error;
  } finally {
    await platform.stop();
  }
}

/** The newest lines that tell of more than the ordinary. */
function tail(log: string): string {
  const lines = log
    .trimEnd()
    .split('\n')
    .filter((line) => !/"level":(10|20|30),/.test(line));
  return lines
    .slice(-20)
    .map((line) => line.slice(0, 700))
    .join('\n');
}
