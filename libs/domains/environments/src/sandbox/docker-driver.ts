import { execFile, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Cutoff } from '@aps/platform/signals';
import { environment, first } from './launch';
import { DISK_FULL, isAnyFull, LIMITS, watchDisks } from './limits';
import { LocalDriver, type Launch } from './local-driver';
import { sandboxConfig, sandboxDir } from './sandbox.config';
import { ImageTooLarge, SandboxFailed, START_MS, WORKSPACE, type CommandOutput, type SandboxCommand } from './sandbox-driver';
import { OWNER } from './workspaces';

const execute = promisify(execFile);
const ANSWER_MS = 5_000;
const KILL_TRIES = 20;
const GIB = 1024 ** 3;
/** What `docker run` ends with where it, or the shell of the image, could not be run. */
const NOT_BEGUN = [125, 126, 127];
/** Below it an installation gives each image that it brings here a name beside its own, with its digest as the tag: these alone does it remove. */
const KEPT_IMAGES = 'agent-platform/sandbox-image/';
const NAMES = '{{range .RepoTags}}{{println .}}{{end}}{{range .RepoDigests}}{{println .}}{{end}}';
/** The program hands the signal on to its container, and so ends it, when we die. */
const ENDING_WITH_US = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'TERM', '--'] : [];

/** Containers of a Docker daemon on the same machine, by its command-line program, which reads the settings of Docker itself. */
export class DockerDriver extends LocalDriver {
  readonly name = 'docker';
  readonly isolation = 'container';
  override readonly runsImages = true;
  protected override readonly watchesProcesses = false;
  /** The image may have to be pulled. */
  protected override readonly probeMs = 120_000;
  protected readonly failure = 'A container could not be started: Docker does not answer, or its image cannot be run.';

  /** Tells us from others that have sandboxes on the same daemon: whoever is of our installation has our folder of workspaces, and nobody else. */
  private readonly installation = createHash('sha256').update(sandboxDir()).digest('hex').slice(0, 16);
  /** Images that have our name, for all that is known. */
  private readonly kept = new Set<string>();

  /** @param program Docker's, by its name or its path */
  constructor(private readonly program = 'docker') {
    super();
  }

  override async unusable(): Promise<string | null> {
    const { stdout } = await this.docker('version', '--format', '{{.Server.Os}}').catch(() => ({ stdout: '' }));
    return stdout.trim() === 'linux' ? super.unusable() : 'No Docker daemon with Linux containers answers here.';
  }

  /** What an image takes to come here is no time of the command. */
  protected override async prepare({ image }: SandboxCommand, signal: AbortSignal): Promise<void> {
    if (!(await this.isMissing(image ?? sandboxConfig.value.image))) return;
    const cut = new Cutoff(signal, START_MS);
    try {
      await (image === null ? this.bring(sandboxConfig.value.image, cut.signal) : this.pull(image, cut.signal, null));
    } catch (error) {
      signal.throwIfAborted();
      throw notPulled(error);
    } finally {
      cut.release();
    }
  }

  override async pull(image: string, signal: AbortSignal, maxBytes: number | null): Promise<void> {
    try {
      const [isNew, isForeign] = [await this.isMissing(image), await this.isForeign(image)];
      // By its digest it can be no other: neither its registry, nor a full disk, says anything of what is here.
      if (isNew) await this.bring(image, signal);
      if (!isForeign) await this.keep(image);
      if (maxBytes === null || (await this.sizeOf(image)) <= maxBytes) return;
      if (isNew) await this.removeImage(digestOf(image));
      throw new ImageTooLarge(`The image has more than ${maxBytes / GIB} GiB once it is unpacked.`, false);
    } catch (error) {
      signal.throwIfAborted();
      throw notPulled(error);
    }
  }

  override async images(): Promise<string[]> {
    const { stdout } = await this.docker('image', 'ls', '--filter', `reference=${KEPT_IMAGES}${this.installation}`, '--format', '{{.Tag}}');
    return stdout.split('\n').flatMap((tag) => (tag.startsWith('sha256-') ? tag.replace('-', ':') : []));
  }

  override async removeImage(digest: string): Promise<void> {
    const ours = this.keptAs(digest);
    this.kept.clear();
    const all = await this.namesOf(ours);
    // Another installation has it, too, or the machine; or it is what our own sandbox runs in.
    const isOthers = all.some((name) => name !== ours && !name.includes('@')) || sandboxConfig.value.image.endsWith(`@${digest}`);
    const names = isOthers ? [] : all.filter((name) => name.endsWith(`@${digest}`));
    // Ours is the last to go: what a container runs in keeps its last name, by which it is found again.
    await execute(this.program, ['image', 'rm', ...names, ours]).catch((error: { stderr?: string }) => {
      if (!error.stderr?.includes('conflict')) throw error;
    });
  }

