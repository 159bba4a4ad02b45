import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { Cutoff } from '@aps/platform/signals';
import { DISK_FULL, DiskUse, watchLimits } from './limits';
import { runProgram, type Program } from './run';
import { sandboxConfig, sandboxDir } from './sandbox.config';
import { SandboxFailed, WORKSPACE, type CommandOutput, type Isolation, type SandboxCommand, type SandboxDriver } from './sandbox-driver';
import { Workspaces } from './workspaces';

/** What a driver makes of a command. */
export type Launch = Pick<Program, 'argv' | 'env' | 'kill' | 'notBegun'>;

/** A driver whose sandboxes are processes of this machine, and whose workspaces are folders of its disk. */
export abstract class LocalDriver implements SandboxDriver {
  abstract readonly name: string;
  abstract readonly isolation: Isolation;
  readonly runsImages: boolean = false;
  /** Whether memory and processes are bounded by looking at them, as nothing else does it. */
  protected readonly watchesProcesses: boolean = true;
  protected readonly probeMs: number = 10_000;
  /** Said where a sandbox cannot be made. */
  protected abstract readonly failure: string;
  protected readonly workspaces = new Workspaces(sandboxDir());
  /** Known to all drivers, which have the same folders: a command may still run by one when the next of its workspace does by another. By workspace, what runs in it. */
  private static readonly running = new Map<string, Map<Cutoff, Promise<unknown>>>();
  private static readonly crowded = new Set<string>();
  /** By workspace, the disk as the first of the commands has found it that use it together; or its clearing, for which the next ones wait. */
  private static readonly uses = new Map<string, { commands: number; disk?: DiskUse; clearing?: Promise<unknown> }>();

  /**
   * @param key of this run alone: the line that the first process says
   * @param files of the workspace; also where the program is started
   */
  protected abstract launch(
    command: SandboxCommand,
    key: string,
    files: string,
    run: (launch: Launch) => Promise<CommandOutput>,
  ): Promise<CommandOutput>;

  /** Whether a command runs, and what it writes to its workspace is where we look for it. */
  async unusable(): Promise<string | null> {
    if (sandboxConfig.value.egress !== 'off')
      return `SANDBOX_EGRESS=${sandboxConfig.value.egress} cannot be kept by ${this.name}: it could reach private addresses, too.`;
    const workspace = randomUUID();
    const probe = {
      argv: ['tee', 'seen'],
      stdin: Buffer.from(workspace),
      workdir: WORKSPACE,
      workspace,
      image: null,
      timeoutMs: this.probeMs,
    };
    try {
      // Also where the disk is full: whoever takes nothing more can still remove what is there.
      const { exitCode, timedOut } = await this.begin({ id: randomUUID(), ...probe }, new AbortController().signal, true);
      if (timedOut) return `A first command did not end within ${this.probeMs / 1_000} seconds.`;
      const { files } = await this.workspaces.open(workspace);
      if (exitCode === 0 && (await readFile(path.join(files, 'seen'), 'utf8').catch(() => '')) === workspace) return null;
      return 'A first command could not write to its workspace.';
    } catch (error) {
      if (!(error instanceof SandboxFailed)) throw error;
      new Logger(this.name).warn(error.cause);
      return error.message;
    } finally {
      await this.removeWorkspace(workspace).catch(() => undefined);
    }
  }

  exec(command: SandboxCommand, signal: AbortSignal): Promise<CommandOutput> {
    return this.begin(command, signal, false);
  }

  /** Brings here what a command needs, before its time begins. @throws SandboxFailed, or the reason of the signal */
  protected prepare(_command: SandboxCommand, _signal: AbortSignal): Promise<void> {
    return Promise.resolve();
  }

