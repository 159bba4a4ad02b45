/** An OpenAPI document on stdin, its TypeScript types on stdout. A process of its own: the generator is an ES module in parts. */
import openapiTS, { astToString } from 'openapi-typescript';

// Read as a stream: a pipe whose writer is slower than we are has nothing to read for a moment.
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
process.stdout.write(astToString(await openapiTS(JSON.parse(Buffer.concat(chunks).toString('utf8')), { defaultNonNullable: false })));
