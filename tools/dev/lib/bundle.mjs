/**
 * Makes of the compiled apps what is started: per app one file of our own code, for all of them one file of the npm packages that they
 * use, and V8's compiled code of both. docs/adr/0012-bundled-apps.md says why.
 *
 * Ours and the packages are bundled apart because the packages take seconds and change with the lock file only.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, rm } from 'node:fs/promises';
import { builtinModules, createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { UserError } from './console.mjs';
import { readJson, replaceFile as replacePrivateFile } from './files.mjs';
import { appMain, appModule, bundles, root, toolMain } from './paths.mjs';

/** Packages that stay in node_modules: native code, and files that are read instead of required. */
export const UNBUNDLED = ['@node-rs/argon2', 'swagger-ui-dist'];

/** Tools that a container runs beside its app. They start seldom: without compiled code beside them. */
export const BUNDLED_TOOLS = ['migrate'];

/** Packages that other packages require by a name that stands in a variable, where the bundler sees none. */
const NAMED_AT_RUN_TIME = ['pg'];

/**
 * What its decorators tell the API document nobody reads at run time: the gateway serves the committed one. So a bundle holds
 * decorators that do nothing, and of the rest of the package nothing.
 */
const DOCUMENTATION = '@nestjs/swagger';
const SILENT_DECORATORS =
  'module.exports = new Proxy({}, { get: (_, name) => (/^(Api[A-Z]|getSchemaPath$)/.test(name) ? () => () => undefined : undefined) });';

/**
 * The numbering plans of all countries. class-validator loads them for a rule that no field of ours has; with them left out that rule
 * takes no number for a good one, so tools/deploy-check refuses its use.
 */
const PHONE_NUMBERS = 'libphonenumber-js/max';

const loaderFile = fileURLToPath(new URL('./bundle-loader.cjs', import.meta.url));
const packagesFile = path.join(bundles, 'packages.js');
const require = createRequire(import.meta.url);
const hash = (...parts) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
const replaceFile = (file, content) => replacePrivateFile(file, content, 0o644);

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  write: false,
  legalComments: 'none',
  // V8 forgets who loads for a script whose compiled code it is given: what import() asks for is required instead.
  supported: { 'dynamic-import': false },
  logLevel: 'silent',
  banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
  footer: { js: '})' },
};
/** The loader tells by its last line which build a file is of. */
const marked = (text) => `${text.trimEnd()}\n//${createHash('sha256').update(text).digest('hex').slice(0, 62)}\n`;
const isPackage = (request) => !/^[./]/.test(request);
const isBuiltin = (request) => request.startsWith('node:') || builtinModules.includes(request);
const isUnbundled = (request) => UNBUNDLED.some((name) => request === name || request.startsWith(`${name}/`));

/**
 * @param {string[]} apps their names
 * @param {string} sources tells one state of all sources that are bundled from another
 * @returns {Promise<boolean>} whether anything had to be made
 */
export async function bundle(apps, sources) {
  try {
    return await bundleStale(apps, sources);
  } catch (error) {
    throw new UserError(`Bundling failed: ${error.message}`);
  }
}

