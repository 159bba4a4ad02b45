/**
 * Makes the types of the API for TypeScript clients, `openapi/openapi.d.ts`, from `openapi/openapi.json`: `paths`, `operations` and
 * `components`. They follow from the document, so they are not committed; whoever checks types asks for them first.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { replaceFile } from '../dev/lib/files.mjs';
import { root } from '../dev/lib/paths.mjs';

const document = path.join(root, 'openapi/openapi.json');
const types = path.join(root, 'openapi/openapi.d.ts');
const HEADER = '/** Types of the API for TypeScript clients, made from openapi.json by tools/openapi/client-types.mjs. */\n';

/** Does nothing while they are newer than the document. */
export async function makeClientTypes() {
  if (existsSync(types) && statSync(types).mtimeMs > statSync(document).mtimeMs) return;
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  replaceFile(
    types,
    HEADER + astToString(await openapiTS(JSON.parse(readFileSync(document, 'utf8')), { defaultNonNullable: false })),
    0o644,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makeClientTypes();
