/**
 * Turns the TypeScript of apps, libs and tools into CommonJS below dist, which mirrors the tree:
 * `node tools/dev/build.mjs [folder ...]`, all of it without a folder.
 *
 * Only what changed is compiled again (by time and size of each source, everything when the settings changed), outputs
 * whose source is gone are removed. A build of everything also bundles the apps, see lib/bundle.mjs. Types are not checked here:
 * `npm run typecheck` does that.
 * Path aliases stand once, in tsconfig.base.json; .swcrc holds the rest.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundle, makePrograms } from './lib/bundle.mjs';
import { UserError, runMain, seconds } from './lib/console.mjs';
import { readJson } from './lib/files.mjs';
import { checkNode, ensureInstalled } from './lib/install.mjs';
import { appModule, buildManifest, dist, root } from './lib/paths.mjs';
import { releaseLock, takeLock } from './lib/processes.mjs';

const SOURCES = ['apps', 'libs', 'tools'];
const isSource = (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.endsWith('.spec.ts');
const outputOf = (source) => path.join(dist, source.replace(/\.ts$/, '.js'));

/** The compiler's options: .swcrc, with the aliases of tsconfig.base.json. */
async function compilerOptions() {
  const json = async (file) => JSON.parse(await readFile(path.join(root, file), 'utf8'));
  const [{ $schema: _, ...swcrc }, tsconfig] = await Promise.all([json('.swcrc'), json('tsconfig.base.json')]);
  const paths = Object.fromEntries(
    Object.entries(tsconfig.compilerOptions.paths).map(([alias, targets]) => [alias, targets.map((target) => target.replace(/^\.\//, ''))]),
  );
  return { ...swcrc, swcrc: false, configFile: false, cwd: root, jsc: { ...swcrc.jsc, baseUrl: root, paths } };
}

/** Every source below the folders: path from the root -> "time size". */
async function findSources(folders) {
  const found = new Map();
  for (const folder of folders) {
    if (!existsSync(path.join(root, folder))) continue;
    for (const entry of await readdir(path.join(root, folder), { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath ?? entry.path, entry.name);
      if (!entry.isFile() || !isSource(entry.name) || file.includes('node_modules')) continue;
      const { mtimeMs, size } = await stat(file);
      found.set(path.relative(root, file), `${mtimeMs} ${size}`);
    }
  }
  return found;
}

/** Never leaves a half-written output for a process that loads it meanwhile. */
async function replaceFile(file, content) {
  await mkdir(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, content);
  await rename(fresh, file);
}

async function compile(source, options) {
  const { transformFile } = await import('@swc/core');
  const output = outputOf(source);
  const file = path.join(root, source);
  const { code, map } = await transformFile(file, {
    ...options,
    filename: file,
    sourceFileName: path.relative(path.dirname(output), file),
  });
  await replaceFile(`${output}.map`, map);
  await replaceFile(output, `${code}\n//# sourceMappingURL=${path.basename(output)}.map\n`);
}

/**
 * @param {string[]} [folders] limits the build to these
 * @param {{ bundled?: boolean }} [options] false leaves the apps as they are compiled
 * @returns {Promise<{ compiled: string[], removed: string[] }>} the sources that were compiled, and those that are gone
 */
export async function build(folders = SOURCES, { bundled = folders === SOURCES } = {}) {
  const lock = path.join(dist, '.build.lock');
  await whenFree(lock);
  try {
    const done = await buildLocked(folders);
    if (folders === SOURCES) await makePrograms();
    if (bundled) await bundle(await appNames());
    return done;
  } finally {
    releaseLock(lock);
  }
}

async function buildLocked(folders) {
  const options = await compilerOptions();
  const swc = JSON.parse(await readFile(path.join(root, 'node_modules/@swc/core/package.json'), 'utf8')).version;
  const settings = createHash('sha256')
    .update(JSON.stringify([options, swc, await readFile(fileURLToPath(import.meta.url), 'utf8')]))
    .digest('hex');
  const before = readJson(buildManifest) ?? {};
  const known = before.settings === settings ? before.files : {};

  const sources = await findSources(folders);
  const stale = [...sources]
    .filter(([source, state]) => known[source] !== state || !existsSync(outputOf(source)))
    .map(([source]) => source);
  const done = await inParallel(stale, 16, (source) => compile(source, options));
  const broken = done.filter(({ status }) => status === 'rejected');

  const removed = await removeStray(folders, sources);
  // What failed stays out, so the next build tries it again.
  const failed = new Set(stale.filter((_, at) => done[at].status === 'rejected'));
  const inFolders = (source) => folders.some((folder) => source.startsWith(`${folder}/`));
  const others = Object.entries(known).filter(([source]) => !inFolders(source));
  const files = Object.fromEntries([...others, ...[...sources].filter(([source]) => !failed.has(source))]);
  if (stale.length || removed.length || before.settings !== settings) await replaceFile(buildManifest, JSON.stringify({ settings, files }));

  if (broken.length) throw new UserError(`The build failed:\n${broken.map(({ reason }) => readable(reason)).join('\n')}`);
  return { compiled: stale, removed };
}

/** The folders of apps that have a main file; the others hold tests. */
const appNames = async () => (await readdir(path.join(root, 'apps'))).filter((name) => existsSync(appModule(name))).sort();

/** The compiler's message with its extract of the source, without colours. */
const readable = (reason) =>
  String(reason.message ?? reason)
    .replace(/\u001b\[[\d;]*m/g, '')
    .replaceAll(`${root}/`, '')
    .split('\n\nCaused by:')[0]
    .trim();

async function inParallel(items, width, work) {
  const results = new Array(items.length);
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < items.length) {
        const at = next++;
        [results[at]] = await Promise.allSettled([work(items[at])]);
      }
    }),
  );
  return results;
}

/** Removes outputs that no source has any more; answers the sources they came from. */
async function removeStray(folders, sources) {
  const removed = [];
  for (const folder of folders) {
    if (!existsSync(path.join(dist, folder))) continue;
    for (const entry of await readdir(path.join(dist, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = path.join(entry.parentPath ?? entry.path, entry.name);
      const source = path.relative(dist, file).replace(/\.js(\.map)?(\.\d+)?$/, '.ts');
      if (sources.has(source) && !/\.\d+$/.test(file)) continue;
      await rm(file, { force: true });
      if (file.endsWith('.js')) removed.push(source);
    }
  }
  return removed;
}

/** One build at a time in a tree: `npm test` beside `npm run dev`, or several targets of Nx. */
async function whenFree(lock) {
  for (const until = Date.now() + 120_000; Date.now() < until; await sleep(100)) {
    if (takeLock(lock, 'tools/dev') === undefined) return;
  }
  throw new UserError(`Another build has been running for two minutes; remove ${lock} if it is gone.`);
}

async function main() {
  checkNode();
  await ensureInstalled();
  const since = performance.now();
  const folders = process.argv.slice(2).map((folder) => path.relative(root, path.resolve(folder)));
  const outside = folders.find((folder) => !SOURCES.includes(folder.split(path.sep)[0]));
  if (outside !== undefined) throw new UserError(`Only folders in ${SOURCES.join(', ')} are built, and ${outside || '.'} is none of them.`);
  const { compiled, removed } = await build(folders.length ? folders : undefined);
  console.log(
    `built ${compiled.length} files${removed.length ? `, removed ${removed.length}` : ''} in ${seconds(performance.now() - since)}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
