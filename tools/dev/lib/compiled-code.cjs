/**
 * Loaded first into the apps that development tools start: what V8 makes of a bundle is kept, so that it is compiled once and not by each of the
 * hundreds of processes of a test run. Images do without.
 */
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { Module } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');

const bundles = path.join(__dirname, '../../../dist/bundles');
const compiled = path.join(__dirname, '../../../dist/compiled');
const BEFORE = '(function (exports, require, module, __filename, __dirname) {';
const KEY = 'aps.compiled-code';

/** V8 tells what belongs to a text by its length alone. */
function keptOf(file) {
  const { mtimeMs, size } = statSync(file);
  const name = path.relative(bundles, file).replaceAll(path.sep, '-');
  return path.join(compiled, [name, mtimeMs, size, process.version].join('-'));
}

function keep(file, script) {
  try {
    mkdirSync(compiled, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, script.createCachedData());
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // Another one keeps it.
  }
}

const { _compile: compile } = Module.prototype;
Module.prototype._compile = function (source, file) {
  if (!file.startsWith(bundles + path.sep)) return compile.call(this, source, file);
  const kept = keptOf(file);
  let cachedData;
  try {
    cachedData = readFileSync(kept);
  } catch {
    // It is the first time.
  }
  const script = new vm.Script(`${BEFORE}${source}\n})`, {
    ...{ filename: file, columnOffset: -BEFORE.length, cachedData },
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // In the end, as functions are compiled when they are called.
  if (script.cachedDataRejected !== false) process.once('exit', () => keep(kept, script));
  globalThis[Symbol.for(KEY)] = script.runInThisContext();
  // What Node itself compiles tells it where the source map is.
  const map = source.slice(source.lastIndexOf('\n//# sourceMappingURL='));
  return compile.call(this, `globalThis[Symbol.for('${KEY}')].apply(this, arguments);${map}`, file);
};
