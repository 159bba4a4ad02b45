import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { APPS, at, read } from './files';

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Manifest;

/** Sources of a folder, with their paths from the root. */
const sources = (folder: string) =>
  readdirSync(at(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|cjs)$/.test(entry.name))
    .map((entry) => path.relative(at(), path.join(entry.parentPath, entry.name)));
const isOfTests = (file: string) => /\.spec\.ts$|\/testing\/|-e2e\//.test(file);

/** The npm packages that a source names in an import, a require or a resolve. */
function packagesIn(file: string): string[] {
  const named = read(file).matchAll(/(?:\bfrom |\bimport |\bimport\(|\brequire\(|\brequire\.resolve\()'([@\w][^'\s]*)'/g);
  return [...named]
    .map(([, request]) => request)
    .filter((request) => !request.startsWith('node:') && !request.startsWith('@aps/') && !builtinModules.includes(request))
    .map((request) =>
      request
        .split('/')
        .slice(0, request.startsWith('@') ? 2 : 1)
        .join('/'),
    );
}
const runtime = ['apps', 'libs'].flatMap(sources).filter((file) => !isOfTests(file));
const packagesOf = (files: string[]) => [...new Set(files.flatMap(packagesIn))].sort();

/** Loaded by others where it is there: Nest's mapped types (PartialType, PickType) carry its decorators on to the classes that they derive. */
const PEERS = ['class-transformer'];

describe('The bundles', () => {
  it.each(APPS)('hold packages as they are in %s: Nest derives classes from DTOs there, too', (app) => {
    const helpers = ['partial', 'pick', 'omit', 'intersection'].map(
      (kind) => `node_modules/@nestjs/swagger/dist/type-helpers/${kind}-type.helper.js`,
    );
    expect(helpers.filter((file) => !read(`dist/bundles/${app}/main.js`).includes(`"${file}"(`))).toEqual([]);
  });

  it.each(APPS)('are of ASCII alone in %s, or Node would keep them in twice the memory', (app) => {
    expect(read(`dist/bundles/${app}/main.js`).match(/.{0,40}[^\0-\x7f]+/g)).toBeNull();
  });

  it.each(APPS)('import nothing while %s runs, which would fail on Node 20 where V8 has compiled the bundle before', (app) => {
    // What is left stands in the text of a function that BullMQ makes for processors in files, which nobody has.
    expect(read(`dist/bundles/${app}/main.js`).match(/(?<![.\w$]|"return filePath => )import\(.{0,40}/g)).toBeNull();
  });

  it('name our lines in stack traces', () => {
    // Without settings an app says so and ends.
    const probe = 'process.exit = () => { console.log(new Error().stack); process.reallyExit(); }; require(process.argv[1])';
    const args = ['--enable-source-maps', '--eval', probe, at('dist/bundles/api-gateway/main.js')];
    const { stdout } = spawnSync(process.execPath, args, { env: {}, encoding: 'utf8' });
    const lineOf = (file: string) => {
      const [, line] = new RegExp(`\\(?${at(file)}:(\\d+):`).exec(stdout) ?? [];
      return line && read(file).split('\n')[Number(line) - 1];
    };
    expect(lineOf('libs/platform/src/runtime/run-app.ts')).toContain('process.exit(1)');
    expect(lineOf('apps/api-gateway/src/main.ts')).toContain('runApp(');
  });
});

describe('package.json', () => {
  it('declares what runs, and what is declared for that is used', () => {
    const used = packagesOf(runtime);
    expect(used.length).toBeGreaterThan(20);
    expect([...used, ...PEERS].sort()).toEqual(Object.keys(dependencies).sort());
  });

  it('declares what tools and tests name', () => {
    const declared = { ...dependencies, ...devDependencies };
    expect(
      packagesOf([...['apps', 'libs'].flatMap(sources).filter(isOfTests), ...sources('tools')]).filter((name) => !declared[name]),
    ).toEqual([]);
  });

  it('names each by one version', () => {
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+(-[\w.]+)?$/)]);
  });
});
