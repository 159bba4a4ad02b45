/**
 * Bundles the compiled apps, and the tools that a container runs, by esbuild: `dist/bundles/<name>/main.js` holds our code and the npm
 * packages that it uses. docs/adr/0012-bundled-apps.md says why.
 */
import { copyFile, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from './console.mjs';
import { appMain, appModule, buildManifest, bundles, compiled, dist, root, sent, toolMain } from './paths.mjs';

/** Packages of native code, which stay in node_modules with what they depend on. */
export const NATIVE = ['@node-rs/argon2'];
/** Packages whose files are sent to browsers: they stay in node_modules, and no code of theirs runs here. */
export const SENT = ['@bull-board/ui', 'swagger-ui-dist'];

/** Tools that a container runs beside its app. */
export const BUNDLED_TOOLS = ['migrate'];

const READS_FILES = { 'text-reader.worker': 'libs/domains/files/src/extraction/text-reader.worker.js' };
/** By app, what it starts as processes of its own: their files beside its main.js, by the modules that they are made of. */
const CHILDREN = {
  'api-gateway': READS_FILES,
  'chat-worker': READS_FILES,
  'inbox-intake': { 'mail-reader.worker': 'libs/domains/inboxes/src/intake/mail/mail-reader.worker.js' },
  'process-engine': {
    ...READS_FILES,
    'source-reader.worker': 'libs/domains/knowledge/src/ingestion/source-reader.worker.js',
  },
};

/** What an app sends to machines of others, for whichever Node they have: whole programs, made of their sources alone and the packages that those use. */
const PROGRAMS = {
  'api-gateway': [
    ['daemon.mjs', 'libs/domains/environments/src/daemon/main.ts'],
    ['install.sh', 'libs/domains/environments/src/daemon/install.sh'],
  ],
};

/** What packages ask for where somebody uses it, and nobody here does: it is not installed. */
const OPTIONAL = [
  '@nestjs/websockets',
  '@grpc/*',
  'amqp-connection-manager',
  'amqplib',
  'kafkajs',
  'mqtt',
  'nats',
  // An older place of what is bundled.
  'class-transformer/storage',
];

/** Regular expressions of packages hold letters that esbuild leaves as they are: one of them, and Node keeps the whole text in two bytes a letter. */
const asAscii = (code) => code.replace(/[^\0-\x7f\s]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Our lines are mapped one by one, packages file by file: a frame in a package names its file, and line 1. Every process reads the map,
 * and all lines of all packages would cost it 130 MB on Node 24.
 */
const mapPackagesByFile = {
  name: 'map-packages-by-file',
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path: file }) => {
      const map = JSON.stringify({ version: 3, sources: [path.basename(file)], mappings: 'AAAA' });
      const url = `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
      return { contents: `${asAscii(await readFile(file, 'utf8'))}\n//# sourceMappingURL=${url}`, loader: 'js' };
    });
  },
};

const modifiedAt = (file) =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** Ends what has built, which keeps the memory of its largest build: two gigabytes beside all that follows. */
async function esbuild(options) {
  const { build, stop } = await import('esbuild');
  try {
    await build({ absWorkingDir: root, bundle: true, platform: 'node', logLevel: 'silent', ...options });
  } catch (error) {
    throw new UserError(`Bundling failed: ${error.message}`);
  } finally {
    await stop();
  }
}

/** Makes what apps send to other machines; they find it there where they are not bundled. */
export async function makePrograms() {
  for (const [file, source] of Object.values(PROGRAMS).flat()) {
    const outfile = path.join(sent, file);
    if (!source.endsWith('.ts')) {
      await mkdir(sent, { recursive: true });
      await copyFile(path.join(root, source), outfile);
    } else
      await esbuild({
        entryPoints: [path.join(root, source)],
        outfile,
        format: 'esm',
        target: 'node18',
        // Packages may ask for Node's modules in the older way.
        banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
        external: ['bufferutil', 'utf-8-validate'],
      });
  }
}

/** Bundles these apps and the tools, unless nothing was compiled or installed since. */
export async function bundle(apps) {
  const entryPoints = Object.fromEntries([
    ...apps.map((name) => [`${name}/main`, appModule(name)]),
    ...apps.flatMap((name) => Object.entries(CHILDREN[name] ?? {}).map(([file, module]) => [`${name}/${file}`, path.join(dist, module)])),
    ...BUNDLED_TOOLS.map((name) => [`${name}/main`, toolMain(name)]),
  ]);
  const programs = Object.values(PROGRAMS).flat();
  const inputs = [
    ...[buildManifest, path.join(root, 'node_modules/.package-lock.json'), fileURLToPath(import.meta.url)],
    ...programs.map(([, source]) => path.join(root, source)),
  ];
  const made = await Promise.all([...apps, ...BUNDLED_TOOLS].map((name) => modifiedAt(appMain(name))));
  if (Math.min(...made) > Math.max(...(await Promise.all(inputs.map(modifiedAt))))) return;

  const fresh = `${bundles}.new`;
  await rm(fresh, { recursive: true, force: true });
  await esbuild({
    entryPoints,
    outdir: fresh,
    target: 'node20.19',
    external: [...NATIVE, ...SENT, ...OPTIONAL],
    plugins: [mapPackagesByFile],
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    // On Node 20 it fails within code that V8 has from elsewhere, see compiled-code.cjs. What is imported so is of Node, or in the bundle.
    supported: { 'dynamic-import': false },
    // An image holds the licences of all packages in a file of its own.
    legalComments: 'none',
  });
  for (const app of apps) for (const [file] of PROGRAMS[app] ?? []) await copyFile(path.join(sent, file), path.join(fresh, app, file));
  for (const old of [bundles, compiled]) await rm(old, { recursive: true, force: true });
  await rename(fresh, bundles);
}