  protected async launch(
    command: SandboxCommand,
    key: string,
    files: string,
    run: (launch: Launch) => Promise<CommandOutput>,
  ): Promise<CommandOutput> {
    const name = `sandbox-${key}`;
    const [shell, ...args] = first(key, command.workdir, command.argv);
    const labels = ['--label', `sandbox.installation=${this.installation}`, '--label', `sandbox.command=${command.id}`];
    const container = [...bounds(files), '--name', name, ...labels, '--entrypoint', shell!];
    const { image } = command;
    const isBrought = image !== null && !this.kept.has(image) && !(await this.isForeign(image));
    return run({
      argv: [...ENDING_WITH_US, this.program, 'run', ...container, '--', image ?? sandboxConfig.value.image, ...args],
      kill: (child) => this.remove(name, child),
      notBegun: NOT_BEGUN,
    }).finally(() => {
      if (isBrought) void this.keep(image).catch(() => undefined);
    });
  }

  /** What an image has once it is unpacked nobody knows before: the disk is looked at meanwhile. */
  private async bring(image: string, signal: AbortSignal): Promise<void> {
    const disks = [sandboxDir(), ...(await this.root())];
    if (await isAnyFull(disks)) throw new SandboxFailed(DISK_FULL, false);
    const cut = new Cutoff(signal);
    const watch = watchDisks(disks, (sentence) => cut.abort(new SandboxFailed(sentence, false)));
    try {
      await execute(this.program, ['pull', '--quiet', '--', image], { signal: cut.signal });
    } catch (error) {
      cut.signal.throwIfAborted();
      throw error;
    } finally {
      clearInterval(watch);
      cut.release();
    }
  }

  /** The folder where Docker has its images, if it says so. */
  private async root(): Promise<string[]> {
    const { stdout } = await this.docker('info', '--format', '{{.DockerRootDir}}').catch(() => ({ stdout: '' }));
    return stdout.split('\n').filter(Boolean);
  }

  /** Of an image that is here, bytes. */
  private async sizeOf(image: string): Promise<number> {
    return Number((await this.docker('image', 'inspect', '--format', '{{.Size}}', image)).stdout);
  }

  /** Whether an image is surely not here. */
  private async isMissing(image: string): Promise<boolean> {
    return (await this.namesOf(image).catch(saysNoImage)) === true;
  }

  /** Whether an image is here that no installation has brought here, for all that is known: it is not ours to remove. */
  private async isForeign(image: string): Promise<boolean> {
    try {
      return !(await this.namesOf(image)).some((name) => name.startsWith(KEPT_IMAGES));
    } catch (error) {
      return !saysNoImage(error);
    }
  }

  private async namesOf(image: string): Promise<string[]> {
    const { stdout } = await this.docker('image', 'inspect', '--format', NAMES, image);
    return stdout.split('\n').filter(Boolean);
  }

  private keptAs(digest: string): string {
    return `${KEPT_IMAGES}${this.installation}:${digest.replace(':', '-')}`;
  }

  private async keep(image: string): Promise<void> {
    await this.docker('tag', image, this.keptAs(digestOf(image)));
    this.kept.add(image);
  }

  /** A container ends with the program that runs it, unless that was killed; one that is only being made is looked for until it is there. */
  private async remove(name: string, child: ChildProcess): Promise<void> {
    for (let tries = 0; child.exitCode === null && tries < KILL_TRIES; tries++) {
      await this.docker('rm', '--force', name).catch(() => undefined);
      if (child.signalCode !== null) return;
      await sleep(100);
    }
    child.kill('SIGKILL');
  }

  private docker(...args: string[]) {
    return execute(this.program, args, { timeout: ANSWER_MS });
  }
}

const digestOf = (image: string): string => image.slice(image.indexOf('@') + 1);

const notPulled = (cause: unknown): SandboxFailed =>
  cause instanceof SandboxFailed ? cause : new SandboxFailed('The image could not be pulled.', false, { cause });

/** As which Docker tells of an image that is not here. */
const saysNoImage = (error: unknown): boolean => /no such image/i.test((error as { stderr?: string }).stderr ?? '');

/** What a container may use, and sees. Its outputs are kept by nobody else. */
function bounds(files: string): string[] {
  const { PATH: _ofTheImage, ...variables } = environment();
  return [
    ...['--rm', '--init', '--interactive', '--network', 'none', '--hostname', 'sandbox', '--log-driver', 'none'],
    ...['--cpus', String(LIMITS.cpus), '--memory', `${LIMITS.memoryBytes}b`, '--memory-swap', `${LIMITS.memoryBytes}b`],
    ...['--pids-limit', String(LIMITS.processes), '--ulimit', `fsize=${LIMITS.diskBytes}`, '--ulimit', 'core=0', '--ulimit', 'nofile=4096'],
    ...['--user', `${OWNER.uid}:${OWNER.gid}`, '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--read-only'],
    ...['--tmpfs', `/tmp:exec,mode=1777,size=${LIMITS.temporaryBytes}`, '--shm-size', `${LIMITS.sharedBytes}b`],
    ...['--mount', `type=bind,source=${files},target=${WORKSPACE}`, '--workdir', WORKSPACE],
    ...Object.entries(variables).flatMap((each) => ['--env', each.join('=')]),
  ];
}
