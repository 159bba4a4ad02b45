/**
 * Holds an OpenAPI document to Redocly's recommended rules and to Spectral's for OpenAPI: `node tools/openapi/lint.mjs <file>` prints what they
 * find as a JSON list. A process of its own: both are made to be run so. Nothing is sent to anybody.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import spectralCore from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

const require = createRequire(import.meta.url);

/** Of two paths that one address could have: they take different verbs, so none has. */
const APART = /^redocly no-ambiguous-paths: .*\/connections\/by-slug\/\{slug\}` and `[^`]*\/connections\/\{connection_id\}\//;

function redocly(file) {
  const cli = path.join(path.dirname(require.resolve('@redocly/cli/package.json')), 'bin/cli.js');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [cli, 'lint', '--extends=recommended', '--format=json', '--max-problems=100', file],
    { env, encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  try {
    return JSON.parse(stdout).problems.map(
      ({ ruleId, message, location }) => `redocly ${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
    );
  } catch {
    throw new Error(`Redocly did not answer: ${stderr}`);
  }
}

async function spectral(file) {
  const linter = new spectralCore.Spectral();
  linter.setRuleset({ extends: [rulesets.oas] });
  const problems = await linter.run(JSON.parse(readFileSync(file, 'utf8')));
  return problems.map(({ code, message, path: where }) => `spectral ${code}: ${message} ${where.join('/')}`);
}

const [file] = process.argv.slice(2);
process.stdout.write(JSON.stringify([...redocly(file).filter((found) => !APART.test(found)), ...(await spectral(file))]));
