/** What must hold before anything else can run: the right Node, and the dependencies. Needs no dependency itself. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { UserError, say, step } from './console.mjs';
import { root } from './paths.mjs';

const NEEDED = [20, 19];

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
    throw new UserError(`This needs Node ${NEEDED.join('.')} or newer, and you run Node ${process.versions.node}.`);
  }
  if (process.platform === 'win32') throw new UserError('On Windows this runs inside WSL.');
}

/**
 * Whether node_modules holds what package-lock.json asks for. npm leaves its own copy of the lock file there, so the
 * usual answer is one comparison of two times; only when the lock file is newer are the contents compared, because a
 * git checkout renews the time of a file that did not change.
 */
function isInstalled() {
  const wanted = path.join(root, 'package-lock.json');
  const installed = path.join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  if (statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return true;
  const packages = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;
  const present = packages(installed);
  const same = Object.entries(packages(wanted)).every(
    ([key, entry]) => key === '' || (present[key] ? present[key].version === entry.version : entry.optional),
  );
  if (same) utimesSync(installed, new Date(), new Date());
  return same;
}

/** Runs `npm ci` when it is needed. */
export async function ensureInstalled() {
  if (isInstalled()) return;
  say('         installing the dependencies (npm ci), about a minute ...');
  await step('dependencies', async () => {
    const logFile = path.join(mkLogDir(), 'npm-ci.log');
    const log = openSync(logFile, 'w');
    // Below `npm start` the npm that runs is named by npm_execpath; PATH is for `node tools/dev/start.mjs`.
    const [command, ...args] = /\.c?js$/.test(process.env.npm_execpath ?? '') ? [process.execPath, process.env.npm_execpath] : ['npm'];
    const code = await new Promise((resolve) => {
      spawn(command, [...args, 'ci', '--no-audit', '--no-fund'], {
        cwd: root,
        stdio: ['ignore', log, log],
        env: { ...process.env, NODE_ENV: 'development' },
      })
        .on('error', (error) => resolve(error.message))
        .on('exit', resolve);
    });
    if (code === 0) return 'installed';
    const reason = readFileSync(logFile, 'utf8')
      .split('\n')
      .find((line) => /^npm error (?!code)/.test(line))
      ?.slice('npm error '.length);
    throw new UserError(`npm ci failed: ${reason ?? code} (all of it: ${logFile})`);
  });
}

/** node_modules does not survive a failing npm ci, so the log of it stands elsewhere. */
function mkLogDir() {
  const dir = path.join(tmpdir(), `aps-install-${process.getuid()}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}
