/**
 * `npm test`: every test, on servers and a data folder of its own, so it runs beside a running `npm start`. Further
 * arguments go to Jest: `npm test -- libs/platform`. TEST_DATABASE_URL and TEST_REDIS_URL, or else DATABASE_URL and
 * REDIS_URL, name servers to use instead; the first must let us create databases.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from './build.mjs';
import { UserError, runMain, say, step } from './lib/console.mjs';
import { readJson } from './lib/files.mjs';
import { checkNode, ensureInstalled } from './lib/install.mjs';
import { makeClientTypes } from '../openapi/client-types.mjs';
import { root } from './lib/paths.mjs';
import { isAlive } from './lib/processes.mjs';
import { makeDataDir, startPostgres, startRedis } from './stack.mjs';

const PREFIX = 'aps-test-';
const LINGER_MS = 20_000;

async function main() {
  checkNode();
  await ensureInstalled();
  await step('build', async () => {
    await makeClientTypes();
    return `${(await build()).compiled.length} files compiled`;
  });

  sweep();
  const dir = makeDataDir(mkdtempSync(path.join(tmpdir(), PREFIX)));
  writeFileSync(path.join(dir, 'pid'), String(process.pid));
  const services = [];
  let counts;
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => (interrupted = true));
  try {
    const env = { ...process.env, NODE_ENV: 'test', APS_DATA_DIR: dir };
    await step('data', async () => {
      const postgres = await startPostgres({ dir, quick: true, url: process.env.TEST_DATABASE_URL || process.env.DATABASE_URL });
      services.push(postgres.service);
      const redis = await startRedis({ dir, quick: true, url: process.env.TEST_REDIS_URL || process.env.REDIS_URL });
      services.push(redis.service);
      Object.assign(env, { TEST_DATABASE_URL: postgres.url, TEST_REDIS_URL: redis.url });
      // A test that forgets to choose its own must not reach what somebody works with.
      delete env.DATABASE_URL;
      delete env.REDIS_URL;
      return `PostgreSQL ${postgres.detail}; Redis ${redis.detail}`;
    });
    const runs = [];
    for (const project of ['unit', 'e2e']) if (!interrupted) runs.push(await runJest(project, env, dir));
    counts = { passed: sum(runs, 'passed'), failed: sum(runs, 'failed') };
  } finally {
    await Promise.all(services.map((service) => service?.stop()));
    rmSync(dir, { recursive: true, force: true });
  }
  if (interrupted) throw new UserError('Interrupted.');
  if (counts.passed + counts.failed === 0)
    throw new UserError(`No test was found${process.argv.length > 2 ? ` for ${process.argv.slice(2).join(' ')}` : ''}.`);
  say(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed ? 1 : 0;
}

const sum = (runs, key) => runs.reduce((total, run) => total + run[key], 0);

/** One Jest run over one project; what cannot be counted counts as one failure. */
async function runJest(project, env, dir) {
  const summary = path.join(dir, `${project}.json`);
  const args = [
    path.join(root, 'node_modules/jest/bin/jest.js'),
    '--selectProjects',
    project,
    '--passWithNoTests',
    '--reporters=default',
    `--reporters=${new URL('./lib/jest-summary.cjs', import.meta.url).pathname}`,
    ...(project === 'e2e' ? ['--runInBand'] : ['--maxWorkers=2']),
    ...process.argv.slice(2),
  ];
  const jest = spawn(process.execPath, args, { cwd: root, env: { ...env, APS_TEST_SUMMARY: summary }, stdio: 'inherit' });
  const ended = new Promise((resolve) => jest.once('exit', (code, signal) => resolve(code ?? signal)));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => jest.kill(signal));

  // Jest waits for ever for a test that left something open: that is a mistake of the test, and no reason to hang.
  let lingering = false;
  const watch = setInterval(() => {
    if (lingering || !readJson(summary)) return;
    lingering = true;
    setTimeout(() => jest.kill('SIGKILL'), LINGER_MS).unref();
  }, 500);
  const code = await ended;
  clearInterval(watch);

  const counts = readJson(summary);
  if (!counts) {
    // Jest says "No tests found" without a report when a path matches nothing in this project.
    return code === 0 ? { passed: 0, failed: 0 } : { passed: 0, failed: 1 };
  }
  if (code === 'SIGKILL') {
    say(
      `Jest (${project}) did not end by itself: a test leaves a connection, timer or process open; find it with: npm test -- --detectOpenHandles`,
    );
    return { ...counts, failed: counts.failed + 1 };
  }
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** Removes the data folders of test runs that were killed. */
function sweep() {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const dir = path.join(tmpdir(), name);
    try {
      if (!isAlive(Number(readFileSync(path.join(dir, 'pid'), 'utf8')))) rmSync(dir, { recursive: true, force: true });
    } catch {
      // Just being made, or another user's.
    }
  }
}

await runMain(main);
process.exit();
