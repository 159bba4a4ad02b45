import { readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { at, read } from './files';

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
  it('hold no numbering plans of telephones, and no rule asks for them', () => {
    expect(read('dist/bundles/packages.js')).not.toContain('country_calling_codes');
    expect(runtime.filter((file) => /\bisPhoneNumber\b/i.test(read(file)))).toEqual([]);
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
