import { bodySchema, resolve, type Document, type Operation, type Parameter, type Schema } from './document';

export interface FuzzRequest {
  /** What was done to a valid request; what is found is reported under it. */
  what: string;
  query: string;
  headers: Record<string, string>;
  /** Values for parameters of the path, in place of those that are there. */
  params: Record<string, string>;
  body?: string | FormData;
  signedIn: boolean;
}

/** Numbers that look random and are the same for the same text. */
export class Random {
  private state: number;

  constructor(seed: string) {
    this.state = [...seed].reduce((hash, c) => Math.imul(hash ^ c.charCodeAt(0), 16_777_619), 2_166_136_261) >>> 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)];
  }

  chance(share: number): boolean {
    return this.next() < share;
  }
}

const ODD = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '-1',
  '../..',
  "'; --",
  '<b>',
  '${x}',
  'ünïcödé',
  '日本語',
  '😀',
  '\u202eabc',
  'a\u0000b',
  '\ud800',
  '\r\nX: y',
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
];
const WRONG: unknown[] = [null, true, -1, 1.5, 1e21, 'text', '', [], [null], {}, { a: 1 }, [[{}]]];

/** Makes requests to operations by their schemas. */
export class Fuzzer {
  /** @param ids that there are, for fields that name something */
  constructor(
    private readonly document: Document,
    private readonly random: Random,
    private readonly ids: string[],
  ) {}

  /** As many requests to an operation: first valid ones, the smallest and the largest, then others with one thing wrong each. */
  requests(op: Operation, count: number): FuzzRequest[] {
    return Array.from({ length: count }, (_, i) => {
      const request = this.valid(op, i === 0 ? 0 : i === 1 ? 1 : 0.5);
      if (i < count / 3) return request;
      if (i === count - 1) return { ...request, what: 'nobody is signed in', signedIn: false };
      return this.spoiled(op, request);
    });
  }

  /** @param share of the optional fields that are there */
  private valid(op: Operation, share: number): FuzzRequest {
    const given = (op.parameters ?? []).filter((p) => p.in !== 'path' && p.name !== 'ticket' && (p.required || this.random.chance(share)));
    const query = new URLSearchParams(given.filter((p) => p.in === 'query').map((p): [string, string] => [p.name, this.textOf(p)]));
    const headers = Object.fromEntries(
      given.filter((p) => p.in === 'header').map((p) => [p.name, this.textOf(p).replace(/[^\x21-\x7e]/g, '_') || 'x']),
    );
    const schema = bodySchema(this.document, op);
    const json = schema && JSON.stringify(this.value(schema, share));
    const form = op.requestBody?.content['multipart/form-data'] && this.form();
    return {
      what: 'valid',
      query: query.toString(),
      headers: json ? { ...headers, 'content-type': 'application/json' } : headers,
      params: {},
      body: json ?? form,
      signedIn: true,
    };
  }

  private form(): FormData {
    const form = new FormData();
    form.append('file', new Blob(['x'.repeat(this.random.int(0, 2_000))]), this.random.pick(['a.txt', 'ü.bin', 'x'.repeat(300)]));
    return form;
  }

  private textOf(p: Parameter): string {
    const value = this.value(p.schema, 0.5);
    return Array.isArray(value) ? String(value[0] ?? '') : String(value);
  }

  private spoiled(op: Operation, request: FuzzRequest): FuzzRequest {
    const ways: (() => FuzzRequest)[] = [];
    const inQuery = (op.parameters ?? []).filter((p) => p.in === 'query' && p.name !== 'ticket');
    const inPath = (op.parameters ?? []).filter((p) => p.in === 'path');
    const schema = bodySchema(this.document, op);
    if (inQuery.length) {
      ways.push(() => {
        const p = this.random.pick(inQuery);
        const query = new URLSearchParams(request.query);
        query.set(
          p.name,
          this.random.chance(0.5) ? this.random.pick(ODD).toWellFormed() : String(this.beyond(resolve(this.document, p.schema))),
        );
        return { ...request, what: `query ${p.name}`, query: query.toString() };
      });
      ways.push(() => ({ ...request, what: 'a parameter that it does not know', query: `${request.query}&no_such_parameter=1` }));
    }
    if (inPath.length) {
      ways.push(() => {
        const p = this.random.pick(inPath);
        const value = this.random.pick([
          '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a77',
          'no-such-slug',
          encodeURIComponent(this.random.pick(ODD.filter(Boolean)).toWellFormed()),
          '%ff',
          '%',
          this.random.pick(this.ids),
        ]);
        return { ...request, what: `path ${p.name}=${value.slice(0, 40)}`, params: { [p.name]: value } };
      });
    }
    if (op.parameters?.some((p) => p.name === 'Idempotency-Key'))
      ways.push(() => ({
        ...request,
        what: 'a bad Idempotency-Key',
        headers: { ...request.headers, 'Idempotency-Key': this.random.pick(['a b', 'x'.repeat(256)]) },
      }));
    if (schema) {
      const body = JSON.parse(request.body as string) as Record<string, unknown>;
      const text = (value: unknown, what: string) => ({ ...request, what, body: JSON.stringify(value) });
      ways.push(() => text(this.random.pick(WRONG), 'another body'));
      ways.push(() => text({ ...body, [this.random.pick(ODD)]: 1, no_such_field: { a: [] } }, 'fields that it does not know'));
      ways.push(() => ({ ...request, what: 'half a body', body: (request.body as string).slice(0, -1) }));
      ways.push(() => ({
        ...request,
        what: 'another content type',
        headers: { ...request.headers, 'content-type': this.random.pick(['text/plain', 'application/xml']) },
      }));
      const fields = Object.entries(schema.properties ?? {});
      if (fields.length) {
        const spoil = (): FuzzRequest => {
          const [name, field] = this.random.pick(fields);
          const { [name]: _, ...rest } = body;
          switch (this.random.int(0, 3)) {
            case 0:
              return text(rest, `${name} is missing`);
            case 1:
              return text({ ...body, [name]: this.random.pick(WRONG) }, `${name} of a wrong type`);
            case 2:
              return text({ ...body, [name]: this.random.pick(ODD) }, `${name} is an odd text`);
            default:
              return text({ ...body, [name]: this.beyond(resolve(this.document, field)) }, `${name} beyond its bounds`);
          }
        };
        ways.push(spoil, spoil, spoil, spoil);
      }
    } else if (op.requestBody) {
      ways.push(() => ({ ...request, what: 'an empty form', body: new FormData() }));
    }
    return ways.length ? this.random.pick(ways)() : request;
  }

