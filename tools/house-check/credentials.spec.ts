import { buildDocument, operationsOf, type Document, type Schema } from './testing/document';
import { allRoutes, templateOf } from './testing/surface';

interface Found {
  where: string;
  schema: Omit<Schema, 'type'> & { type?: string | string[]; 'x-credential'?: boolean };
  idempotent: boolean;
}

const NAMED_LIKE_ONE = /(^|_)(token|ticket|secret)$/;
/** Answers hold its mask alone. */
const MASKED = ['ai_gateway_token'];

/** Every field of an answer, by operation and path. */
function fieldsOf(document: Document): Found[] {
  const walk = (schema: Schema | undefined, where: string, idempotent: boolean, above: Schema[] = []): Found[] => {
    if (!schema || above.includes(schema)) return [];
    const inner = [...above, schema];
    const target = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!] : undefined;
    return [
      ...walk(target, where, idempotent, inner),
      ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((s) => walk(s, where, idempotent, inner)),
      ...walk(schema.items, `${where}[]`, idempotent, inner),
      ...Object.entries(schema.properties ?? {}).flatMap(([name, s]) => [
        { where: `${where}.${name}`, schema: s, idempotent },
        ...walk(s, `${where}.${name}`, idempotent, inner),
      ]),
    ];
  };
  return operationsOf(document).flatMap(({ method, path, op }) =>
    Object.entries(op.responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content }]) => Object.values(content ?? {}))
      .flatMap(({ schema }) => walk(schema, `${method} ${path}`, op.parameters?.some((p) => p.name === 'Idempotency-Key') ?? false)),
  );
}

describe('credentials in answers', () => {
  let fields: Found[];
  beforeAll(async () => {
    fields = fieldsOf(await buildDocument());
  });

  it('are declared as such, so that no cache and no stored answer keeps them', () => {
    const isNamedLikeOne = (field: string) => NAMED_LIKE_ONE.test(field) && !MASKED.includes(field);
    const named = fields.filter(({ where, schema }) => isNamedLikeOne(where.split('.').at(-1)!) && [schema.type].flat().includes('string'));
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter(({ schema }) => !schema['x-credential']).map(({ where }) => where)).toEqual([]);
  });

  it('are known to the handlers that answer with them', async () => {
    const documented = fields.filter(({ schema }) => schema['x-credential']).map(({ where }) => where.replaceAll('[]', ''));
    const declared = (await allRoutes()).flatMap(({ method, path, credentials }) =>
      credentials.map((field) => `${method} ${templateOf(path)}.${field}`),
    );
    expect(declared.length).toBeGreaterThan(4);
    expect(declared.sort()).toEqual(documented.sort());
  });

  it('are nullable where a repeat shows null', () => {
    const repeated = fields.filter(({ schema, idempotent }) => schema['x-credential'] && idempotent);
    expect(repeated.length).toBeGreaterThan(0);
    expect(repeated.filter(({ schema }) => ![schema.type].flat().includes('null')).map(({ where }) => where)).toEqual([]);
  });
});
