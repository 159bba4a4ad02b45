/** Runs the Jest projects of the workspace side by side, and counts what comes of their files, also when a Jest or one of its workers dies. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stream } from './console.mjs';
import { root } from './paths.mjs';
import { nameOf } from './test-report.mjs';

const require = createRequire(import.meta.url);
const { projects, ...options } = require(path.join(root, 'jest.config.js'));

/**
 * What runs at the same time, each of a lane after what stands before it. End-to-end files come one by one, as they start up to twenty
 * processes each, and mostly wait, for leases and for processes: so they leave the cores to the others. Two workers at least, since a worker
 * that dies must not be Jest itself.
 */
const LANES = [['unit'], ['e2e', 'tools']];
const WORKERS = { unit: Math.max(2, availableParallelism()), e2e: 1, tools: 2 };
const LINGER_MS = 20_000;
const FLUSH_MS = 2_000;
const KEPT_CHARS = 100_000;
/** What Jest says of a project in which `args` name no file. */
const NOTHING_TO_DO = /^No tests found, exiting with code 0\s*$/;

/**
 * What specs print is shown at once where `args` choose some of them; of a run of all it is shown when Jest itself fails.
 *
 * @param {string[]} args further arguments of Jest
 * @param {NodeJS.ProcessEnv} env
 * @param {import('./test-report.mjs').TestReport} report
 */
export async function runJest(args, env, report) {
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (interrupted = true));
  const run = async (lane) => {
    for (const name of lane) {
      const project = projects.find(({ displayName }) => displayName === name);
      if (!interrupted) await runProject(project, args, env, report);
    }
  };
  await Promise.all(LANES.map(run));
}

async function runProject({ displayName, ...project }, args, env, report) {
  const jest = spawn(
    process.execPath,
    [
      require.resolve('jest/bin/jest'),
      `--config=${JSON.stringify({ ...options, ...project })}`,
      `--reporters=${require.resolve('./jest-reporter.cjs')}`,
      `--maxWorkers=${WORKERS[displayName]}`,
      '--passWithNoTests',
      '--verbose=false',
      ...args,
    ],
    { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  const interrupt = (signal) => jest.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt);
  let said = '';
  const collect = (text) => {
    said = (said + text).slice(-KEPT_CHARS);
    if (args.length && !NOTHING_TO_DO.test(text)) stream(String(text));
  };
  for (const output of [jest.stdout, jest.stderr]) output.on('data', collect);

  const running = new Set();
  let waiting = 0;
  let failed = 0;
  let linger;
  const handlers = {
    'run started': ({ files }) => report.expect((waiting = files)),
    'file started': ({ path: file }) => running.add(file) && waiting--,
    'file done': (file) => {
      running.delete(file.path);
      failed += file.failed;
      report.done(file, args.length > 0 || file.failed > 0);
    },
    // Jest waits for ever for a test that left something open: that is a mistake of the test, and no reason to hang.
    'run done': () => (linger = setTimeout(() => jest.kill('SIGKILL'), LINGER_MS)),
  };
  jest.on('message', ({ event, ...what }) => handlers[event](what));
  const closed = once(jest, 'close');
  const code = await once(jest, 'exit').then(([status, signal]) => status ?? signal);
  // All that it said has come when its streams are closed, but a process that a test left may hold them.
  await Promise.race([closed, sleep(FLUSH_MS)]);
  clearTimeout(linger);
  if (code === 0 || (failed && linger && code !== 'SIGKILL')) return;

  const cut = [...running].map(nameOf);
  const left = linger
    ? 'It had run every file. Did a test leave a connection, timer or process open? npm test -- --detectOpenHandles finds it.'
    : `Files that were running: ${cut.join(', ') || 'none'}; that were still to be run: ${waiting}.`;
  report.fail(
    Math.max(1, running.size + waiting),
    `Jest (${displayName}) ended with ${code}`,
    `Jest (${displayName}) ended with ${code}. ${left}\n${args.length ? '' : said}`,
  );
}
