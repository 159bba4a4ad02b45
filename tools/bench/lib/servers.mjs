/** What both systems stand on: one PostgreSQL with a database for each, one Redis and the model server, all of this run's own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { query } from '../../dev/lib/postgres.mjs';
import { root, toolMain } from '../../dev/lib/paths.mjs';
import { freePort } from '../../dev/lib/processes.mjs';
import { developmentSecrets } from '../../dev/lib/secrets.mjs';
import { makeDataDir, startStack } from '../../dev/stack.mjs';
import { Child } from './children.mjs';
import { entitle, GENEROUS, PLAN } from './plan.mjs';

export async function startServers() {
  const dir = makeDataDir(mkdtempSync(path.join(tmpdir(), 'aps-bench-')));
  // Empty addresses: DATABASE_URL and REDIS_URL of the environment are somebody's, these are ours. Syncing to disk stays on.
  const stack = await startStack({ dir, url: '', database: 'agent_platform' });
  const stop = async () => {
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await query(stack.postgres.url, 'CREATE DATABASE floor');
    const modelPort = await freePort();
    const modelUrl = `http://127.0.0.1:${modelPort}`;
    await new Child('mock-model', {
      file: toolMain('mock-model'),
      env: { ...process.env, PORT: String(modelPort), HOST: '' },
      dir,
      readyUrl: `${modelUrl}/healthz`,
    }).start();
    const env = {
      ...process.env,
      ...developmentSecrets(dir),
      NODE_ENV: 'production',
      DATABASE_URL: stack.postgres.url,
      DATABASE_DIRECT_URL: stack.postgres.url,
      REDIS_URL: stack.redis.url,
      MAIL_DIR: path.join(dir, 'mail'),
      CREDITS_DEFAULT_NEW_ORG_PLAN: PLAN,
      MOCK_ROUTE_ENABLED: 'true',
      MOCK_ROUTE_BASE_URL: `${modelUrl}/v1`,
      // One token sends everything here; the floor counts nothing.
      RATE_LIMITS: 'off',
      // Nothing balances over what is measured.
      SHUTDOWN_DELAY_MS: '0',
    };
    const seedFile = path.join(dir, 'seed.json');
    const migrate = spawnSync(process.execPath, [toolMain('migrate')], {
      cwd: root,
      env: { ...env, DEV_SEED_FILE: seedFile },
      encoding: 'utf8',
    });
    if (migrate.status !== 0) throw new Error(`The migration failed:\n${migrate.stderr}`);
    await entitle(stack.postgres.url, GENEROUS);
    return {
      dir,
      env,
      modelUrl,
      stop,
      seed: JSON.parse(readFileSync(seedFile, 'utf8')),
      floorUrl: Object.assign(new URL(stack.postgres.url), { pathname: '/floor' }).href,
      detail: `PostgreSQL ${stack.postgres.detail.split(',')[0]}, ${stack.redis.detail.split(',')[0]}`,
      pids: { postgres: [stack.postgres.service.pid], redis: [stack.redis.service.pid] },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The same servers with a copy of the product's database, which nobody may be using at that moment. */
export async function withDatabase(servers, name) {
  const { DATABASE_URL } = servers.env;
  const url = Object.assign(new URL(DATABASE_URL), { pathname: `/${name}` }).href;
  await query(DATABASE_URL, `CREATE DATABASE ${name} TEMPLATE agent_platform`);
  return { ...servers, env: { ...servers.env, DATABASE_URL: url, DATABASE_DIRECT_URL: url, REDIS_PREFIX: name } };
}
