import { randomUUID } from 'node:crypto';
import { Cutoff } from '@aps/platform/signals';
import { Output } from '../output';
import { SandboxFailed, type CommandOutput, type SandboxCommand, type SandboxDriver } from '../sandbox-driver';
import { sandboxConfig } from '../sandbox.config';
import { first } from './first-process';
import { KubernetesApi, KubernetesRefused } from './kubernetes-api';
import { kubernetesConfig } from './kubernetes.config';
import { execInPod } from './pod-exec';
import type { Pod } from './pod.manifest';
import { Pods } from './pods';

/** Of what was ended by SIGKILL: a process of the command, or all of its pod. */
const KILLED = 137;

/** Runs commands in pods of the cluster that this process runs in itself, in a namespace where they meet nobody. */
export class KubernetesDriver implements SandboxDriver {
  readonly name = 'kubernetes';
  readonly isolation = 'pod';
  readonly runsImages = true;
  private readonly api = new KubernetesApi();
  private readonly pods = new Pods(this.api);

  async unusable(): Promise<string | null> {
    const { namespace } = kubernetesConfig.value;
    try {
      const { allowed } = await this.api.may('create', 'pods', 'exec');
      return allowed ? null : `This process may not run commands in pods of the namespace ${namespace}.`;
    } catch (error) {
      if (!(error instanceof KubernetesRefused)) throw error;
      // Organizations may read it: the cluster's own words name accounts and addresses.
      return error.status ? `The API of the cluster answers this process with status ${error.status}.` : error.message;
    }
  }

  async exec(command: SandboxCommand, signal: AbortSignal): Promise<CommandOutput> {
    signal.throwIfAborted();
    return this.pods.with(command.workspace, command.image ?? sandboxConfig.value.image, signal, (pod) => this.run(pod, command, signal));
  }

  pull(image: string, signal: AbortSignal): Promise<void> {
    return this.pods.pull(image, signal);
  }

  /** Nodes keep images, and remove them, by themselves. */
  images(): Promise<string[]> {
    return Promise.resolve([]);
  }

  removeImage(_digest: string): Promise<void> {
    return Promise.resolve();
  }

  removeWorkspace(workspace: string, idleMs?: number): Promise<void> {
    return this.pods.removeWorkspace(workspace, idleMs);
  }

  idleWorkspaces(idleMs: number): Promise<string[]> {
    return this.pods.idleWorkspaces(idleMs);
  }

  /** Removes pods that nobody has used for ten minutes. Runs by itself every minute, once there has been a command. */
  sweep(): Promise<void> {
    return this.pods.sweep();
  }

  private async run(pod: Pod, { argv, stdin, workdir, timeoutMs }: SandboxCommand, signal: AbortSignal): Promise<CommandOutput> {
    const key = randomUUID();
    const [stdout, stderr] = [new Output(key), new Output(key)];
    const program = first(key, workdir, stdin?.length ?? 0, argv);
    const cut = new Cutoff(signal, timeoutMs);
    try {
      const address = await this.api.execAddress(pod.metadata.name, program, !!stdin?.length);
      const { exitCode, isLost, complaint } = await execInPod(address, stdin, [stdout, stderr], cut.signal);
      const isCut = cut.signal.aborted;
      if (isCut) await this.pods.kill(pod);
      signal.throwIfAborted();
      if (!isCut && (exitCode === null || exitCode === KILLED)) {
        const loss = await this.pods.loss(pod);
        // Nobody would watch over what may go on in there.
        if (isLost) await this.pods.kill(pod);
        if (loss !== null || exitCode === null)
          throw new SandboxFailed(loss ?? 'The command could not be run in its sandbox.', isLost || stdout.hasBegun, { cause: complaint });
      }
      return {
        exitCode: isCut ? null : exitCode,
        stdout: stdout.toBuffer(),
        stderr: stderr.toBuffer(),
        timedOut: cut.isLate,
        truncated: stdout.isTruncated || stderr.isTruncated,
      };
    } finally {
      cut.release();
    }
  }
}
