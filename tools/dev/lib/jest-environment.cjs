/**
 * Jest's environment for Node, made to cost less: a good part of what a test file costs is to load what it tests. Each file still runs all
 * modules anew, in a global scope of its own.
 */
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const { createContext } = vm;
const scripts = new Map();

/** A global object that is one: Jest would watch its own through a proxy, at each use of a name like `Promise`, in order to empty it afterwards. */
vm.createContext = (_watched, ...options) => createContext(vm.constants.DONT_CONTEXTIFY, ...options);

/**
 * Compiles each text once in a worker, and not again for each test file: V8 shares the code of a script among contexts, and compiles
 * anew what Jest asks it for.
 */
vm.compileFunction = (source, parameters, { filename, parsingContext }) => {
  let known = scripts.get(filename);
  if (known?.source !== source) {
    known = { source, script: new vm.Script(`(function (${parameters}) {${source}\n})`, { filename }) };
    scripts.set(filename, known);
  }
  return known.script.runInContext(parsingContext);
};

module.exports = TestEnvironment;
