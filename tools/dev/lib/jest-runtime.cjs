/**
 * Jest's loader of modules. A test file that runs in the worker's own global scope, see jest-environment.cjs, is given modules that the worker
 * loads once, as Node does. So their code is warm from one file to the next, and what they remember goes along, as it does between the
 * applications of one process.
 */
const { Module, createRequire } = require('node:module');
const path = require('node:path');
const { default: Runtime } = require('jest-runtime');
const { isTogether } = require('./jest-environment.cjs');

const root = path.join(__dirname, '../../..');
const { moduleNameMapper } = require(path.join(root, 'jest.preset'));
const aliases = Object.entries(moduleNameMapper).map(([pattern, target]) => [new RegExp(pattern), target]);
const packages = path.join(root, 'node_modules', path.sep);
/** The loader of the file that is running: it knows how sources are compiled, and where their maps are. */
let current;

const { _resolveFilename: resolve } = Module;
Module._resolveFilename = (name, ...how) => {
  const alias = aliases.find(([pattern]) => pattern.test(name));
  return resolve(alias ? name.replace(...alias) : name, ...how);
};
Module._extensions['.ts'] = (module, source) => module._compile(current.transformCache.transform(source), source);

module.exports = class extends Runtime {
  requireModuleOrMock(from, name) {
    // What packages ask Jest for is its own.
    if (!isTogether(this._environment) || from.startsWith(packages)) return super.requireModuleOrMock(from, name);
    current = this;
    return createRequire(from)(name);
  }

  setMock(from, name, ...how) {
    if (isTogether(this._environment))
      throw new Error(`${name} is shared with other test files: one that mocks it begins with /** @alone */.`);
    return super.setMock(from, name, ...how);
  }
};