  private async begin(command: SandboxCommand, signal: AbortSignal, isProbe: boolean): Promise<CommandOutput> {
    signal.throwIfAborted();
    const removal = new Cutoff(signal);
    const running = LocalDriver.running.get(command.workspace) ?? new Map<Cutoff, Promise<unknown>>();
    LocalDriver.running.set(command.workspace, running);
    const end = this.run(command, removal.signal, isProbe).finally(() => {
      removal.release();
      running.delete(removal);
      if (!running.size) LocalDriver.running.delete(command.workspace);
    });
    running.set(removal, end);
    return end;
  }

  pull(_image: string, _signal: AbortSignal, _maxBytes: number | null): Promise<void> {
    return Promise.reject(new SandboxFailed(`Images are not run by ${this.name}.`, false));
  }

  images(): Promise<string[]> {
    return Promise.resolve([]);
  }

  removeImage(_digest: string): Promise<void> {
    return Promise.resolve();
  }

  async removeWorkspace(workspace: string, idleMs?: number): Promise<void> {
    // What is idle has nothing that runs there.
    const running = idleMs === undefined ? [...(LocalDriver.running.get(workspace) ?? [])] : [];
    for (const [removal] of running) removal.abort(new SandboxFailed('Its workspace was removed.', true));
    await Promise.allSettled(running.map(([, end]) => end));
    await this.workspaces.remove(workspace, idleMs);
    LocalDriver.crowded.delete(workspace);
  }

  idleWorkspaces(idleMs: number): Promise<string[]> {
    return this.workspaces.idle(idleMs);
  }

  private async run(command: SandboxCommand, signal: AbortSignal, isProbe: boolean): Promise<CommandOutput> {
    const { workspace } = command;
    await this.enter(workspace);
    let cleared: string | null = null;
    let output: CommandOutput;
    try {
      output = await this.runIn(command, signal, isProbe);
    } finally {
      // What has gone meanwhile is cleared.
      cleared = await this.leave(workspace);
      await this.workspaces.touch(workspace);
    }
    return cleared === null ? output : { ...output, stderr: Buffer.concat([output.stderr, Buffer.from(cleared)]) };
  }

  private async runIn(command: SandboxCommand, signal: AbortSignal, isProbe: boolean): Promise<CommandOutput> {
    const { workspace, stdin, timeoutMs } = command;
    const { folder, files } = await this.workspaces.open(workspace).catch(notMade);
    const disk = await DiskUse.of(workspace, files, LocalDriver.crowded).catch(notMade);
    if (disk.wasFull && !isProbe) throw new SandboxFailed(DISK_FULL, false);
    // A first command has no longer for it than for itself.
    if (!isProbe) await this.prepare(command, signal);
    LocalDriver.uses.get(workspace)!.disk ??= disk;
    const key = randomUUID();
    const watch: Program['watch'] = (pid, end) => watchLimits(pid, disk, this.watchesProcesses, end);
    return this.launch(command, key, files, (launch) =>
      runProgram({ key, stdin, timeoutMs, folder, cwd: files, watch, failure: this.failure, ...launch }, signal),
    );
  }

  private async enter(workspace: string): Promise<void> {
    for (let use = LocalDriver.uses.get(workspace); use?.clearing; use = LocalDriver.uses.get(workspace)) await use.clearing;
    const use = LocalDriver.uses.get(workspace) ?? { commands: 0 };
    use.commands++;
    LocalDriver.uses.set(workspace, use);
  }

  /** The last one clears what all of them have made: nothing goes that a command is at. @returns what is said of it */
  private async leave(workspace: string): Promise<string | null> {
    const use = LocalDriver.uses.get(workspace)!;
    if (--use.commands) return null;
    const clearing = use.disk?.clear().catch(() => null) ?? Promise.resolve(null);
    use.clearing = clearing.finally(() => LocalDriver.uses.delete(workspace));
    return clearing;
  }
}

function notMade(cause: Error): never {
  throw new SandboxFailed('Workspaces cannot be made here: the folder of SANDBOX_DIR is not writable.', false, { cause });
}
