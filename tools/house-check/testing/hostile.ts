import http from 'node:http';
import { bodySchema, resolve, type Document, type Operation, type Schema } from './document';
import { sample } from './sample';
import { NOBODY } from './tenant';

/** Stands in every hostile text. An answer that refuses must not repeat it. */
export const CANARY = 'cAnArY7f3a9';

export interface HostileRequest {
  what: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const MIB = 1024 * 1024;
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** JSON texts of values that no field is glad to see. */
const VALUES: [string, string][] = [
  ['null', 'null'],
  ['true', 'true'],
  ['negative', '-1'],
  ['fraction', '1.5'],
  ['beyond a double', '1e400'],
  ['beyond an integer', '123456789012345678901234567890'],
  ['empty text', '""'],
  ['blanks', '"   "'],
  ['text', `"${CANARY}"`],
  ['NUL', `"${CANARY}\\u0000"`],
  ['half a surrogate pair', `"${CANARY}\\ud800"`],
  ['control characters', `"${CANARY}\\u0001\\u001b[31m\\r\\nX: y"`],
  ['SQL', `"${CANARY}'; DROP TABLE users; --"`],
  ['a long text', `"${CANARY}${'x'.repeat(120_000)}"`],
  ['empty list', '[]'],
  ['mixed list', `[null, 1, {"a": []}, "${CANARY}\\u0000"]`],
  ['a long list', `[${Array.from({ length: 2_000 }, () => `"${CANARY}"`).join()}]`],
  ['empty object', '{}'],
  [
    'an object with a prototype',
    `{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}, "a\\u0000b": "${CANARY}"}`,
  ],
  ['a list in a list', '[[[[[]]]]]'],
  ['200 levels', nested(200, '[', ']')],
];

/** As odd, and so many that each field gets some of them only. */
const ODD_VALUES: [string, string][] = [
  ['minus nothing', '-0'],
  ['almost nothing', '0.0000001'],
  ['beyond 32 bits', '2147483648'],
  ['almost beyond a double', '1e308'],
  ['a letter of LIKE', '"%"'],
  ['another letter of LIKE', '"_"'],
  ['a backslash', '"\\\\"'],
  ['a path', '"../../etc"'],
  ['a template', '"{{7*7}}"'],
  ['JSON in a text', '"{}"'],
  ['a number in a text', '"1e5"'],
  ['a number beyond a bigint in a text', '"99999999999999999999"'],
  ['no number in a text', '"NaN"'],
  ['a word that filters know', '"none"'],
  ['a scope', '"*"'],
  ['an id of zeros', '"00000000-0000-0000-0000-000000000000"'],
  ['a word and a line', '"OWNER\\n"'],
  ['a letter that lower case makes two of', '"İ"'],
  ['letters of two bytes', `"${'é'.repeat(64)}"`],
  ['letters of four bytes', `"${'😀'.repeat(60)}"`],
  ['right to left', '"\\u202egnp.exe"'],
  ['an address with another header', '"a@b.example\\r\\nBcc: c@d.example"'],
  ['an address beyond ASCII', '"ä@bücher.example"'],
  ['a long address', `"${'a'.repeat(64)}@${'b.'.repeat(90)}example"`],
  ['nothing in a list', '[null]'],
  ['a word twice', '["core","core"]'],
  ['a tool that objects have', '["agent:constructor"]'],
  ['a file by a number', '[{"file_id":1}]'],
  ['a file by no name', '[{"file_id":"x","filename":"\\u0000"}]'],
  ['an object in an object', '{"a":{}}'],
  ['an operator', '{"$ne":null}'],
  ['names that objects have', '{"toString":1,"hasOwnProperty":1,"length":5}'],
  ['a NUL in a key', '{"a\\u0000":1}'],
  ['half a surrogate pair in an object', '{"x":"\\ud800"}'],
  ['60 levels of objects', `${'{"x":'.repeat(60)}1${'}'.repeat(60)}`],
];

/** Whole bodies, whatever the fields are. */
const BODIES: [string, Buffer | string, Record<string, string>?][] = [
  ['nothing', ''],
  ['a list', '[]'],
  ['a list of objects', `[{"name": "${CANARY}"}]`],
  ['null', 'null'],
  ['a number', '12'],
  ['a text', `"${CANARY}"`],
  ['an unfinished object', `{"name": "${CANARY}`],
  ['a trailing comma', `{"name": "${CANARY}",}`],
  ['not JSON', `name=${CANARY}`],
  ['invalid UTF-8', Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe, 0xc0, 0xaf]), Buffer.from('"}')])],
  ['a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')])],
  ['1 MiB of [', '['.repeat(MIB)],
  ['a field 100,000 lists deep', `{"name":${nested(100_000, '[', ']')}}`],
  ['a field 80,000 objects deep', `{"metadata":${'{"a":'.repeat(80_000)}1${'}'.repeat(80_000)}}`],
  ['more than 1 MiB', JSON.stringify({ name: CANARY.repeat(MIB / 8) })],
  [
    'prototype keys',
    `{"__proto__": {"admin": true}, "constructor": {"prototype": {"admin": true}}, "toString": "${CANARY}", "hasOwnProperty": 1}`,
  ],
  ['a key twice', `{"name": "${CANARY}", "name": 1}`],
  ['a character that is none', '{"email":"\ufffe","email":1}'],
  ['an empty key', `{"": "${CANARY}", "\\u0000": 1}`],
  ['a NUL outside of a text', '{"name": 1}\u0000'],
  ['another content type', '<a/>', { 'content-type': 'application/xml' }],
  ['a form', `name=${CANARY}&role=OWNER`, { 'content-type': 'application/x-www-form-urlencoded' }],
  [
    'a multipart body',
    `--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n${CANARY}\r\n--x--`,
    { 'content-type': 'multipart/form-data; boundary=x' },
  ],
  ['no content type', `{"name": "${CANARY}"}`, { 'content-type': '' }],
  ['an unknown charset', `{"name": "${CANARY}"}`, { 'content-type': 'application/json; charset=klingon' }],
  ['UTF-16', Buffer.from(`{"name": "${CANARY}"}`, 'utf16le'), { 'content-type': 'application/json; charset=utf-16le' }],
  ['a coding that it has not', '{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ['an unknown coding', '{}', { ...JSON_TYPE, 'content-encoding': 'rot13' }],
];

