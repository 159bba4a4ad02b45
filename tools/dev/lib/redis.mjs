/** A Redis of our own on 127.0.0.1: redis-server or valkey-server when there is one, else the one written in JavaScript. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Service, freePort, onPath, spawnNode, spawnServer } from './processes.mjs';

/** The first Redis-compatible server on PATH; none when the JavaScript one is asked for by APS_EMBEDDED_REDIS=1. */
const installedServer = () => (process.env.APS_EMBEDDED_REDIS === '1' ? undefined : onPath('redis-server', 'valkey-server'));

/** Starts one with its data in `dir` and answers its service and address; `quick` keeps nothing on disk. */
export async function startOwnRedis({ dir, log, quick = false, keep = false }) {
  mkdirSync(dir, { recursive: true });
  const server = installedServer();
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const output = openSync(log, 'a', 0o600);
  const options = {
    port,
    bind: '127.0.0.1',
    dir,
    save: '',
    'maxmemory-policy': 'noeviction',
    appendonly: quick ? 'no' : 'yes',
    appendfsync: 'everysec',
  };
  const launch = server
    ? () =>
        spawnServer(
          server,
          Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
          { cwd: dir, log: output },
        )
    : () =>
        spawnNode(new URL('./js-redis.mjs', import.meta.url).pathname, [String(port)], {
          env: process.env,
          stdout: output,
          stderr: output,
        });
  const service = await new Service({
    name: 'Redis',
    keep,
    launch,
    isReady: async () => (await ping(url)) === 'PONG',
    lastWords: () => readFileSync(log, 'utf8').trim().split('\n').pop(),
  }).start();
  return {
    service,
    url,
    detail: `${server ? describe(server) : 'js-redis-server (keeps nothing; install redis-server for more than a first look)'}, 127.0.0.1:${port}`,
  };
}

const describe = (server) => {
  const version = /v=([\d.]+)/.exec(execFileSync(server, ['--version'], { encoding: 'utf8' }))?.[1];
  return `${path.basename(server)} ${version ?? ''}`.trim();
};

/** Asks a server for a sign of life; throws what the connection failed with. */
export async function ping(url) {
  const { Redis } = await import('ioredis');
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 5_000, maxRetriesPerRequest: 0 });
  let problem;
  client.on('error', (error) => (problem = error));
  try {
    await client.connect();
    return await client.ping();
  } catch (error) {
    throw problem ?? error;
  } finally {
    client.disconnect();
  }
}
