/**
 * What every Jest project of the workspace shares. Aliases and compiler options are read from the files that the build
 * reads, so that a test runs the code that the build makes.
 */
const { readFileSync } = require('node:fs');
const path = require('node:path');

const json = (file) => JSON.parse(readFileSync(path.join(__dirname, file), 'utf8'));
const { $schema: _, ...swc } = json('.swcrc');
const { paths } = json('tsconfig.base.json').compilerOptions;

const escaped = (text) => text.replace(/[.+?^${}()|[\]\\/]/g, '\\$&');

/** `"@aps/x/*": ["./libs/x/src/*"]` as Jest wants it: a pattern, and a path with `$1` for the star. */
const moduleNameMapper = Object.fromEntries(
  Object.entries(paths).map(([alias, [target]]) => [
    `^${escaped(alias).replace('*', '(.*)')}$`,
    path.join(__dirname, target).replace('*', '$1'),
  ]),
);

/** Packages without CommonJS. Node requires them as they are, and esbuild bundles them; Jest learns of that on Node 24. */
const ESM_ALONE = ['@marcbachmann/cel-js', 'jose'].join('|');

module.exports = {
  rootDir: __dirname,
  testEnvironment: path.join(__dirname, 'tools/dev/lib/jest-environment.cjs'),
  runtime: path.join(__dirname, 'tools/dev/lib/jest-runtime.cjs'),
  // Ends what hangs. How long something takes on a busy machine is nobody's failure.
  testTimeout: 600_000,
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }],
    [`/node_modules/(${ESM_ALONE})/.+\\.js$`]: ['@swc/jest', { ...swc, jsc: { target: swc.jsc.target }, swcrc: false }],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${ESM_ALONE})/)`],
  moduleNameMapper,
  moduleFileExtensions: ['ts', 'js', 'json'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/\\.data/'],
};
