import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kept } from './kept';
import { Refused, type Workspace } from './workspace';

/** What is to be done, as it is told. */
export interface Wanted {
  id: string;
  kind: 'exec' | 'put_file' | 'get_file';
  command: string | null;
  workdir: string;
  /** Seconds. */
  timeout_s: number;
  path: string | null;
  content_base64: string | null;
  workspace: string;
}

/** What it came to, beside what it wrote. */
export interface End {
  exit_code: number | null;
  timed_out: boolean;
  truncated: boolean;
  /** Of a file that was asked for. */
  content_base64: string | null;
}

/** Of a process that has ended by itself, others may hold its outputs; they are killed and have so long, milliseconds. */
const LAST_WORDS_MS = 1_000;
/** While a command writes, it is told so often, milliseconds. */
const TELL_MS = 50;

/** Something that is done here, from when it is asked for until everybody has forgotten it. */
export class Work {
  readonly stdout = new Kept();
  readonly stderr = new Kept();
  /** Undefined while it is being done. */
  end: End | undefined;
  /** Nobody wants to know any more what it comes to. */
  isCancelled = false;
  private child: ChildProcess | undefined;
  private timedOut = false;
  private telling: NodeJS.Timeout | undefined;

  /** @param changed there is something to tell */
  constructor(
    readonly wanted: Wanted,
    private readonly workspace: Workspace,
    private readonly changed: (work: Work) => void,
  ) {}

  /** Does it. Whatever goes wrong is what it comes to. */
  async run(): Promise<void> {
    let end: End;
    try {
      end = await this.done();
    } catch (error) {
      this.stderr.add(Buffer.from(error instanceof Refused ? error.message : `It could not be done: ${(error as Error).message}`));
      end = { exit_code: 1, timed_out: false, truncated: false, content_base64: null };
    }
    clearTimeout(this.telling);
    this.end = end;
    this.changed(this);
  }

  cancel(): void {
    this.isCancelled = true;
    this.kill();
  }

  private async done(): Promise<End> {
    const { kind, path, content_base64 } = this.wanted;
    const done = { exit_code: 0, timed_out: false, truncated: false, content_base64: null };
    if (kind === 'exec') return this.executed();
    if (kind === 'put_file') {
      await this.workspace.put(path!, Buffer.from(content_base64!, 'base64'));
      return done;
    }
    const { content, isTruncated } = await this.workspace.get(path!);
    return { ...done, truncated: isTruncated, content_base64: content.toString('base64') };
  }

  private async executed(): Promise<End> {
    const { command, workdir, timeout_s } = this.wanted;
    const cwd = await this.workspace.folderAt(workdir);
    const { APS_DAEMON_TOKEN: _, ...env } = process.env;
    // It leads a group of its own, by which all that it starts is killed.
    const child = spawn('sh', ['-c', command!], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    const closed = once(child, 'close').catch(() => undefined);
    child.stdout.on('data', (piece: Buffer) => this.keep(this.stdout, piece));
    child.stderr.on('data', (piece: Buffer) => this.keep(this.stderr, piece));
    const ceiling = setTimeout(() => {
      this.timedOut = true;
      this.kill();
    }, timeout_s * 1_000);
    try {
      if (this.isCancelled) this.kill();
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      this.kill();
      await Promise.race([closed, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
      const exit_code = this.timedOut || this.isCancelled ? null : (code ?? 128 + os.constants.signals[signal!]);
      const truncated = this.stdout.isTruncated || this.stderr.isTruncated;
      return { exit_code, timed_out: this.timedOut, truncated, content_base64: null };
    } finally {
      clearTimeout(ceiling);
      // Its number is somebody else's some day.
      this.child = undefined;
      child.stdout.destroy();
      child.stderr.destroy();
    }
  }

  private keep(stream: Kept, piece: Buffer): void {
    stream.add(piece);
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      this.changed(this);
    }, TELL_MS);
  }

  private kill(): void {
    if (!this.child?.pid) return;
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // All of it has gone.
    }
  }
}
