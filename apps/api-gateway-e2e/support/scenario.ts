import { Chance } from '@aps/platform/testing';
import { startPlatform, type Platform, type PlatformOptions } from './platform';

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
