/** An OpenAPI document on stdin, its TypeScript types on stdout. A process of its own: the generator is an ES module in parts. */
import { readFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

process.stdout.write(astToString(await openapiTS(JSON.parse(readFileSync(0, 'utf8')), { defaultNonNullable: false })));
