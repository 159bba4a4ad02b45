import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ERRORS } from '@aps/contracts';
import { INFO } from '../openapi/info';
import { buildDocument, operationsOf, resolve, type Document, type Operation } from './testing/document';
import { allRoutes, templateOf, type Route } from './testing/surface';

const ROOT = path.join(__dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

let document: Document;
let routes: Route[];
let all: { method: string; path: string; op: Operation }[];

beforeAll(async () => {
  [document, routes] = [await buildDocument(), await allRoutes()];
  all = operationsOf(document);
});

/** Operations for which something is missing. */
const without = (wrong: (op: Operation, method: string, path: string) => unknown) =>
  all.filter(({ op, method, path: p }) => wrong(op, method, p)).map(({ method, path: p }) => `${method} ${p}`);

describe('the OpenAPI document', () => {
  it('is the committed one', () => {
    // Compared as yes or no: the difference of two long files helps nobody, and `npm run openapi` shows it in git.
    const fresh = read('openapi/openapi.json') === `${JSON.stringify(document, null, 2)}\n`;
    expect({ fresh, otherwise: 'npm run openapi' }).toEqual({ fresh: true, otherwise: 'npm run openapi' });
  });

  it('has for every operation one tag, a summary, who may call it, and a name of its own', () => {
    expect(without((op) => op.tags?.length !== 1)).toEqual([]);
    expect(without((op) => !op.summary || op.summary.endsWith('.') || op.summary.length > 80)).toEqual([]);
    expect(without((op) => !op['x-access'] || !op.description)).toEqual([]);
    const ids = all.map(({ op }) => op.operationId);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it('says of every operation that is counted where a caller reads how many requests are left', () => {
    const rates = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
    const silent = ([status, { headers = {} }]: [string, { headers?: object }]) =>
      (status < '300' || status === '429') && rates.some((name) => !(name in headers));
    expect(without((op) => Boolean(op.responses['429']) && Object.entries(op.responses).some(silent))).toEqual([]);
  });

  it('says of every operation which credential it wants, also that it wants none', () => {
    const schemes = (op: Operation) => op.security?.map((scheme) => Object.keys(scheme).join()).join(' or ');
    const wanted = (op: Operation) =>
      op['x-access']?.tier === 'public'
        ? op['x-access'].identifies
          ? ' or bearer'
          : ''
        : op['x-access']?.ticket
          ? 'bearer or ticket'
          : 'bearer';
    expect(without((op) => schemes(op) !== wanted(op))).toEqual([]);
    const { bearer, ticket } = document.components.securitySchemes;
    expect(bearer).toMatchObject({ type: 'http', scheme: 'bearer', bearerFormat: 'opaque' });
    expect(ticket).toMatchObject({ type: 'apiKey', in: 'query', name: 'ticket' });
  });

  it('describes every tag that it uses, and uses every tag that it describes', () => {
    const used = new Set(all.flatMap(({ op }) => op.tags ?? []));
    expect([...used].sort()).toEqual(Object.keys(INFO.tags).sort());
  });

  it('describes every parameter, field and answer', () => {
    expect(without((op) => (op.parameters ?? []).some((p) => !(p as { description?: string }).description))).toEqual([]);
    expect(without((op) => Object.values(op.responses).some((r) => !r.description))).toEqual([]);
    const silent = Object.entries(document.components.schemas)
      .filter(([name]) => !['Error', 'HTTPValidationError', 'RevisionError', 'ValidationError'].includes(name))
      .flatMap(([name, schema]) =>
        Object.entries(schema.properties ?? {})
          .filter(([, p]) => !p.description)
          .map(([field]) => `${name}.${field}`),
      );
    expect(silent).toEqual([]);
  });

  it('has a schema for every body and answer that is not empty', () => {
    const schemaOf = (content: Record<string, { schema?: unknown }> | undefined) => content && Object.values(content)[0]?.schema;
    expect(without((op) => op.requestBody && !schemaOf(op.requestBody.content))).toEqual([]);
    expect(
      without((op) => Object.entries(op.responses).some(([status, r]) => ['204', '304'].includes(status) === Boolean(schemaOf(r.content)))),
    ).toEqual([]);
    expect(without((op) => !Object.keys(op.responses).some((s) => s < '300'))).toEqual([]);
  });

  describe('tells of every operation what the platform answers in its place', () => {
    /** Operations that say less, or more, than the wanted codes under a status. */
    const unlike = (status: string, wanted: (op: Operation, method: string, path: string) => string[]) =>
      all.flatMap(({ op, method, path: p }) => {
        const said: string = op.responses[status]?.description ?? '';
        const silent = wanted(op, method, p).filter((code) => !said.includes(`\`${code}\``));
        return silent.length ? [`${method} ${p} ${status} does not say ${silent.join()}`] : [];
      });
    const tier = (op: Operation) => op['x-access']?.tier ?? '';
    const ofOrg = (op: Operation) => ['member', 'admin', 'owner'].includes(tier(op));
    const repeatable = (op: Operation) => op.parameters?.some((p) => p.name === 'Idempotency-Key');

    it('because of its path', () => {
      expect(unlike('400', (_, __, p) => (p.includes('{') ? ['bad_request'] : []))).toEqual([]);
      expect(unlike('404', (_, __, p) => (p.includes('{') ? ['not_found'] : []))).toEqual([]);
      expect(without((op, _, p) => !p.includes('{') && !repeatable(op) && op.responses['400'])).toEqual([]);
    });

    it('because of its Idempotency-Key, which every idempotent handler takes', () => {
      const idempotent = new Set(routes.filter((r) => r.idempotent).map((r) => `${r.method} ${templateOf(r.path)}`));
      expect(idempotent.size).toBeGreaterThan(20);
      expect(without((op, method, p) => Boolean(repeatable(op)) !== idempotent.has(`${method} ${p}`))).toEqual([]);
      expect(unlike('400', (op) => (repeatable(op) ? ['idempotency_key_invalid'] : []))).toEqual([]);
      expect(unlike('409', (op) => (repeatable(op) ? ['idempotency_in_progress'] : []))).toEqual([]);
      expect(unlike('422', (op) => (repeatable(op) ? ['idempotency_mismatch'] : []))).toEqual([]);
    });

    it('because of its body', () => {
      expect(unlike('413', (op) => (op.requestBody ? ['payload_too_large'] : []))).toEqual([]);
      expect(unlike('415', (op) => (op.requestBody ? ['unsupported_media_type'] : []))).toEqual([]);
      // But for those that read their bodies by themselves, and say so.
      const reading = new Set(
        routes.filter((r) => r.operation?.refuses?.includes('payload_too_large')).map((r) => `${r.method} ${templateOf(r.path)}`),
      );
      const silent = (op: Operation, method: string, p: string) => !op.requestBody && !reading.has(`${method} ${p}`);
      expect(without((op, method, p) => silent(op, method, p) && Boolean(op.responses['413'] || op.responses['415']))).toEqual([]);
    });

    it('because of who calls', () => {
      expect(unlike('401', (op) => (tier(op) === 'public' ? [] : ['not_authenticated', 'user_deactivated']))).toEqual([]);
      const refusals: Record<string, string[]> = {
        member: ['not_org_member', 'org_suspended', 'insufficient_scope'],
        admin: ['not_org_member', 'org_suspended', 'insufficient_role', 'insufficient_scope'],
        owner: ['not_org_member', 'org_suspended', 'insufficient_role', 'insufficient_scope'],
        platform_admin: ['platform_admin_required', 'insufficient_scope'],
        user: ['insufficient_scope'],
      };
      expect(
        unlike('403', (op) =>
          tier(op) === 'user' && !op['x-access']?.area && !op['x-access']?.session_only ? [] : (refusals[tier(op)] ?? []),
        ),
      ).toEqual([]);
      expect(
        without(
          (op, method, p) =>
            op['x-access']?.session_only !== routes.find((r) => r.method === method && templateOf(r.path) === p)?.access?.sessionOnly,
        ),
      ).toEqual([]);
      expect(without((op) => ofOrg(op) && !op.responses['403'])).toEqual([]);
    });

    it('because others do something at the same moment, or ask too often, or a part is away', () => {
      expect(unlike('409', (_, method) => (method === 'GET' ? [] : ['conflict']))).toEqual([]);
      expect(unlike('429', () => ['rate_limited'])).toEqual([]);
      expect(unlike('503', () => ['service_unavailable'])).toEqual([]);
      expect(unlike('502', (op) => (tier(op) === 'platform_admin' ? ['upstream_unavailable'] : []))).toEqual([]);
      expect(unlike('504', (op) => (tier(op) === 'platform_admin' ? ['upstream_timeout'] : []))).toEqual([]);
      expect(without((op) => ['429', '503'].some((s) => !op.responses[s].headers?.['Retry-After']))).toEqual([]);
    });

    it('in the one shape of errors, under codes that belong to the status', () => {
      const errors = (op: Operation) => Object.keys(op.responses).filter((s) => s >= '400');
      expect(without((op) => !errors(op).includes('422'))).toEqual([]);
      const shape = (op: Operation, s: string) => op.responses[s].content?.['application/json']?.schema?.$ref?.split('/').pop();
      expect(without((op) => errors(op).some((s) => shape(op, s) !== (s === '422' ? 'HTTPValidationError' : 'Error')))).toEqual([]);
      const statusOf = (code: string) => (ERRORS as Record<string, { status: number }>)[code]?.status;
      const foreign = all.flatMap(({ op, method, path: p }) =>
        errors(op).flatMap((s) =>
          [...(op.responses[s].description ?? '').matchAll(/`([a-z_]+)`/g)]
            .map(([, code]) => code)
            .filter((code) => ![undefined, Number(s)].includes(statusOf(code)))
            .map((code) => `${method} ${p} ${s} ${code}`),
        ),
      );
      expect(foreign).toEqual([]);
    });
  });

  it('declares every parameter of every path', () => {
    const inPath = (p: string) => [...p.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    expect(
      without(
        (op, _, p) =>
          (op.parameters ?? [])
            .filter((x) => x.in === 'path')
            .map((x) => x.name)
            .sort()
            .join() !== inPath(p).join(),
      ),
    ).toEqual([]);
  });

  it('has no reference that leads nowhere and no schema that nobody uses', () => {
    const refs = new Set([...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]*)"/g)].map(([, name]) => name));
    expect([...refs].filter((name) => !document.components.schemas[name])).toEqual([]);
    expect(Object.keys(document.components.schemas).filter((name) => !refs.has(name))).toEqual([]);
  });

  it('speaks JSON Schema, with null as a type', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(JSON.stringify(document)).not.toContain('"nullable":');
  });

  it('lists the values of a field in its schema, not in prose', () => {
    // Two names side by side in code: what a reader would have to type out.
    const listed = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries(schema.properties ?? {})
        .filter(([, p]) => resolve(document, p).type === 'string' && !resolve(document, p).enum && /`\w+`, `\w+`/.test(p.description ?? ''))
        .map(([field]) => `${name}.${field}`),
    );
    expect(listed).toEqual([]);
  });

  it('leaves an object open only where its keys are nobody’s but the caller’s, or a tool’s', () => {
    const theirs =
      /^(arguments|config|context|credentials|data|definition|detail|display_fx|edited_arguments|headers|input|input_schema|metadata|payload|rates|schema|settings|values|variables)$/;
    const open = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries(schema.properties ?? {})
        .filter(([field, p]) => resolve(document, p).additionalProperties === true && !theirs.test(field))
        .map(([field]) => `${name}.${field}`),
    );
    expect(open).toEqual([]);
  });

  it('gives every parameter a type', () => {
    expect(without((op) => op.parameters?.some((p) => !resolve(document, p.schema).type))).toEqual([]);
  });

  it('gives every field a type', () => {
    const untyped = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries(schema.properties ?? {})
        .filter(([, p]) => !(resolve(document, p).type || p.oneOf || p.enum))
        .map(([field]) => `${name}.${field}`),
    );
    expect(untyped).toEqual([]);
  });
});

