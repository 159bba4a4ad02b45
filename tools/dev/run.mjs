/**
 * Runs a tool of ours: `node tools/dev/run.mjs <tool> [arguments]` builds and then runs tools/<tool>/main.ts. A tool that
 * needs the database finds that of DATABASE_URL, or else that of the running `npm start`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { build } from './build.mjs';
import { UserError, runMain } from './lib/console.mjs';
import { readJson } from './lib/files.mjs';
import { checkNode, ensureInstalled } from './lib/install.mjs';
import { dataDir, dist, root, toolMain } from './lib/paths.mjs';

/** The tools that make no sense without a database. */
const NEED_DATABASE = ['migrate'];

async function main() {
  const [tool, ...args] = process.argv.slice(2);
  checkNode();
  await ensureInstalled();
  await build();
  if (!tool || !/^[\w-]+$/.test(tool) || !existsSync(toolMain(tool))) {
    const known = existsSync(path.join(dist, 'tools'))
      ? readdirSync(path.join(dist, 'tools')).filter((name) => existsSync(toolMain(name)))
      : [];
    throw new UserError(`${tool ? `There is no tool ${tool}` : 'Name a tool'}; there are: ${known.join(', ') || 'none yet'}.`);
  }

  const running = readJson(path.join(dataDir(), 'dev.json'));
  const env = { ...(running && { DATABASE_URL: running.database_url, REDIS_URL: running.redis_url }), ...process.env };
  if (NEED_DATABASE.includes(tool) && !env.DATABASE_URL)
    throw new UserError(`${tool} needs a database: set DATABASE_URL, or run npm start meanwhile.`);

  const child = spawn(process.execPath, ['--enable-source-maps', toolMain(tool), ...args], { cwd: root, env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

await runMain(main);
