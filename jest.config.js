/** Three projects: `unit` with the medium tests (*.medium.spec.ts, on a real PostgreSQL and Redis), the same of `tools`, and `e2e`. */
const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');
const preset = require('./jest.preset');

const folders = (...names) => names.filter((name) => existsSync(path.join(__dirname, name))).map((name) => `<rootDir>/${name}`);
const suites = readdirSync(path.join(__dirname, 'apps')).filter((name) => name.endsWith('-e2e'));

// What is an option of the whole run, and not of a project.
const { testTimeout, ...shared } = preset;

module.exports = {
  testTimeout,
  // What Node remembers of earlier files goes with the worker.
  workerIdleMemoryLimit: '1200MB',
  testSequencer: path.join(__dirname, 'tools/dev/lib/jest-order.cjs'),
  projects: [
    {
      ...shared,
      displayName: 'unit',
      roots: folders('apps', 'libs'),
      testRegex: '\\.spec\\.ts$',
      testPathIgnorePatterns: ['<rootDir>/apps/[^/]+-e2e/', '/node_modules/'],
    },
    { ...shared, displayName: 'tools', roots: folders('tools'), testRegex: '\\.spec\\.ts$' },
    // Without a suite there is nothing to look through; roots must not be empty.
    {
      ...shared,
      displayName: 'e2e',
      roots: suites.length ? folders(...suites.map((name) => `apps/${name}`)) : folders('apps'),
      testRegex: 'apps/[^/]+-e2e/.*\\.spec\\.ts$',
    },
  ],
};