const QUERY_VALUES: string[] = [
  '',
  'abc',
  '-1',
  '0',
  '1.5',
  '1e3',
  '9'.repeat(400),
  '2147483647',
  '%27',
  '%25',
  '_',
  'none',
  'constructor',
  '%F0%9F%98%80',
  '..%2f..',
  CANARY,
  '%00',
  '%ff',
  '%ED%A0%80',
  '%zz',
  '%',
  '+',
  'null',
  'a'.repeat(6_000),
];

const PATH_VALUES: string[] = [
  '%00',
  `${CANARY}%00`,
  '%',
  '%zz',
  '%ff%fe',
  '%c0%af',
  '..%2f..%2fadmin',
  '%2e%2e',
  '%20',
  `${CANARY}'--`,
  '0',
  '-1',
  'a'.repeat(4_000),
  '%F0%9F%92%A9',
  '%ED%A0%80',
  '__proto__',
  'constructor',
  'undefined',
  '*',
  '..',
  '1e9',
  '%25',
  '_',
  '00000000-0000-0000-0000-000000000000',
  `${NOBODY}'`,
  NOBODY.toUpperCase(),
];

/** One in so many: what one piece of code reads for all operations is tried on each, but not all of it. */
const SHARE = { values: 2, oddValues: 8, bodies: 4, queries: 3, paging: 4, paths: 4 };
const PAGING = ['limit', 'offset'];

/** @param at names the place that gets these; over all places each is tried */
const some = <T>(all: readonly T[], share: number, at: string): T[] => {
  const first = [...at].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  return all.filter((_, n) => (n + first) % share === 0);
};

/** Bodies that are wrong in one field each. */
function fieldBodies(document: Document, schema: Schema): [string, string][] {
  const base = sample(document, schema) as Record<string, unknown>;
  return Object.keys(schema.properties ?? {}).flatMap((name, i) =>
    [...some(VALUES, SHARE.values, name + i), ...some(ODD_VALUES, SHARE.oddValues, name + i)].map(([what, text]): [string, string] => {
      const rest = Object.entries(base).filter(([key]) => key !== name);
      const fields = [
        ...rest.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`),
        `${JSON.stringify(name)}: ${text}`,
      ];
      return [`${name} is ${what}`, `{${fields.join()}}`];
    }),
  );
}

/** Everything hostile for one operation at one address. */
export function hostileRequests(document: Document, method: string, op: Operation, path: string): HostileRequest[] {
  const schema = bodySchema(document, op);
  const body: HostileRequest[] = schema
    ? [...some(BODIES, SHARE.bodies, op.operationId), ...fieldBodies(document, resolve(document, schema))].map(([what, text, headers]) => ({
        what,
        method,
        path,
        headers: (headers as Record<string, string> | undefined) ?? JSON_TYPE,
        body: text,
      }))
    : [];
  const valid = schema ? { headers: JSON_TYPE, body: JSON.stringify(sample(document, schema)) } : {};
  const query = (op.parameters ?? [])
    .filter((p) => p.in === 'query')
    .flatMap(({ name }) =>
      [
        ...some(QUERY_VALUES, PAGING.includes(name) ? SHARE.paging : SHARE.queries, op.operationId + name).map((v) => `${name}=${v}`),
        `${name}=1&${name}=2`,
        `${name}[]=1`,
        `${name}[a]=1`,
        `${name}[__proto__]=1`,
        `${name}=1&`.repeat(300),
      ].map((q) => ({ what: `?${q.slice(0, 60)}`, method, path: `${path}?${q}`, ...valid })),
    );
  return [...body, ...query];
}

/** Every parameter of a path in every hostile form. */
export function hostilePaths(method: string, template: string, fillOthers: (path: string) => string): HostileRequest[] {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return names.flatMap((name) =>
    some(PATH_VALUES, SHARE.paths, method + template + name).map((value) => ({
      what: `${name} is ${value.slice(0, 40)}`,
      method,
      path: fillOthers(template.replace(`{${name}}`, '\u0001')).replace('\u0001', value),
    })),
  );
}

export interface RawAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

/** Sends a request as it is: no client library mends it on its way. */
export function send(base: string, { method, path, headers, body }: HostileRequest, bearer?: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const given = Object.entries({ ...headers, ...(bearer && { authorization: `Bearer ${bearer}` }) }).filter(([, value]) => value !== '');
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const request = http.request(
      { hostname, port, path, method, agent, headers: { ...Object.fromEntries(given), ...length } },
      (response) => {
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          response.destroy();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' });
          return;
        }
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
        );
        response.on('error', reject);
      },
    );
    request.setTimeout(25_000, () => request.destroy(new Error('hangs')));
    request.on('error', reject);
    request.end(body);
  });
}
