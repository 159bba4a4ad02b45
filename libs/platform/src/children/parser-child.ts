import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { LISTENING } from './parent';

/** Why a process of a parser has ended. */
export type ParserEnd = 'memory' | 'other';

export interface ParserOptions<From> {
  /** Of the module that starts it: `__dirname`. */
  directory: string;
  /** Beside that module, in a build and in a bundle (`CHILDREN` in tools/dev/lib/bundle.mjs). */
  file: string;
  /** Of the JavaScript heap. */
  heapMib: number;
  /** Of all that it has, buffers too; watched while there is a `/proc`. */
  residentMib?: number;
  heard: (said: From) => void;
  /** Once, whoever has ended it. */
  ended: (why: ParserEnd) => void;
}

const REPOSITORY = path.resolve(__dirname, '../../../..');
const WATCH_MS = 200;
/** For loading its code, where every core is busy. */
const START_MS = 60_000;
const PAGES_PER_MIB = 256;
/** What V8 ends with when its heap is full. */
const OUT_OF_HEAP = new Set<NodeJS.Signals | null>(['SIGABRT', 'SIGTRAP', 'SIGILL']);
/** Node's permissions, by the name that this one knows: 20 has them under the longer. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';

/**
 * A process that takes apart what strangers have made, so that what a hostile text can do ends there. It has no settings and no secrets, opens no
 * connections, starts no processes, and reads no files but those of its own code. Its module listens by `serveParent`.
 */
export class ParserChild<To extends Serializable, From> {
  /** It has its code: from now on the time that it takes is what it was told takes. */
  readonly listening: Promise<void>;
  private readonly child: ChildProcess;
  private readonly watch?: NodeJS.Timeout;
  private why: ParserEnd = 'other';

  constructor({ directory, file, heapMib, residentMib, heard, ended }: ParserOptions<From>) {
    const { entry, code } = builtAt(directory, file);
    let listens!: () => void;
    this.listening = new Promise((resolve) => (listens = resolve));
    const late = setTimeout(() => this.end(), START_MS).unref();
    this.child = fork(entry, [], {
      execArgv: [PERMISSION, ...code.map((folder) => `--allow-fs-read=${folder}/*`), `--max-old-space-size=${heapMib}`],
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
      .on('message', (said) => {
        if (said !== LISTENING) return heard(said as From);
        clearTimeout(late);
        listens();
      })
      .on('error', () => undefined)
      .once('exit', (_, signal) => {
        clearInterval(this.watch);
        clearTimeout(late);
        ended(OUT_OF_HEAP.has(signal) ? 'memory' : this.why);
      });
    if (residentMib) this.watch = setInterval(() => void this.look(residentMib * PAGES_PER_MIB), WATCH_MS).unref();
  }

  get isRunning(): boolean {
    return this.child.connected;
  }

  /** One that is gone is noticed by its end. */
  tell(message: To): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  end(): void {
    this.child.kill('SIGKILL');
    if (this.child.connected) this.child.disconnect();
  }

  private async look(maxPages: number): Promise<void> {
    const [, resident] = (await readFile(`/proc/${this.child.pid}/statm`, 'utf8').catch(() => '')).split(' ');
    if (!(Number(resident) > maxPages)) return;
    this.why = 'memory';
    this.end();
  }
}

/** Specs run from the sources, whose build stands below dist; only a bundle holds all of its code. */
function builtAt(directory: string, file: string): { entry: string; code: string[] } {
  const beside = path.join(directory, file);
  const entry = existsSync(beside) ? beside : path.join(REPOSITORY, 'dist', path.relative(REPOSITORY, directory), file);
  if (!existsSync(entry)) throw new Error(`${file} is not built`);
  const [, root] = /^(.*)\/dist\/libs\//.exec(entry) ?? [];
  return { entry, code: root === undefined ? [path.dirname(entry)] : [`${root}/dist`, `${root}/node_modules`] };
}
