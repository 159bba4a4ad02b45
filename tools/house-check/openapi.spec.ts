import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { clientTypes } from '../openapi/client-types';
import { INFO } from '../openapi/info';
import { buildDocument, operationsOf, resolve, type Document, type Operation } from './testing/document';

const ROOT = path.join(__dirname, '../..');
const committed = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

let document: Document;
let all: { method: string; path: string; op: Operation }[];

beforeAll(async () => {
  document = await buildDocument();
  all = operationsOf(document);
});

/** Operations for which something is missing. */
const without = (wrong: (op: Operation, method: string, path: string) => unknown) => all.filter(({ op, method, path: p }) => wrong(op, method, p)).map(({ method, path: p }) => `${method} ${p}`);

describe('the OpenAPI document', () => {
  it('is the committed one, and so are the client types', () => {
    // Compared as yes or no: the difference of two long files helps nobody, and `npm run openapi` shows it in git.
    const types = clientTypes(document);
    expect({ document: committed('openapi/openapi.json') === `${JSON.stringify(document, null, 2)}\n`, types: committed('openapi/openapi.d.ts') === types, otherwise: 'npm run openapi' }).toEqual({
      document: true,
      types: true,
      otherwise: 'npm run openapi',
    });
  });

  it('has for every operation one tag, a summary, who may call it, and a name of its own', () => {
    expect(without((op) => op.tags?.length !== 1)).toEqual([]);
    expect(without((op) => !op.summary || op.summary.endsWith('.') || op.summary.length > 80)).toEqual([]);
    expect(without((op) => !op['x-access'] || !op.description)).toEqual([]);
    expect(without((op) => (op['x-access']?.tier === 'public') !== !op.security)).toEqual([]);
    const ids = all.map(({ op }) => op.operationId);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it('describes every tag that it uses, and uses every tag that it describes', () => {
    const used = new Set(all.flatMap(({ op }) => op.tags ?? []));
    expect([...used].sort()).toEqual(Object.keys(INFO.tags).sort());
  });

  it('describes every parameter, field and answer', () => {
    expect(without((op) => (op.parameters ?? []).some((p) => !(p as { description?: string }).description))).toEqual([]);
    expect(without((op) => Object.values(op.responses).some((r) => !r.description))).toEqual([]);
    const silent = Object.entries(document.components.schemas)
      .filter(([name]) => !['Error', 'HTTPValidationError', 'ValidationError'].includes(name))
      .flatMap(([name, schema]) => Object.entries(schema.properties ?? {}).filter(([, p]) => !p.description).map(([field]) => `${name}.${field}`));
    expect(silent).toEqual([]);
  });

  it('has a schema for every body and answer that is not empty', () => {
    const schemaOf = (content: Record<string, { schema?: unknown }> | undefined) => content && Object.values(content)[0]?.schema;
    expect(without((op) => op.requestBody && !schemaOf(op.requestBody.content))).toEqual([]);
    expect(without((op) => Object.entries(op.responses).some(([status, r]) => (status === '204') === Boolean(schemaOf(r.content))))).toEqual([]);
    expect(without((op) => !Object.keys(op.responses).some((s) => s < '300'))).toEqual([]);
  });

  it('tells the errors of every operation, in their one shape', () => {
    const errors = (op: Operation) => Object.keys(op.responses).filter((s) => s >= '400');
    expect(without((op) => ['422', '429'].some((s) => !errors(op).includes(s)))).toEqual([]);
    expect(without((op) => op['x-access']?.tier !== 'public' && ['401', '403'].some((s) => !errors(op).includes(s)))).toEqual([]);
    expect(without((op, _, p) => p.includes('{') && !errors(op).includes('404'))).toEqual([]);
    const shape = (op: Operation, s: string) => op.responses[s].content?.['application/json']?.schema?.$ref?.split('/').pop();
    expect(without((op) => errors(op).some((s) => shape(op, s) !== (s === '422' ? 'HTTPValidationError' : 'Error')))).toEqual([]);
  });

  it('declares every parameter of every path', () => {
    const inPath = (p: string) => [...p.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    expect(without((op, _, p) => (op.parameters ?? []).filter((x) => x.in === 'path').map((x) => x.name).sort().join() !== inPath(p).join())).toEqual([]);
  });

  it('has no reference that leads nowhere and no schema that nobody uses', () => {
    const refs = new Set([...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]*)"/g)].map(([, name]) => name));
    expect([...refs].filter((name) => !document.components.schemas[name])).toEqual([]);
    expect(Object.keys(document.components.schemas).filter((name) => !refs.has(name))).toEqual([]);
  });

  it('gives every field a type', () => {
    const untyped = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries(schema.properties ?? {}).filter(([, p]) => !(resolve(document, p).type || p.oneOf || p.enum || p.allOf)).map(([field]) => `${name}.${field}`),
    );
    expect(untyped).toEqual([]);
  });
});

describe('client types', () => {
  /** Type-checks a client that stands beside the types; the messages of what is wrong with it. */
  function check(code: string): string[] {
    const files: Record<string, string> = { '/openapi.d.ts': committed('openapi/openapi.d.ts'), '/client.ts': code };
    const options: ts.CompilerOptions = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, skipLibCheck: false, types: [], lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'] };
    const host = ts.createCompilerHost(options);
    const beside: ts.CompilerHost = {
      ...host,
      getSourceFile: (name, ...rest) => (files[name] === undefined ? host.getSourceFile(name, ...rest) : ts.createSourceFile(name, files[name], ts.ScriptTarget.ES2022)),
      fileExists: (name) => files[name] !== undefined || host.fileExists(name),
      readFile: (name) => files[name] ?? host.readFile(name),
    };
    const program = ts.createProgram(['/client.ts'], options, beside);
    return ts.getPreEmitDiagnostics(program).map((d) => ts.flattenDiagnosticMessageText(d.messageText, ' '));
  }

  const CLIENT = `
import type { components, paths } from './openapi';
type Agent = components['schemas']['AgentResponse'];
type NewAgent = paths['/api/orgs/{org_id}/agents']['post']['requestBody']['content']['application/json'];
type Sent = paths['/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/messages']['post']['responses'][202]['content']['application/json'];
type Refused = paths['/api/orgs/{org_id}/agents']['post']['responses'][422]['content']['application/json'];
`;

  it('compile, and type what a client sends and gets', () => {
    expect(
      check(`${CLIENT}
export const agent: NewAgent = { name: 'Support', model: null, child_agent_ids: [] };
export const slugOf = (a: Agent): string => a.slug;
export const turnOf = (s: Sent): string | null => s.turn_id;
export const first = (r: Refused): (string | number)[] => r.detail[0].loc;
`),
    ).toEqual([]);
  });

  it('refuse what the API would refuse', () => {
    const wrong = check(`${CLIENT}
export const nameless: NewAgent = { slug: 'support' };
export const odd: NewAgent = { name: 'Support', max_steps: 'many' };
export const noSuch = (a: Agent) => a.colour;
`);
    expect(wrong).toHaveLength(3);
  });
});
