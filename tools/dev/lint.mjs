/**
 * `npm run lint`: whether the code is formatted (`npm run format` does it), and at the same time ESLint over the workspace. Arguments go to ESLint.
 *
 * The walls between projects are checked against Nx's project graph, and where none has been made yet (a fresh checkout) that rule would
 * only warn and skip; so the graph is made first. Without a cache of results: what is right in one file depends on what others import.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { makeClientTypes } from '../openapi/client-types.mjs';
import { root } from './lib/paths.mjs';

process.env.NX_DAEMON = 'false';
process.chdir(root);
const require = createRequire(path.join(root, 'package.json'));
/** A fifth of the time of a lint goes by collecting what is short-lived, unless there is room for it. */
const MORE_ROOM = '--max-semi-space-size=128';
/** @returns whether it found nothing */
const run = async (name, bin, ...args) => {
  const file = path.join(path.dirname(require.resolve(`${name}/package.json`)), bin);
  const [code] = await once(spawn(process.execPath, [MORE_ROOM, file, ...args], { stdio: 'inherit' }), 'exit');
  return code === 0;
};

// The lint knows types, those of the API too.
await makeClientTypes();
const formatted = run('prettier', 'bin/prettier.cjs', '--check', '--log-level', 'warn', '.');
const { createProjectGraphAsync } = require('@nx/devkit');
await createProjectGraphAsync({ exitOnError: true, resetDaemonClient: true });
const clean = await run('eslint', 'bin/eslint.js', '.', ...process.argv.slice(2));
process.exit((await formatted) && clean ? 0 : 1);
