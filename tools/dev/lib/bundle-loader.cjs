/**
 * Runs a bundled app: `require('../loader.cjs')(__dirname)` in the folder that bundle.mjs made for it. There, app.js is our own code
 * and packages.js, one folder up and shared by all apps, the npm packages; what is in neither (built-in modules, native ones) is left
 * to Node.
 *
 * V8's compiled code of both stands beside them. It names the text that it belongs to, since V8 itself compares no more than lengths;
 * its own version and flags V8 checks by itself. A cache that does not fit, or none, costs time at the start and nothing else, so
 * nothing is written here and a read-only file system is fine.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const { Module, createRequire } = require('node:module');
const path = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script, constants } = require('node:vm');

/** Length of the line that ends texts and caches and names the build they come from. */
const MARK = 65;

class BundledFile {
  constructor(file, cacheFile) {
    Object.assign(this, { file, cacheFile, module: new Module(file, require.main), require: createRequire(file) });
    this.module.filename = file;
  }

  /** Calls the function that the text is. */
  run(require, ...values) {
    // The bundler writes ASCII only; read as Latin-1 it is held once, outside of the heap.
    const text = readFileSync(this.file, 'latin1');
    this.mark = text.slice(-MARK);
    this.script = new Script(text, {
      filename: this.file,
      cachedData: this.cached(),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    this.script.runInThisContext()(this.module.exports, require, this.module, this.file, path.dirname(this.file), ...values);
    return this.module.exports;
  }

  cached() {
    try {
      const cache = readFileSync(this.cacheFile);
      return cache.toString('latin1', cache.length - MARK) === this.mark ? cache.subarray(0, cache.length - MARK) : undefined;
    } catch {
      return undefined;
    }
  }

  writeCache() {
    writeFileSync(this.cacheFile, Buffer.concat([this.script.createCachedData(), Buffer.from(this.mark, 'latin1')]));
  }

  /** Node knows the source maps of the modules that it compiled: it compiles the line that names ours. */
  announceSourceMap() {
    this.module._compile(`//# sourceMappingURL=${path.basename(this.file)}.map`, this.file);
  }
}

/**
 * @param {string} dir where app.js is
 * @param {boolean} [writeCache] keep the compiled code of all that this run calls until it ends
 */
module.exports = (dir, writeCache = false) => {
  const app = new BundledFile(path.join(dir, 'app.js'), path.join(dir, 'app.js.cache'));
  const packages = new BundledFile(path.join(dir, '../packages.js'), path.join(dir, 'packages.js.cache'));
  let byRequest = {};
  const packagesFirst = (require) =>
    Object.assign((request) => (Object.hasOwn(byRequest, request) ? byRequest[request]() : require(request)), require);
  if (writeCache) process.once('exit', () => [app, packages].forEach((file) => file.writeCache()));
  // A boot makes much garbage, for which V8 would make the young generation as large as can be, and keep it so in an idle process. The
  // app lets it grow with its load, once it is ready.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Its collection takes a millisecond or two. Helpers would share that, and cost more than they save where a process has a core or two.
  setFlagsFromString('--no-parallel-scavenge');
  app.announceSourceMap();
  // V8 refuses code that was compiled under other flags, sizes of the heap included. Those have done their work when the heap stands.
  for (const flag of ['--max-old-space-size', '--max-semi-space-size']) setFlagsFromString(`${flag}=0`);
  byRequest = packages.run(packagesFirst(packages.require));
  app.run(packagesFirst(app.require));
};
