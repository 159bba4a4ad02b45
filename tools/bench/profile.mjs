/**
 * Sums up a CPU profile: `node tools/bench/profile.mjs <file.cpuprofile> [lines]`. Own time by package or folder, then the costliest
 * functions. Waiting is left out: 100 % is what the process computed.
 */
import { readFileSync } from 'node:fs';

const IDLE = new Set(['(idle)', '(root)']);

/** `node_modules/@scope/name` -> @scope/name, our own files -> their folder two levels deep, the rest -> node or the engine. */
function ownerOf({ url, functionName }) {
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  if (inPackage) return inPackage[1];
  const ours = /\/dist\/((?:apps|libs)\/[^/]+\/[^/]+(?:\/[^/]+)?)/.exec(url);
  if (ours) return ours[1].replace('/src', '');
  return url.startsWith('node:')
    ? `node:${url.slice(5).split('/').slice(0, 2).join('/')}`
    : functionName.startsWith('(')
      ? functionName
      : 'engine';
}

const [file, lines = '25'] = process.argv.slice(2);
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
const owners = new Map();
const functions = new Map();
let total = 0;
const add = (map, key, amount) => map.set(key, (map.get(key) ?? 0) + amount);

samples.forEach((id, at) => {
  const frame = frames.get(id);
  if (IDLE.has(frame.functionName)) return;
  const owner = ownerOf(frame);
  total += timeDeltas[at];
  add(owners, owner, timeDeltas[at]);
  add(functions, `${frame.functionName || '(anonymous)'}  ${owner}:${frame.lineNumber + 1}`, timeDeltas[at]);
});

console.log(`${(total / 1_000).toFixed(0)} ms computed`);
for (const map of [owners, functions]) {
  console.log('');
  for (const [name, time] of [...map].sort((a, b) => b[1] - a[1]).slice(0, Number(lines)))
    console.log(`${((100 * time) / total).toFixed(1).padStart(5)} %  ${(time / 1_000).toFixed(0).padStart(6)} ms  ${name}`);
}
