/** Child processes: ports for them, starting them so that none outlives us, watching, restarting and ending them. */
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError, say } from './console.mjs';

// ------------------------------------------------------------------------------------------------------------- ports

/** Whether a server could listen there: undefined, or the error code that says why not. */
export const portProblem = (port, host = '127.0.0.1') =>
  new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });

/** Ports that were given before and may not be taken yet. */
const given = new Set();

/**
 * A free port of 127.0.0.1 for a child to listen on. It is drawn from below the range that systems hand out to outgoing
 * connections: a port from within that range is often gone again before the child gets to it. Those from 26000 on are for end-to-end tests.
 */
export async function freePort() {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 6_000);
    if (given.has(port) || (await portProblem(port))) continue;
    given.add(port);
    return port;
  }
  throw new UserError('No free port was found between 20000 and 26000.');
}

/** The first of these programs that is installed. */
export function onPath(...names) {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  return names
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

// ---------------------------------------------------------------------------------------------------------- foreigners

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The command line and the environment of a running process, '' when there is none (or it is not ours to see). */
function traceOf(pid) {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-E', '-ww', '-o', 'command=', '-p', String(pid)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    return ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ')).join(' ');
  } catch {
    return '';
  }
}

/** Ends a process that is not our child; `mark` must stand in its trace, so that a reused pid is left alone. */
export async function endOrphan(pid, mark, { signal = 'SIGTERM', graceMs = 5_000 } = {}) {
  const isOurs = () => isAlive(pid) && traceOf(pid).includes(mark);
  if (!isOurs()) return false;
  process.kill(pid, signal);
  for (const until = Date.now() + graceMs; Date.now() < until; await sleep(50)) if (!isOurs()) return true;
  if (isOurs()) process.kill(pid, 'SIGKILL');
  while (isOurs()) await sleep(20);
  return true;
}

/**
 * Takes a lock file for this process and answers undefined, or answers the pid of the living process that holds it.
 * `mark` must stand in the holder's trace: a lock left by a kill -9 does not block.
 */
export function takeLock(file, mark) {
  mkdirSync(path.dirname(file), { recursive: true });
  const named = `${file}.${process.pid}`;
  for (let attempt = 0; attempt < 5; attempt++) {
    // A link appears with its content, so nobody reads a lock that does not name its holder yet.
    writeFileSync(named, String(process.pid));
    try {
      linkSync(named, file);
      held.add(file);
      return undefined;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    } finally {
      rmSync(named, { force: true });
    }
    const holder = holderOf(file);
    if (holder === process.pid || (holder && isAlive(holder) && traceOf(holder).includes(mark))) return holder;
    rmSync(file, { force: true });
  }
  throw new UserError(`The lock file ${file} could not be taken.`);
}

export function releaseLock(file) {
  if (held.delete(file)) rmSync(file, { force: true });
}

const held = new Set();
process.once('exit', () => held.forEach(releaseLock));

function holderOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

// ------------------------------------------------------------------------------------------------------------ children

const [guard, compiledCode] = ['./orphan-guard.cjs', './compiled-code.cjs'].map((file) => new URL(file, import.meta.url).pathname);

/**
 * A Node child in a session of its own: Ctrl-C reaches only us, and we end the children in order. The guard ends it when
 * we are gone without having done so.
 */
export function spawnNode(file, args, { env, cwd, stdout = 'pipe', stderr = 'pipe' }) {
  return spawn(process.execPath, ['--enable-source-maps', '--require', guard, '--require', compiledCode, file, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', stdout, stderr, 'ipc'],
  });
}

/**
 * Any other server, in a session of its own too. A small shell becomes the server by `exec`, so the pid is the server's;
 * before that it leaves a reader on a pipe from us behind, which ends the server when the pipe closes without a word.
 */
export function spawnServer(command, args, { cwd, uid, gid, log, env = process.env }) {
  const child = spawn('/bin/sh', ['-c', '(read -r _ <&3 || kill -INT $$) & exec "$@" 3<&-', 'sh', command, ...args], {
    cwd,
    uid,
    gid,
    env,
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  });
  const line = child.stdio[3];
  line.on('error', () => {});
  child.once('exit', () => line.end('done\n'));
  return child;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
const STEADY_AFTER_MS = 15_000;

/** One long-running child: started, awaited, started again when it dies, and ended. */
export class Service {
  #stopping = false;
  #delayMs = 0;
  #ended = Promise.resolve();
  #wake = new AbortController();

  /**
   * @param {object} options
   * @param {string} options.name
   * @param {() => import('node:child_process').ChildProcess} options.launch
   * @param {() => Promise<boolean>} options.isReady asked until it says true
   * @param {() => string} [options.lastWords] what it said last, for the sentence that reports its end before it was ready
   * @param {boolean} [options.keep] start it again when it dies
   * @param {() => void} [options.onPid] called whenever the process is a new one
   */
  constructor({
    name,
    launch,
    isReady,
    lastWords = () => '',
    keep = false,
    onPid = () => {},
    stopSignal = 'SIGTERM',
    graceMs = 10_000,
    readyMs = 60_000,
  }) {
    Object.assign(this, { name, launch, isReady, lastWords, keep, onPid, stopSignal, graceMs, readyMs });
  }

  get pid() {
    return this.child?.pid;
  }

  get isRunning() {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  async start() {
    this.#spawn();
    await this.untilReady();
    this.child.once('exit', () => this.#revive());
    if (!this.isRunning) this.#revive();
    return this;
  }

  async untilReady() {
    const { child } = this;
    for (const until = Date.now() + this.readyMs; Date.now() < until; await sleep(25)) {
      if (this.#stopping) throw new UserError(`${this.name} was stopped before it was ready`);
      if (child !== this.child || !this.isRunning) throw new UserError(`${this.name} ended before it was ready${this.#said()}`);
      if (await this.isReady().catch(() => false)) return;
    }
    throw new UserError(`${this.name} was not ready within ${this.readyMs / 1000} s${this.#said()}`);
  }

  #said() {
    const words = this.lastWords();
    return words ? `: ${words}` : '';
  }

  #spawn() {
    this.since = Date.now();
    const child = this.launch();
    this.child = child;
    this.#ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`)));
    child.once('error', () => {});
    this.onPid();
  }

  async #revive() {
    if (this.#stopping || !this.keep || this.restarting) return;
    const why = await this.#ended;
    const steady = Date.now() - this.since > STEADY_AFTER_MS;
    this.#delayMs = steady || !this.#delayMs ? FIRST_DELAY_MS : Math.min(2 * this.#delayMs, LONGEST_DELAY_MS);
    await sleep(this.#delayMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    if (this.#stopping || this.restarting) return;
    this.#spawn();
    this.child.once('exit', () => this.#revive());
    say(`${this.name} ended (${why}); started again as pid ${this.pid}`);
  }

  /** Ends the process and starts it anew, for new code. */
  async restart() {
    this.restarting = true;
    try {
      await this.#end();
      if (this.#stopping) return;
      this.#spawn();
      await this.untilReady();
    } finally {
      this.restarting = false;
      if (!this.#stopping) {
        if (this.isRunning) this.child.once('exit', () => this.#revive());
        else void this.#revive();
      }
    }
  }

  stop() {
    this.#stopping = true;
    this.#wake.abort();
    return (this.stopped ??= this.#end());
  }

  async #end() {
    if (!this.isRunning) return;
    this.child.kill(this.stopSignal);
    const late = setTimeout(() => this.child.kill('SIGKILL'), this.graceMs);
    await this.#ended;
    clearTimeout(late);
  }
}
