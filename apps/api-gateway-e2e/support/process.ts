import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { until } from './until';

export const ROOT = path.resolve(__dirname, '../../..');
/** The guard, and what spares each of them the compiling. */
const FIRST = ['orphan-guard', 'compiled-code'].flatMap((name) => ['--require', path.join(ROOT, `tools/dev/lib/${name}.cjs`)]);
/** What a process said last is kept for the failure's report; the rest of a long run is not. */
const KEPT_LOG_CHARS = 4_000_000;

/** Where the built entry point of an app or tool is, as tools/dev/lib/paths.mjs has it: an app and the migration are bundled. */
export function built(kind: 'bundles' | 'tools', name: string): string {
  const file = path.join(ROOT, 'dist', kind, name, 'main.js');
  if (!existsSync(file)) throw new Error(`${path.relative(ROOT, file)} is not there: run the tests by \`npm test\`, which builds first.`);
  return file;
}

/** Whether a program is on PATH. */
export const isInstalled = (name: string): boolean =>
  (process.env.PATH ?? '').split(path.delimiter).some((folder) => folder && existsSync(path.join(folder, name)));

/** Ports that were given out: until its process listens, one that is taken seems free. */
const given = new Set<number>();

/**
 * Drawn from below the range that the system hands out to outgoing connections, which would take it before the child does, and beside the one that servers
 * are given by the tools of development, which know nothing of those that are given here.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = 26_000 + Math.floor(Math.random() * 6_000);
    if (given.has(port)) continue;
    given.add(port);
    const free = await new Promise<boolean>((resolve) => {
      const server = net.createServer();
      server.once('error', () => resolve(false));
      server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error('No free port was found between 26000 and 32000.');
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * A Node process of ours. It ends when this process ends, however that happens: its channel to us closes, and the guard that it loads
 * first ends it then.
 */
export class NodeProcess {
  private child?: ChildProcess;
  private text = '';
  private errorText = '';
  private end: Promise<Ended> = Promise.resolve({ code: null, signal: null });
  private frozenBy?: ChildProcess;

  constructor(
    readonly name: string,
    private readonly file: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly args: string[] = [],
  ) {}

  get pid(): number {
    if (!this.child?.pid) throw new Error(`${this.name} has not been started.`);
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when the process has ended. */
  get ended(): Promise<Ended> {
    return this.end;
  }

  /** Everything it has written, of all its lives. */
  logs(): string {
    return this.text;
  }

  /** What of it went to its error output: words for the person at the terminal. */
  errors(): string {
    return this.errorText;
  }

  spawn(): this {
    if (this.isRunning) throw new Error(`${this.name} runs already.`);
    const child = spawn(process.execPath, ['--enable-source-maps', ...FIRST, this.file, ...this.args], {
      cwd: ROOT,
      env: this.env,
      // A session of its own: Ctrl-C reaches only us.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    const keep = (data: Buffer) => (this.text = (this.text + data.toString('utf8')).slice(-KEPT_LOG_CHARS));
    child.stdout?.on('data', keep);
    child.stderr?.on('data', (data: Buffer) => {
      keep(data);
      this.errorText = (this.errorText + data.toString('utf8')).slice(-KEPT_LOG_CHARS);
    });
    // After `close` everything that it wrote has been read.
    this.end = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    child.once('error', (error) => keep(Buffer.from(String(error))));
    return this;
  }

  /** Sends a signal and, for the ones that end it, waits for the end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return;
    if (this.frozenBy && signal !== 'SIGKILL') this.thaw();
    this.child?.kill(signal);
    this.release();
    if (signal === 'SIGKILL') await this.end;
  }

  /** Sends SIGTERM and waits; what has not ended by then is killed. */
  async terminate(graceMs = 30_000): Promise<Ended> {
    if (!this.isRunning) return this.end;
    await this.kill('SIGTERM');
    const late = setTimeout(() => this.child?.kill('SIGKILL'), graceMs);
    const ended = await this.end;
    clearTimeout(late);
    return ended;
  }

  /** Stops the process where it stands (SIGSTOP). Should we die meanwhile, it is killed: a frozen process cannot notice by itself. */
  freeze(): void {
    this.frozenBy = spawn('/bin/sh', ['-c', `read -r _ || kill -KILL ${this.pid}`], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.frozenBy.stdin?.on('error', () => undefined);
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
    this.release();
  }

  /** From now on nobody reads what it writes. */
  deafen(): void {
    this.child?.stdout?.destroy();
    this.child?.stderr?.destroy();
  }

  private release(): void {
    this.frozenBy?.stdin?.end('done\n');
    this.frozenBy = undefined;
  }

  /** Waits for a line of its output. */
  async said(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray> {
    return until(
      `${this.name} says ${pattern}`,
      () => {
        const match = this.text.match(pattern);
        if (!match && !this.isRunning) throw new Error(`${this.name} ended before it said ${pattern}:\n${this.text.slice(-2_000)}`);
        return match ?? undefined;
      },
      timeoutMs,
    );
  }
}