describe('client types', () => {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    types: [],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  };
  const host = ts.createCompilerHost(options);
  /** Read once for all clients. */
  const libraries = new Map<string, ts.SourceFile | undefined>();
  const library = (name: string) => {
    if (!libraries.has(name)) libraries.set(name, host.getSourceFile(name, ts.ScriptTarget.ES2022));
    return libraries.get(name);
  };

  /** Type-checks a client that stands beside the types, and them with it; the messages of what is wrong. */
  function check(code: string): string[] {
    const files: Record<string, string> = { '/openapi.d.ts': read('openapi/openapi.d.ts'), '/client.ts': code };
    const beside: ts.CompilerHost = {
      ...host,
      getSourceFile: (name) => (files[name] === undefined ? library(name) : ts.createSourceFile(name, files[name], ts.ScriptTarget.ES2022)),
      fileExists: (name) => files[name] !== undefined || host.fileExists(name),
      readFile: (name) => files[name] ?? host.readFile(name),
    };
    const program = ts.createProgram(['/client.ts'], options, beside);
    const problems = [
      ...program.getOptionsDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...Object.keys(files).flatMap((name) => {
        const file = program.getSourceFile(name);
        return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
      }),
    ];
    return problems.map((d) => ts.flattenDiagnosticMessageText(d.messageText, ' '));
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

  it('type the events of a chat: the example follows one, and a forgotten event is found', () => {
    const example = read('openapi/examples/follow-chat.ts').replace("'../openapi'", "'./openapi'");
    expect(check(example)).toEqual([]);
    const forgetful = check(example.replace("    case 'title_changed':\n      return `is called ${event.data.title ?? 'nothing'}`;\n", ''));
    expect(forgetful).toEqual([expect.stringContaining("not assignable to parameter of type 'never'")]);
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
