/**
 * Keeps package-lock.json complete for every platform: `node tools/dev/lockfile.mjs` repairs it,
 * `--check` only reports (exit 1 when something is wrong).
 *
 * Why: packages with native parts name one optional package per platform. A registry mirror that does not carry all of
 * them makes `npm install` leave the missing ones out of the lock file, and `npm ci` then refuses that lock file. The
 * repair writes an entry for each of them, with the platform read from its name, so that npm knows where it applies.
 * It also refuses `resolved` addresses: a lock file that names a registry host installs only where that host answers.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './lib/paths.mjs';

const OS = {
  darwin: 'darwin',
  win32: 'win32',
  windows: 'win32',
  linux: 'linux',
  freebsd: 'freebsd',
  android: 'android',
  openharmony: 'openharmony',
  aix: 'aix',
  sunos: 'sunos',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
};
const CPU = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 's390x', 'riscv64', 'loong64', 'wasm32'];
const LIBC = { gnu: 'glibc', glibc: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };

/** What a platform package's name says about where it runs: `core-linux-x64-gnu` -> os, cpu and libc. */
export function platformOf(name) {
  const words = name.split('/').pop().split('-');
  const os = words.map((word) => OS[word]).find(Boolean);
  const cpu = words.find((word) => CPU.includes(word));
  const libc = os === 'linux' ? words.map((word) => LIBC[word]).find(Boolean) : undefined;
  return { ...(cpu && { cpu: [cpu] }), ...(libc && { libc: [libc] }), ...(os && { os: [os] }) };
}

/** The lock entry that Node would load `name` from, starting at `from`: the own node_modules first, then each parent's. */
function resolveEntry(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const entry = packages[`${at && `${at}/`}node_modules/${name}`];
    if (entry || !at) return entry;
  }
}

const isExact = (range) => /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range);

/** Every optional package that some entry names and that the lock file does not hold: `{ key, entry }`, nearest free place. */
export function missingEntries(packages) {
  const missing = new Map();
  for (const [from, parent] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
      const found = resolveEntry(packages, from, name);
      // Two versions of one parent need two versions of its platform packages; a range is satisfied by what is there.
      if (found && (!isExact(range) || found.version === range)) continue;
      const key = found || missing.has(`node_modules/${name}`) ? `${from}/node_modules/${name}` : `node_modules/${name}`;
      const version = range.replace(/^[~^]|^>=/, '');
      if (missing.get(`node_modules/${name}`)?.version === version) continue;
      missing.set(key, { version, ...platformOf(name), ...(parent.dev && { dev: true }), optional: true });
    }
  }
  return missing;
}

/** The registry addresses that the lock file names; there should be none. */
export const resolvedAddresses = (packages) =>
  Object.entries(packages)
    .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
    .map(([key]) => key);

async function main() {
  const file = path.join(root, 'package-lock.json');
  const lock = JSON.parse(await readFile(file, 'utf8'));
  const missing = missingEntries(lock.packages);
  const resolved = resolvedAddresses(lock.packages);

  if (process.argv.includes('--check')) {
    if (missing.size)
      console.error(
        `package-lock.json lacks ${missing.size} platform packages (first: ${[...missing.keys()][0]}); run: node tools/dev/lockfile.mjs`,
      );
    if (resolved.length)
      console.error(
        `package-lock.json names a registry host for ${resolved.length} packages (first: ${resolved[0]}); run: node tools/dev/lockfile.mjs`,
      );
    process.exitCode = missing.size || resolved.length ? 1 : 0;
    if (!process.exitCode) console.log('package-lock.json is complete');
    return;
  }

  for (const key of resolved) delete lock.packages[key].resolved;
  for (const [key, entry] of missing) lock.packages[key] = entry;
  const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
  await writeFile(file, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
  console.log(`package-lock.json: ${missing.size} platform packages added, ${resolved.length} registry addresses removed`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
