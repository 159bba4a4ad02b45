/**
 * PostgreSQL and Redis for whoever needs them: `npm start`, `npm test` and the benchmarks. DATABASE_URL and REDIS_URL name
 * servers that are there already; what is not named is started here.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { UserError, redact } from './lib/console.mjs';
import { query, startEmbeddedPostgres } from './lib/postgres.mjs';
import { ping, startOwnRedis } from './lib/redis.mjs';

/** The data folder, passable by the unprivileged user that PostgreSQL runs as; its files are closed one by one. */
export function makeDataDir(dir) {
  mkdirSync(path.dirname(dir), { recursive: true });
  mkdirSync(dir, { recursive: true, mode: 0o711 });
  chmodSync(dir, 0o711);
  mkdirSync(path.join(dir, 'logs'), { recursive: true, mode: 0o700 });
  return dir;
}

/**
 * @param {object} options
 * @param {string} options.dir the data folder, made by makeDataDir
 * @param {string} [options.url] an existing server to use instead
 * @param {string} [options.database] created when it is missing
 * @param {boolean} [options.quick] the data is thrown away afterwards: no syncing to disk
 * @param {boolean} [options.keep] start the server again when it dies
 * @returns {Promise<{ url: string, detail: string, service?: import('./lib/processes.mjs').Service }>}
 */
export async function startPostgres({ dir, url = process.env.DATABASE_URL, database, quick, keep }) {
  if (!url)
    return startEmbeddedPostgres({ dir: path.join(dir, 'postgres'), log: path.join(dir, 'logs', 'postgres.log'), database, quick, keep });
  await reach('DATABASE_URL', url, () => query(url, 'select 1'));
  return { url, detail: `yours, ${redact(url)}` };
}

/** The same for Redis. */
export async function startRedis({ dir, url = process.env.REDIS_URL, quick, keep }) {
  if (!url) return startOwnRedis({ dir: path.join(dir, 'redis'), log: path.join(dir, 'logs', 'redis.log'), quick, keep });
  await reach('REDIS_URL', url, () => ping(url));
  return { url, detail: `yours, ${redact(url)}` };
}

/** Both at once; when one fails the other is stopped. */
export async function startStack(options) {
  const [postgres, redis] = await Promise.allSettled([startPostgres(options), startRedis(options)]);
  const servers = [postgres, redis].map(({ value }) => value).filter(Boolean);
  const stop = () => Promise.all(servers.map(({ service }) => service?.stop()));
  const failed = [postgres, redis].find(({ status }) => status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { postgres: postgres.value, redis: redis.value, stop };
}

async function reach(setting, url, attempt) {
  try {
    await attempt();
  } catch (error) {
    throw new UserError(
      `${setting} names ${redact(url)}, which cannot be used: ${error.message || error.code || error.errors?.[0]?.message}`,
    );
  }
}
