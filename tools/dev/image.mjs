/**
 * Lays out what the container of an app holds: `node tools/dev/image.mjs <app> <folder>`, after `npm run build`. docker/Dockerfile
 * copies the folder as it is.
 *
 * Of node_modules that is what the bundles leave out, and of those packages no source maps. `main.js` makes the command the same for
 * every app; the migration and the mock model are in every image, so that what migrates a database was built with the app.
 */
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BUNDLED_TOOLS, NATIVE, SENT } from './lib/bundle.mjs';
import { UserError, runMain } from './lib/console.mjs';
import { appMain, root } from './lib/paths.mjs';

const WHOLE = [
  ...BUNDLED_TOOLS.map((tool) => `dist/bundles/${tool}`),
  'dist/tools/mock-model',
  'openapi/openapi.json',
  'package.json',
  'LICENSE',
];

/** The packages with all that they depend on and that is installed: a native one has a package per platform. */
function withDependencies(packages) {
  const found = new Set();
  const add = (name) => {
    const manifest = path.join(root, 'node_modules', name, 'package.json');
    if (found.has(name) || !existsSync(manifest)) return;
    found.add(name);
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(manifest, 'utf8'));
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies })) add(other);
  };
  packages.forEach(add);
  return [...found];
}

/** The licences of all packages that a bundle can hold, which ask to go with every copy; equal texts once. */
function licences() {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const namesByText = new Map();
  for (const [folder, { version, dev }] of Object.entries(packages)) {
    if (!folder || dev || !existsSync(path.join(root, folder))) continue;
    const texts = readdirSync(path.join(root, folder))
      .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
      .sort()
      .map((file) => readFileSync(path.join(root, folder, file), 'utf8').trim());
    const { license } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
    const text = texts.join('\n\n') || `Licence: ${typeof license === 'string' ? license : (license?.type ?? 'see the package')}`;
    namesByText.set(text, [...(namesByText.get(text) ?? []), `${folder.split('node_modules/').pop()} ${version}`]);
  }
  return [...namesByText].map(([text, names]) => `${names.join(', ')}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
}

/** Readable for everybody, writable for nobody else than their owner, whatever the umask was. */
function openToRead(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    chmodSync(path.join(entry.parentPath ?? entry.path, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  chmodSync(folder, 0o755);
}

function main() {
  const [app, folder] = process.argv.slice(2);
  if (!app || !folder || !existsSync(appMain(app)))
    throw new UserError('Name an app that is built, and a folder: in Docker by --build-arg APP=<folder of apps/>.');
  const to = path.resolve(folder);
  rmSync(to, { recursive: true, force: true });
  for (const part of [...WHOLE, `dist/bundles/${app}`]) cpSync(path.join(root, part), path.join(to, part), { recursive: true });
  for (const name of [...withDependencies(NATIVE), ...SENT]) {
    const from = path.join(root, 'node_modules', name);
    cpSync(from, path.join(to, 'node_modules', name), { recursive: true, dereference: true, filter: (file) => !file.endsWith('.map') });
  }
  for (const script of ['healthcheck.js', 'secrets.js', 'drain.js']) cpSync(path.join(root, 'docker', script), path.join(to, script));
  writeFileSync(path.join(to, 'THIRD-PARTY-LICENSES.txt'), licences());
  writeFileSync(path.join(to, 'main.js'), `require('./dist/bundles/${app}/main.js');\n`);
  openToRead(to);
}

await runMain(main);
