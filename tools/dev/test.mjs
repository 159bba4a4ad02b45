/**
 * `npm test`: every test, on servers and a data folder of its own, so it runs beside a running `npm start`. Further
 * arguments go to Jest: `npm test -- libs/platform`. TEST_DATABASE_URL and TEST_REDIS_URL, or else DATABASE_URL and
 * REDIS_URL, name servers to use instead; the first must let us create databases.
 */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from './build.mjs';
import { UserError, runMain, say, step } from './lib/console.mjs';
import { checkNode, ensureInstalled } from './lib/install.mjs';
import { runJest } from './lib/jest.mjs';
import { isAlive } from './lib/processes.mjs';
import { TestReport } from './lib/test-report.mjs';
import { makeClientTypes } from '../openapi/client-types.mjs';
import { makeDataDir, startPostgres, startRedis } from './stack.mjs';

const PREFIX = 'aps-test-';
/** A file system in memory, on Linux: a database is a thousand files, which ten times as fast are made there. */
const IN_MEMORY = '/dev/shm';
/** Bytes that must be free there, and of memory: for databases, their log, and the processes under test. */
const ROOM = { files: 3 * 1024 ** 3, memory: 8 * 1024 ** 3 };

async function main() {
  checkNode();
  await ensureInstalled();
  await step('build', async () => {
    await makeClientTypes();
    return `${(await build()).compiled.length} files compiled`;
  });

  sweep();
  const dir = makeDataDir(mkdtempSync(path.join(hasRoom() ? IN_MEMORY : tmpdir(), PREFIX)));
  writeFileSync(path.join(dir, 'pid'), String(process.pid));
  const services = [];
  const report = new TestReport();
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
    if (!interrupted) await runJest(process.argv.slice(2), env, report);
  } finally {
    await Promise.all(services.map((service) => service?.stop()));
    rmSync(dir, { recursive: true, force: true });
  }
  report.end();
  if (interrupted) throw new UserError('Interrupted.');
  const { passed, failed } = report;
  if (passed + failed === 0)
    throw new UserError(`No test was found${process.argv.length > 2 ? ` for ${process.argv.slice(2).join(' ')}` : ''}.`);
  say(`${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

function hasRoom() {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize > ROOM.files && process.availableMemory() > ROOM.memory;
  } catch {
    return false;
  }
}

/** Removes the data folders of test runs that were killed. */
function sweep() {
  for (const parent of [IN_MEMORY, tmpdir()].filter(existsSync)) {
    for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
      const dir = path.join(parent, name);
      try {
        if (!isAlive(Number(readFileSync(path.join(dir, 'pid'), 'utf8')))) rmSync(dir, { recursive: true, force: true });
      } catch {
        // Just being made, or another user's.
      }
    }
  }
}

await runMain(main);
process.exit();
