/** Which processes a change of the sources concerns. */
import { existsSync, readFileSync, watch } from 'node:fs';
import path from 'node:path';
import { dist, root } from './paths.mjs';

/** Calls `changed` a moment after the last of a burst of changes below the source folders, never twice at once. */
export function watchSources(changed) {
  let timer;
  let running = Promise.resolve();
  const touch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (running = running.then(changed, changed)), 150);
  };
  const relevant = (file) => !file || file.endsWith('.ts');
  const watchers = ['apps', 'libs', 'tools']
    .filter((folder) => existsSync(path.join(root, folder)))
    .map((folder) => watch(path.join(root, folder), { recursive: true }, (_, file) => relevant(file) && touch()));
  return () => {
    clearTimeout(timer);
    watchers.forEach((watcher) => watcher.close());
  };
}

/** The sources that a built entry point loads, itself included, found by following its relative requires. */
export function sourcesOf(main) {
  const found = new Set();
  const pending = [main];
  while (pending.length) {
    const file = pending.pop();
    if (found.has(file) || !existsSync(file)) continue;
    found.add(file);
    for (const [, request] of readFileSync(file, 'utf8').matchAll(/(?:require|import)\(\s*["'](\.{1,2}(?:\/[^"']*)?)["']\s*\)/g)) {
      const target = path.resolve(path.dirname(file), request);
      pending.push(...(target.endsWith('.js') ? [target] : [`${target}.js`, path.join(target, 'index.js')]));
    }
  }
  return new Set([...found].map((file) => path.relative(dist, file).replace(/\.js$/, '.ts')));
}