async function bundleStale(apps, sources) {
  const manifestFile = path.join(bundles, '.bundles.json');
  const before = readJson(manifestFile) ?? {};
  // Compiled code is of one version of V8.
  const settings = hash(
    await readFile(fileURLToPath(import.meta.url), 'utf8'),
    await readFile(loaderFile, 'utf8'),
    require('esbuild/package.json').version,
    process.versions.v8,
    process.arch,
  );
  const names = [...apps, ...BUNDLED_TOOLS];
  const appsKey = hash(settings, apps, sources);
  const appsThere = appsKey === before.apps && names.every((name) => existsSync(appMain(name)));
  const requests = appsThere ? before.requests : await bundleApps({ ...byName(apps, appModule), ...byName(BUNDLED_TOOLS, toolMain) });
  const packagesKey = hash(settings, requests, await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  const packagesThere = packagesKey === before.packages && existsSync(packagesFile);
  if (appsThere && packagesThere) return false;

  if (!packagesThere) await bundlePackages(requests);
  replaceFile(path.join(bundles, 'loader.cjs'), await readFile(loaderFile));
  await Promise.all(apps.map(writeCodeCache));
  for (const { name } of (await readdir(bundles, { withFileTypes: true })).filter((entry) => entry.isDirectory())) {
    if (!names.includes(name)) await rm(path.join(bundles, name), { recursive: true });
  }
  replaceFile(manifestFile, JSON.stringify({ apps: appsKey, packages: packagesKey, requests }));
  return true;
}

const byName = (names, valueOf) => Object.fromEntries(names.map((name) => [name, valueOf(name)]));

/** One file per app, with a source map down to the TypeScript; answers which packages they ask for. `modules`: from names to what is bundled. */
async function bundleApps(modules) {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints: Object.fromEntries(Object.entries(modules).map(([name, module]) => [`${name}/app`, module])),
    outdir: bundles,
    packages: 'external',
    // A class that names itself gets another name by bundling; logs and errors are to show its own. In packages that would cost 5 MB a process.
    keepNames: true,
    metafile: true,
    sourcemap: true,
    // Every start reads the map: it names lines and carries no text.
    sourcesContent: false,
    // A parameter of Express' type Response is to its decorator's metadata the global of that name, and Node loads 30 ms of fetch for it.
    define: { Response: 'undefined' },
  });
  for (const { path: file, text } of outputFiles) replaceFile(file, file.endsWith('.map') ? text : marked(namingLess(text)));
  for (const name of Object.keys(modules)) replaceFile(appMain(name), "require('../loader.cjs')(__dirname);\n");
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map((entry) => entry.path));
  return [...new Set([...imports, ...NAMED_AT_RUN_TIME])]
    .filter((request) => isPackage(request) && !isBuiltin(request) && !isUnbundled(request))
    .sort();
}

const NAMING = 'var __name = (target, value) => __defProp(';
const NAMING_LESS = 'var __name = (target, value) => target.name === value ? target : __defProp(';

/** esbuild names again every function whenever it is made, a closure in a loop too; few have lost their names. */
function namingLess(text) {
  if (text.split(NAMING).length !== 2) throw new Error('esbuild names functions in another way than it used to.');
  return text.replace(NAMING, NAMING_LESS);
}

/**
 * The documentation, telephone numbers, and what a package asks for and is not installed: it is optional, like other databases' drivers,
 * and Node says so if it is ever wanted.
 */
const leaveOut = {
  name: 'leave-out',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /^/, namespace: 'silent' }, () => ({ contents: SILENT_DECORATORS }));
    onLoad({ filter: /^/, namespace: 'empty' }, () => ({ contents: '' }));
    onResolve({ filter: /^[^./]/ }, ({ path: request, resolveDir }) => {
      if (request === DOCUMENTATION) return { path: request, namespace: 'silent' };
      if (request === PHONE_NUMBERS) return { path: request, namespace: 'empty' };
      if (isUnbundled(request)) return { path: request, external: true };
      try {
        createRequire(path.join(resolveDir, 'x')).resolve(request);
        return undefined;
      } catch {
        return { path: request, external: true };
      }
    });
  },
};

/** One file that answers for each request what `require` of it would. */
async function bundlePackages(requests) {
  const { build } = await import('esbuild');
  const contents = `module.exports = {${requests.map((request) => `${JSON.stringify(request)}: () => require(${JSON.stringify(request)})`).join(',\n')}};`;
  const {
    outputFiles: [{ text }],
  } = await build({ ...common, stdin: { contents, resolveDir: root }, plugins: [leaveOut], minifyWhitespace: true });
  replaceFile(packagesFile, marked(text));
}

/** Without settings an app loads all of its modules, and then refuses to start. */
async function writeCodeCache(app) {
  const dir = path.dirname(appMain(app));
  await promisify(execFile)(process.execPath, ['--eval', `require('../loader.cjs')(${JSON.stringify(dir)}, true)`], {
    cwd: dir,
    env: {},
    timeout: 60_000,
  }).catch(() => {});
  if (!existsSync(path.join(dir, 'packages.js.cache'))) throw new Error(`${app} left no compiled code behind.`);
}
