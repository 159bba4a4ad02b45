/**
 * Jest's environments for Node, made to cost less: most of what a test file costs is to load what it tests.
 *
 * A test on real servers (`*.medium.spec.ts`) boots applications. It runs in the worker's own global scope, on modules that the worker loads
 * once, see jest-runtime.cjs, and it leaves that scope as it was. Each other file, and one whose first comment says `@alone` because it mocks
 * modules or changes what they share, runs all modules anew in a global scope of its own.
 */
const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { TestEnvironment } = require('jest-environment-node');
const { ModuleMocker } = require('jest-mock');

const { createContext } = vm;
const scripts = new Map();
/** What Jest takes for a context: the worker's own global scope. */
const WORKER = {};

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
  return parsingContext === WORKER ? known.script.runInThisContext() : known.script.runInContext(parsingContext);
};

const empty = (object) => {
  for (const name of Reflect.ownKeys(object)) Reflect.deleteProperty(object, name);
};

/** The timers of a test file: one that ticks on would keep all that it knows in memory, and the worker busy with collecting garbage. */
class Timers {
  set = [];

  constructor(global) {
    for (const name of ['setTimeout', 'setInterval']) global[name] = this.remembering(global[name]);
  }

  remembering(set) {
    const setAndRemember = (...how) => {
      const timer = set(...how);
      this.set.push(new WeakRef(timer));
      return timer;
    };
    return Object.defineProperties(setAndRemember, Object.getOwnPropertyDescriptors(set));
  }

  clear() {
    for (const timer of this.set) clearTimeout(timer.deref());
  }
}

/** A global scope of its own. What a file leaves behind is taken out of the way. */
class Alone extends TestEnvironment {
  async setup() {
    await super.setup();
    // Or graceful-fs would put its own there for good.
    this.global[Symbol.for('graceful-fs.queue')] = [];
    this.timers = new Timers(this.global);
    this.own = new Set(Reflect.ownKeys(this.global));
  }

  async teardown() {
    this.timers.clear();
    this.global.process.removeAllListeners();
    // What Node knows of a file's classes can keep its global object, and that is to hold nothing.
    for (const name of Reflect.ownKeys(this.global))
      if (!this.own.has(name) && !Reflect.deleteProperty(this.global, name)) empty(this.global[name]);
    await super.teardown();
  }
}

/** What stands on an object. @returns what puts it back; what came meanwhile stays where `isKept` says so */
function remember(object, isKept = () => false) {
  const before = Object.getOwnPropertyDescriptors(object);
  return () => {
    for (const name of Reflect.ownKeys(object)) if (!Object.hasOwn(before, name) && !isKept(name)) Reflect.deleteProperty(object, name);
    for (const name of Reflect.ownKeys(before)) {
      const now = Object.getOwnPropertyDescriptor(object, name);
      if (now?.value !== before[name].value || now?.get !== before[name].get) Object.defineProperty(object, name, before[name]);
    }
  };
}

/** Packages keep what they know in the global scope, under names and registered symbols; what Jest keeps there is of one file. */
const isOfPackage = (name) => typeof name === 'string' || !['EVENT_HANDLERS', undefined].includes(Symbol.keyFor(name));

/** The worker's own global scope. */
class Together {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);

  constructor({ projectConfig }) {
    this.restored = [remember(globalThis, isOfPackage), remember(process), remember(process.env)];
    this.listeners = new Set(process.eventNames().flatMap((event) => process.rawListeners(event)));
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    // The older kind, which nothing here uses.
    this.fakeTimers = this.fakeTimersModern;
  }

  async setup() {
    this.timers = new Timers(globalThis);
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    this.timers.clear();
    for (const event of process.eventNames())
      for (const listener of process.rawListeners(event)) if (!this.listeners.has(listener)) process.removeListener(event, listener);
    for (const restore of this.restored) restore();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return WORKER;
  }
}

module.exports = class {
  constructor(config, context) {
    const isTogether = context.testPath.endsWith('.medium.spec.ts') && !('alone' in context.docblockPragmas);
    return isTogether ? new Together(config) : new Alone(config, context);
  }
};
module.exports.isTogether = (environment) => environment.getVmContext() === WORKER;