  /** A value that a schema accepts; on a bound rather often. */
  private value(given: Schema | undefined, share: number): unknown {
    const schema = resolve(this.document, given);
    const { random } = this;
    if (isNullable(given, schema) && random.chance(0.2)) return null;
    if (schema.oneOf) return this.value(random.pick(schema.oneOf), share);
    if (schema.enum) return random.pick(schema.enum);
    switch (schema.type) {
      case 'object':
        return this.object(schema, share);
      case 'array': {
        const min = schema.minItems ?? 0;
        const items = Array.from({ length: random.int(min, Math.min(schema.maxItems ?? 3, min + 2)) }, () =>
          this.value(schema.items, share),
        );
        return schema.uniqueItems ? [...new Map(items.map((item) => [JSON.stringify(item), item])).values()] : items;
      }
      case 'integer':
      case 'number': {
        const min = schema.minimum ?? 0;
        const max = schema.maximum ?? min + 1_000;
        const any = min + random.next() * (max - min);
        return random.pick([min, max, schema.type === 'integer' ? Math.round(any) : any]);
      }
      case 'boolean':
        return random.chance(0.5);
      default:
        return this.text(schema);
    }
  }

  private object(schema: Schema, share: number): unknown {
    const names = Object.keys(schema.properties ?? {}).filter((name) => schema.required?.includes(name) || this.random.chance(share));
    // Fewer the deeper it gets: what may hold itself must end.
    const fields = names.map((name) => [name, this.value(schema.properties?.[name], share / 2)]);
    const free = schema.additionalProperties;
    if (free && this.random.chance(share))
      fields.push([this.random.pick(['key', 'openai', 'mock']), free === true ? this.random.pick(WRONG) : this.value(free, share)]);
    return Object.fromEntries(fields);
  }

  private text({ format, example, pattern, minLength = 0, maxLength = 200 }: Schema): string {
    const { random } = this;
    if (format === 'uuid') return random.pick([...this.ids, '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a77']);
    if (format === 'email') return `someone-${random.int(0, 1e9)}@example.com`;
    if (format === 'date-time') return random.pick(['2026-11-20T09:30:00.000Z', '2030-01-01T00:00:00+01:00']);
    if (pattern || (typeof example === 'string' && random.chance(0.3)))
      return typeof example === 'string' && new RegExp(pattern ?? '').test(example) ? example : this.matching(pattern ?? '', minLength);
    const length = random.pick([
      Math.max(1, minLength),
      Math.min(maxLength, 5_000),
      random.int(minLength, Math.min(maxLength, Math.max(minLength, 40))),
    ]);
    return Array.from({ length }, () => random.pick([...'abcdefghijklmnopqrstuvwxyz     0123456789.,-ü']))
      .join('')
      .padEnd(minLength, 'x')
      .replace(/^ | $/g, 'x');
  }

  /** The patterns of the API are few: something of each, or a guess. */
  private matching(pattern: string, minLength: number): string {
    const test = new RegExp(pattern);
    const candidates = [
      ...this.ids,
      `slug-${this.random.int(0, 1e9)}`,
      '12.5',
      '1',
      'org',
      'chats:read',
      'none',
      `chat:${this.random.pick(this.ids)}`,
      'x'.repeat(Math.max(43, minLength)),
    ];
    return candidates.filter((text) => test.test(text)).at(this.random.int(-1, 0)) ?? 'x'.repeat(Math.max(1, minLength));
  }

  /** Just outside of what a schema accepts, where it says so. */
  private beyond({ minimum, maximum, minLength, maxLength, minItems, maxItems, enum: values, type }: Schema): unknown {
    const ways: unknown[] = [];
    if (minimum !== undefined) ways.push(minimum - 1);
    if (maximum !== undefined) ways.push(maximum + 1, 1e15);
    if (minLength) ways.push('x'.repeat(minLength - 1));
    if (maxLength !== undefined) ways.push('x'.repeat(maxLength + 1));
    if (minItems) ways.push([]);
    if (maxItems !== undefined) ways.push(Array.from({ length: maxItems + 1 }, () => 'x'));
    if (values) ways.push('no_such_value');
    if (type === 'integer') ways.push(1.5, 2 ** 53, -(2 ** 31) - 1);
    return ways.length ? this.random.pick(ways) : this.random.pick(WRONG);
  }
}

const isNullable = (given: Schema | undefined, resolved: Schema): boolean => {
  const types = given?.type as string | string[] | undefined;
  return (
    (Array.isArray(types) && types.includes('null')) ||
    [...(given?.anyOf ?? []), ...(given?.oneOf ?? [])].some((s) => s.type === 'null') ||
    resolved.type === 'null'
  );
};
