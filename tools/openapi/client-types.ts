import { spawnSync } from 'node:child_process';
import path from 'node:path';

const HEADER = `/** Types of the API for TypeScript clients. Written by \`npm run openapi\` from openapi.json; do not edit. */
`;

/** The document as TypeScript types: `paths`, `operations` and `components`. Call it in the project's root. */
export function clientTypes(document: object): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.resolve('tools/openapi/client-types.mjs')], {
    input: JSON.stringify(document),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`The client types cannot be generated: ${stderr}`);
  return HEADER + stdout;
}
