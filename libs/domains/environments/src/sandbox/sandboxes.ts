import { Injectable } from '@nestjs/common';
import { inferenceConfig } from '@aps/inference';
import { ConfigError } from '@aps/platform/config';
import { BubblewrapDriver } from './bubblewrap-driver';
import { DockerDriver } from './docker-driver';
import { KubernetesDriver } from './kubernetes/kubernetes-driver';
import { NamespacesDriver } from './namespaces-driver';
import { ProcessDriver } from './process-driver';
import { sandboxConfig } from './sandbox.config';
import type { SandboxDriver } from './sandbox-driver';

/** After so long, what did not work is tried again: a daemon may have come up. */
const TRY_AGAIN_MS = 60_000;

/** In the order in which they are tried. */
const all = (): SandboxDriver[] => [
  new KubernetesDriver(),
  new DockerDriver(),
  new BubblewrapDriver(),
  new NamespacesDriver(),
  new ProcessDriver(),
];

interface Choice {
  driver: SandboxDriver | null;
  /** Why there is none. */
  problem: string | null;
}

/** What isolates commands here, chosen when it is first asked for. */
@Injectable()
export class Sandboxes {
  private readonly candidates: SandboxDriver[];
  private choosing?: Promise<Choice>;

  /** @throws ConfigError when nothing should isolate in production */
  constructor() {
    const { driver: named } = sandboxConfig.value;
    if (named === 'process' && inferenceConfig.value.nodeEnv === 'production')
      throw new ConfigError(['SANDBOX_DRIVER: process isolates nothing, and is refused with NODE_ENV=production']);
    this.candidates = all().filter(({ name, isolation }) => (named === 'auto' ? isolation !== 'none' : name === named));
  }

  async driver(): Promise<SandboxDriver | null> {
    return (await this.choice()).driver;
  }

  /** Why nothing isolates commands here, as a sentence; null where something does. */
  async problem(): Promise<string | null> {
    return (await this.choice()).problem;
  }

  /** What was chosen has failed; it is tried again before it is used again. */
  mistrust(): void {
    this.choosing = undefined;
  }

  private choice(): Promise<Choice> {
    return (this.choosing ??= this.choose().then((choice) => {
      if (!choice.driver) setTimeout(() => (this.choosing = undefined), TRY_AGAIN_MS).unref();
      return choice;
    }));
  }

  private async choose(): Promise<Choice> {
    const problems: string[] = [];
    for (const driver of this.candidates) {
      const problem = await driver.unusable().catch(() => 'It could not be tried.');
      if (!problem) return { driver, problem: null };
      problems.push(`${driver.name}: ${problem}`);
    }
    return { driver: null, problem: ['Nothing isolates commands here.', ...problems].join(' ') };
  }
}
