import { posix } from 'node:path';
import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { OrgScope } from '@aps/guards';
import { insist } from '@aps/platform/database';
import { RealtimeHub } from '@aps/platform/realtime';
import { PutOff } from '@aps/platform/queues';
import { Cutoff } from '@aps/platform/signals';
import { counter, durationHistogram } from '@aps/platform/observability';
import { CommandsRepository, commandTopic, NOT_RUN, type CommandResult } from '../commands/commands.repository';
import type { ClaimedCommand } from '../commands/commands.sql';
import { EnvironmentsQueries } from '../environments.queries';
import { readReference, pinned } from '../images/image-reference.policy';
import { SandboxFailed, WORKSPACE, type SandboxDriver } from '../sandbox/sandbox-driver';
import { Sandboxes } from '../sandbox/sandboxes';

/** How often whoever runs commands says so, and finds out which of them are not wanted any more. */
const BEAT_MS = 5_000;
/** When it is tried again to begin a command of an organization that has enough of them running. */
const BUSY_S = 2;

const ended = counter('environment_commands_total', 'Commands that sandboxes have ended, by outcome', ['outcome']);
const seconds = durationHistogram('environment_command_seconds', 'Time a command took in its sandbox', []);

/** Nobody wants its end any more. */
class Unwanted extends Error {}

/** Runs the commands of sandboxes in this process. One that is taken is never run again, whatever becomes of its process. */
@Injectable()
export class CommandRunner implements BeforeApplicationShutdown {
  private readonly logger = new Logger('CommandRunner');
  private readonly running = new Map<string, Cutoff>();
  private readonly timer = setInterval(() => void this.beat(), BEAT_MS).unref();

  constructor(
    private readonly commands: CommandsRepository,
    private readonly environments: EnvironmentsQueries,
    private readonly sandboxes: Sandboxes,
    private readonly hub: RealtimeHub,
  ) {}

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** @param shutdown cuts the command: what it came to is then not known */
  async run(orgId: string, id: string, shutdown: AbortSignal): Promise<void> {
    const command = await this.commands.claim(orgId, id);
    if (!command) {
      if ((await this.commands.end(id))?.status === 'queued') throw new PutOff(BUSY_S, 'Its organization has as many running as it may');
      return;
    }
    const cut = new Cutoff(shutdown);
    const listener = { onSignal: () => void this.look(id) };
    this.running.set(id, cut);
    const stop = seconds.startTimer();
    let lost = 'What ran it was ended.';
    try {
      await this.hub.listen(commandTopic(id), listener);
      await this.look(id);
      const result = await this.executed(command, cut.signal);
      lost = 'It has ended, and what it came to could not be written down.';
      await insist(() => this.commands.finish(command, result));
      ended.inc({ outcome: result.error ? 'refused' : result.timedOut ? 'timed_out' : 'done' });
    } catch (error) {
      if (error instanceof Unwanted) return void ended.inc({ outcome: 'cancelled' });
      ended.inc({ outcome: 'lost' });
      this.logger.warn({ msg: 'A command was lost', command_id: id, error: (error as Error).message });
      const known = error instanceof SandboxFailed ? error.message : lost;
      await insist(() => this.commands.lose(id, known));
    } finally {
      stop();
      cut.release();
      this.running.delete(id);
      this.hub.unlisten(commandTopic(id), listener);
    }
  }

  private async executed(command: ClaimedCommand, signal: AbortSignal): Promise<CommandResult> {
    const driver = await this.sandboxes.driver();
    if (!driver) return { ...NOT_RUN, error: (await this.sandboxes.problem()) ?? 'Nothing isolates commands here.' };
    const { id, workspace, workdir, timeout_s, kind, content } = command;
    try {
      const image = await this.imageOf(command, driver);
      const output = await driver.exec(
        { id, argv: argvOf(command), stdin: kind === 'put_file' ? content : null, workdir, workspace, image, timeoutMs: timeout_s * 1_000 },
        signal,
      );
      if (kind !== 'get_file') return output;
      return { ...output, stdout: '', content: output.exitCode === 0 ? output.stdout : null };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SandboxFailed) this.sandboxes.mistrust();
      if (error instanceof SandboxFailed && !error.began) return { ...NOT_RUN, error: error.message };
      throw error;
    }
  }

  /** @throws SandboxFailed */
  private async imageOf({ org_id, environment_id }: ClaimedCommand, driver: SandboxDriver): Promise<string | null> {
    const environment = await this.environments.find(OrgScope.system(org_id, 'a command'), environment_id);
    if (!environment) throw new SandboxFailed('The environment was deleted.', false);
    if (environment.kind !== 'CUSTOM_IMAGE') return null;
    const read = readReference(environment.image_ref!);
    if ('problem' in read || !environment.image_digest) throw new SandboxFailed('The image was not resolved yet.', false);
    if (!driver.runsImages) throw new SandboxFailed('No container runtime is configured here.', false);
    return pinned(read.reference, environment.image_digest);
  }

  private async look(id: string): Promise<void> {
    if ((await this.commands.ended([id]).catch(() => [])).length) this.running.get(id)?.abort(new Unwanted());
  }

  private async beat(): Promise<void> {
    const ids = [...this.running.keys()];
    // While the database is away nobody knows; who was silent for too long is told as lost by somebody else.
    const wanted = ids.length ? await this.commands.beat(ids).catch(() => null) : null;
    if (wanted) for (const id of ids) if (!wanted.has(id)) this.running.get(id)?.abort(new Unwanted());
  }
}

/** Paths are arguments, never a part of a script, and begin at the workspace, wherever that is. */
function argvOf({ kind, command, path }: ClaimedCommand): string[] {
  if (kind === 'exec') return ['sh', '-c', command!];
  const file = `./${posix.relative(WORKSPACE, path!)}`;
  if (kind === 'get_file') return ['sh', '-c', 'exec cat -- "$1"', 'sh', file];
  return ['sh', '-c', 'mkdir -p -- "$(dirname -- "$1")" && exec cat > "$1"', 'sh', file];
}
