import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { close, constants, open } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Cutoff } from '@aps/platform/signals';
import { Output } from './output';
import { SandboxFailed, type CommandOutput } from './sandbox-driver';

const execute = promisify(execFile);
const openFile = promisify(open);
const closeFile = promisify(close);

/** How long outputs are read on where all their writers should be gone. */
const LAST_WORDS_MS = 1_000;
const TOO_LONG = 'The command is longer than the system takes: write what it needs to a file, or to its input.';

/** What makes a sandbox and runs a command in it. */
export interface Program {
  /** It says the line `key` on both outputs right before the command begins. */
  argv: string[];
  key: string;
  stdin: Buffer | null;
  cwd: string;
  /** Undefined: all of ours. */
  env?: Record<string, string>;
  /** Where its pipes are made, which are seen nowhere after that. */
  folder: string;
  timeoutMs: number;
  /** Kills all that it has started; called also when it has ended by itself. */
  kill: (child: ChildProcess) => Promise<void>;
  /** Watches what it uses, and ends it by a sentence that says of what it had too much. */
  watch: (pid: number, end: (sentence: string) => void) => NodeJS.Timeout;
  /** What people are told where the command has not begun. */
  failure: string;
  /** Exit codes that say that the command has not begun, where it may have, although it did not say so; undefined: all. */
  notBegun?: readonly number[];
}

class LimitPassed extends Error {}

/**
 * Runs a program to its end; see `SandboxDriver.exec`.
 *
 * @throws SandboxFailed
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<CommandOutput> {
  signal.throwIfAborted();
  const [stdout, stderr] = [new Output(program.key), new Output(program.key)];
  const failed = (cause: unknown, mayHaveBegun = false) => new SandboxFailed(program.failure, mayHaveBegun, { cause });
  const fail = (error: NodeJS.ErrnoException) => {
    throw error.code === 'E2BIG' ? new SandboxFailed(TOO_LONG, false) : failed(error);
  };
  const pipes = await openPipes(program, [stdout, stderr]).catch(fail);
  const cut = new Cutoff(signal, program.timeoutMs);
  let watch: NodeJS.Timeout | undefined;
  try {
    const child = start(program, pipes.stdio, fail);
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const kill = () => void program.kill(child);
    if (cut.signal.aborted) kill();
    else cut.signal.addEventListener('abort', kill, { once: true });
    if (child.pid) watch = program.watch(child.pid, (sentence) => cut.abort(new LimitPassed(sentence)));
    const [[code, killedBy]] = await Promise.all([ended, pipes.handedOver()]).catch(fail);
    cut.release();
    const { aborted } = cut.signal;
    const reason: unknown = cut.signal.reason;
    await program.kill(child);
    await pipes.drained();

    signal.throwIfAborted();
    if (!stdout.hasBegun && !aborted) throw failed(stderr.complaint, program.notBegun?.includes(code ?? -1) === false);
    if (reason instanceof LimitPassed) stderr.add(Buffer.from(`\n${reason.message}\n`));
    return {
      exitCode: aborted ? null : (code ?? 128 + os.constants.signals[killedBy!]),
      stdout: stdout.toBuffer(),
      stderr: stderr.toBuffer(),
      timedOut: cut.isLate,
      truncated: stdout.isTruncated || stderr.isTruncated,
    };
  } finally {
    clearInterval(watch);
    cut.release();
    await pipes.close();
  }
}

function start({ argv: [file, ...args], cwd, env }: Program, stdio: StdioOptions, fail: (error: Error) => never): ChildProcess {
  try {
    return spawn(file!, args, { cwd, env, stdio, detached: true });
  } catch (error) {
    return fail(error as Error);
  }
}

/**
 * Real pipes, and a file to read from: what Node makes for children are sockets, which programs cannot open as `/dev/stdout` or `/dev/stdin`.
 */
async function openPipes({ key, stdin, folder }: Program, outputs: Output[]) {
  const paths = [...outputs.keys()].map((i) => path.join(folder, `${key}.${i}`));
  const input = path.join(folder, `${key}.in`);
  const open: number[] = [];
  const sockets: Socket[] = [];
  const opened = async (...of: Parameters<typeof openFile>) => {
    const descriptor = await openFile(...of);
    open.push(descriptor);
    return descriptor;
  };
  const handedOver = async () => void (await Promise.all(open.splice(0).map((descriptor) => closeFile(descriptor))));
  try {
    if (stdin) await writeFile(input, stdin, { mode: 0o644 });
    const first = stdin ? await opened(input, 'r') : ('ignore' as const);
    await execute('mkfifo', ['-m', '666', ...paths]);
    const into: number[] = [];
    for (const [i, output] of outputs.entries()) {
      const fd = await openFile(paths[i]!, constants.O_RDONLY | constants.O_NONBLOCK);
      into.push(await opened(paths[i]!, 'w'));
      sockets.push(
        new Socket({ fd, readable: true, writable: false }).on('data', (piece) => output.add(piece)).on('error', () => undefined),
      );
    }
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    return {
      stdio: [first, ...into],
      /** Lets go of the ends that the program has now. */
      handedOver,
      drained: () => Promise.race([closed, sleep(LAST_WORDS_MS, undefined, { ref: false })]),
      close: async () => {
        for (const socket of sockets) socket.destroy();
        await handedOver();
      },
    };
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    await handedOver();
    throw error;
  } finally {
    await Promise.all([...paths, input].map((file) => rm(file, { force: true })));
  }
}
