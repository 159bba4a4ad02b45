import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NestFactory } from '@nestjs/core';
import { buildOpenApi } from '@aps/platform/http';
import { INFO } from './info';
import { PublicSurface } from './surface';

const FILE = 'openapi/openapi.json';

/** `openapi` writes the document; `openapi --check` fails when the committed one is stale. */
async function main(check: boolean): Promise<void> {
  // A preview builds the module graph without connecting anything.
  const app = await NestFactory.create(PublicSurface, { preview: true, logger: false, abortOnError: false });
  const document = buildOpenApi(app, INFO);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (!check) {
    writeFileSync(path.resolve(FILE), text);
    process.stdout.write(`wrote ${FILE}\n`);
  } else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
    throw new Error(`${FILE} is stale. Run \`npm run openapi\` and commit the result.`);
  }
}

main(process.argv.includes('--check')).then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`openapi: ${error.message}\n`);
    process.exit(1);
  },
);
