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

const empty = (object) => {
  for (const name of Reflect.ownKeys(object)) Reflect.deleteProperty(object, name);
};

/** Takes what a file leaves behind out of the way: a timer that ticks on would keep all its modules in memory, and the worker busy with collecting garbage. */
module.exports = class extends TestEnvironment {
  timers = [];

  async setup() {
    await super.setup();
    // Or graceful-fs would put its own there for good.
    this.global[Symbol.for('graceful-fs.queue')] = [];
    for (const name of ['setTimeout', 'setInterval']) this.global[name] = this.remembering(this.global[name]);
    this.own = new Set(Reflect.ownKeys(this.global));
  }

  async teardown() {
    for (const timer of this.timers) clearTimeout(timer.deref());
    this.global.process.removeAllListeners();
    // What Node knows of a file's classes can keep its global object, and that is to hold nothing.
    for (const name of Reflect.ownKeys(this.global))
      if (!this.own.has(name) && !Reflect.deleteProperty(this.global, name)) empty(this.global[name]);
    await super.teardown();
  }

  remembering(set) {
    const setAndRemember = (...how) => {
      const timer = set(...how);
      this.timers.push(new WeakRef(timer));
      return timer;
    };
    return Object.defineProperties(setAndRemember, Object.getOwnPropertyDescriptors(set));
  }
};
