/** The processes under measurement. None outlives the benchmark. */
import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { root } from '../../dev/lib/paths.mjs';

const guard = fileURLToPath(new URL('../../dev/lib/orphan-guard.cjs', import.meta.url));
const POLL_MS = 10;
const READY_MS = 60_000;
const GRACE_MS = 15_000;
const running = new Set();

/** Its output goes to a file, as a supervisor would take it. */
export class Child {
  /** @param {{ file: string, env: NodeJS.ProcessEnv, dir: string, flags?: string[], readyUrl?: string }} options ready when readyUrl answers 200, else when it says so by a message */
  constructor(name, { file, env, dir, flags = [], readyUrl }) {
    Object.assign(this, { name, file, env, flags, readyUrl, log: path.join(dir, 'logs', `${name}.log`) });
  }

  get pid() {
    return this.process.pid;
  }

  /** Starts it and remembers in `startMs` how long it took until it was ready. */
  async start() {
    const began = performance.now();
    const out = openSync(this.log, 'a');
    this.process = spawn(process.execPath, [...this.flags, '--enable-source-maps', '--require', guard, this.file], {
      cwd: root,
      env: this.env,
      detached: true,
      stdio: ['ignore', out, out, 'ipc'],
    });
    running.add(this);
    let said = false;
    let ended = false;
    this.ended = new Promise((resolve) => this.process.once('exit', () => resolve((ended = true))));
    this.process.once('message', () => (said = true));
    const isReady = async () => (this.readyUrl ? (await fetch(this.readyUrl).catch(() => undefined))?.status === 200 : said);
    while (!(await isReady())) {
      if (ended || performance.now() - began > READY_MS)
        throw new Error(`${this.name} did not become ready:\n${readFileSync(this.log, 'utf8').slice(-2_000)}`);
      await sleep(POLL_MS);
    }
    this.startMs = performance.now() - began;
    return this;
  }

  async stop() {
    if (!running.delete(this)) return;
    this.process.kill('SIGTERM');
    const late = setTimeout(() => this.process.kill('SIGKILL'), GRACE_MS);
    await this.ended;
    clearTimeout(late);
  }
}

export const stopAll = () => Promise.all([...running].map((child) => child.stop()));
