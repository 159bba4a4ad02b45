import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NestFactory } from '@nestjs/core';
import { buildOpenApi } from '@aps/platform/http';
import { clientTypes } from './client-types';
import { INFO } from './info';
import { PublicSurface } from './surface';

/** `openapi` writes the document and the client types; `openapi --check` fails when the committed ones are stale. */
async function main(check: boolean): Promise<void> {
  // A preview builds the module graph without connecting anything.
  const app = await NestFactory.create(PublicSurface, { preview: true, logger: false, abortOnError: false });
  const document = await buildOpenApi(app, INFO);
  const files = {
    'openapi/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'openapi/openapi.d.ts': clientTypes(document),
  };
  for (const [file, text] of Object.entries(files)) {
    if (!check) {
      writeFileSync(path.resolve(file), text);
      process.stdout.write(`wrote ${file}\n`);
    } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
      throw new Error(`${file} is stale. Run \`npm run openapi\` and commit the result.`);
    }
  }
}

main(process.argv.includes('--check')).then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`openapi: ${error.message}\n`);
    process.exit(1);
  },
);
