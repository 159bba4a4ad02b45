/** Two projects: `unit` with the medium tests (*.medium.spec.ts, on a real PostgreSQL and Redis), and `e2e`. */
const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');
const preset = require('./jest.preset');

const folders = (...names) => names.filter((name) => existsSync(path.join(__dirname, name))).map((name) => `<rootDir>/${name}`);
const suites = readdirSync(path.join(__dirname, 'apps')).filter((name) => name.endsWith('-e2e'));

// testTimeout is an option of the whole run, not of a project.
const { testTimeout, ...shared } = preset;

module.exports = {
  testTimeout,
  testSequencer: path.join(__dirname, 'tools/dev/lib/jest-order.cjs'),
  projects: [
    {
      ...shared,
      displayName: 'unit',
      roots: folders('apps', 'libs', 'tools'),
      testRegex: '\\.spec\\.ts$',
      testPathIgnorePatterns: ['<rootDir>/apps/[^/]+-e2e/', '/node_modules/'],
    },
    // Without a suite there is nothing to look through; roots must not be empty.
    {
      ...shared,
      displayName: 'e2e',
      roots: suites.length ? folders(...suites.map((name) => `apps/${name}`)) : folders('apps'),
      testRegex: 'apps/[^/]+-e2e/.*\\.spec\\.ts$',
    },
  ],
};
