/**
 * `npm run lint`: ESLint over the workspace. The walls between projects are checked against Nx's project graph, and where none has been
 * made yet (a fresh checkout) that rule would only warn and skip; so the graph is made first. Without a cache of results: what is right
 * in one file depends on what others import.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './lib/paths.mjs';

process.env.NX_DAEMON = 'false';
process.chdir(root);
const require = createRequire(path.join(root, 'package.json'));
const { createProjectGraphAsync } = require('@nx/devkit');
await createProjectGraphAsync({ exitOnError: true, resetDaemonClient: true });

const eslint = path.join(path.dirname(require.resolve('eslint/package.json')), 'bin/eslint.js');
const { status } = spawnSync(process.execPath, [eslint, '.', ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 1);
