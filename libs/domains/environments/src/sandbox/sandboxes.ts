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

/** What isolates commands here, chosen when it is first asked for. It is used until what comes before it works, which may have been away for a moment. */
@Injectable()
export class Sandboxes {
  private readonly candidates: SandboxDriver[];
  private choosing?: Promise<Choice>;
  /** After so long, what did not work is tried again, milliseconds: a daemon may have come up. */
  readonly patience = { tryAgainMs: 60_000 };

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
    return this.choosing ?? this.keep(this.choose(this.candidates));
  }

  private keep(choosing: Promise<Choice>): Promise<Choice> {
    void choosing.then((choice) => this.tryAgain(choosing, choice));
    return (this.choosing = choosing);
  }

  /** Later on what comes before the chosen one is tried again. */
  private tryAgain(choosing: Promise<Choice>, { driver }: Choice): void {
    const before = driver ? this.candidates.slice(0, this.candidates.indexOf(driver)) : this.candidates;
    if (!before.length) return;
    const again = async () => {
      // Whoever mistrusts it has it chosen anew.
      if (this.choosing !== choosing) return;
      const found = await this.choose(before);
      if (this.choosing === choosing) void this.keep(found.driver || !driver ? Promise.resolve(found) : choosing);
    };
    setTimeout(() => void again(), this.patience.tryAgainMs).unref();
  }

  private async choose(candidates: readonly SandboxDriver[]): Promise<Choice> {
    const problems: string[] = [];
    for (const driver of candidates) {
      const problem = await driver.unusable().catch(() => 'It could not be tried.');
      if (!problem) return { driver, problem: null };
      problems.push(`${driver.name}: ${problem}`);
    }
    return { driver: null, problem: ['Nothing isolates commands here.', ...problems].join(' ') };
  }
}
