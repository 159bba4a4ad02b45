import { BeforeApplicationShutdown, Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { ProcessIdentity } from '@aps/platform/runtime';
import { FORGET_HOSTS, HOST_ELSEWHERE, HOST_GONE, HOST_SEEN, NAMED_IMAGES } from '../environments.sql';
import { Sandboxes } from '../sandbox/sandboxes';

const AT_ONCE = 100;
const WEEK_MS = 7 * 86_400_000;

/** Says what isolates commands in this process, and removes the workspaces and images that it has and nobody uses. */
@Injectable()
export class SandboxHosting implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Images that no environment named when it was looked last. */
  private unnamed = new Set<string>();

  constructor(
    maintenance: Maintenance,
    private readonly db: Database,
    private readonly sandboxes: Sandboxes,
    private readonly self: ProcessIdentity,
  ) {
    maintenance.register({ name: 'sandbox_hosts', everyS: 30, batch: 1, run: () => this.announce() });
    maintenance.register({ name: 'sandbox_workspaces', everyS: 3_600, batch: AT_ONCE, run: () => this.removeIdle() });
    maintenance.register({ name: 'sandbox_images', everyS: 300, batch: 1, run: () => this.removeImages() });
  }

  onApplicationBootstrap(): void {
    // It is done again soon, where the database is away.
    void this.announce().catch(() => undefined);
  }

  private async announce(): Promise<number> {
    const driver = await this.sandboxes.driver();
    await this.db.execute(HOST_SEEN, [this.self.id, driver?.isolation ?? null, driver ? null : await this.sandboxes.problem()]);
    await this.db.query(FORGET_HOSTS);
    return 0;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.db.execute(HOST_GONE, [this.self.id]).catch(() => undefined);
  }

  /** Whether commands are for others to run: nothing isolates them here, and elsewhere something does. */
  async leavesToOthers(): Promise<boolean> {
    if (await this.sandboxes.driver()) return false;
    return (await this.db.query(HOST_ELSEWHERE, [this.self.id])).length > 0;
  }

  private async removeIdle(): Promise<number> {
    const driver = await this.sandboxes.driver();
    const idle = (await driver?.idleWorkspaces(WEEK_MS)) ?? [];
    await each(idle.slice(0, AT_ONCE), (workspace) => driver!.removeWorkspace(workspace, WEEK_MS));
    return Math.min(idle.length, AT_ONCE);
  }

  /** An image that is just being validated is named by nobody yet: it goes where that is so the second time. */
  private async removeImages(): Promise<number> {
    const driver = await this.sandboxes.driver();
    const here = (await driver?.images()) ?? [];
    const named = here.length ? (await this.db.query(NAMED_IMAGES, [here])).map(({ digest }) => digest) : [];
    const before = this.unnamed;
    this.unnamed = new Set(here.filter((digest) => !named.includes(digest)));
    await each(
      [...this.unnamed].filter((digest) => before.has(digest)),
      (digest) => driver!.removeImage(digest),
    );
    return 0;
  }
}

/** One that cannot be removed does not stand before the others. @throws the last failure */
async function each(keys: readonly string[], remove: (key: string) => Promise<void>): Promise<void> {
  let failure: { error: unknown } | undefined;
  for (const key of keys) {
    try {
      await remove(key);
    } catch (error) {
      failure = { error };
    }
  }
  if (failure) throw failure.error;
}
