import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { allSections } from './sections';
import { envExample } from './text';

/**
 * `env-example`            writes .env.example from the configuration schema
 * `env-example --check`    exits 1 when the file differs from it
 */
async function main(): Promise<void> {
  const file = path.resolve('.env.example');
  const text = envExample(await allSections());
  const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (!process.argv.includes('--check')) {
    if (current !== text) writeFileSync(file, text);
    process.stdout.write(current === text ? '.env.example is up to date\n' : 'wrote .env.example\n');
  } else if (current !== text) {
    throw new Error('.env.example does not show the settings as the code declares them. Run `npm run env-example` and commit the result.');
  }
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`env-example: ${error.message}\n`);
    process.exit(1);
  },
);
