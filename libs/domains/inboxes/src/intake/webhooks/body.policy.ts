import { once } from 'node:events';
import { Readable } from 'node:stream';
import busboy from 'busboy';
import { readJson } from '@aps/platform/http';
import type { IncomingPart } from '../intake.port';

/** What a body says, as it says it: nothing is made storable yet. */
export interface ReadBody {
  /** JSON, or the fields of a form; undefined where it is neither. */
  payload?: unknown;
  /** A body that is text, and no payload. */
  text?: string;
  files: IncomingPart[];
}

/** Fields of a form that are read; one with more is text. */
const MAX_FIELDS = 1_000;
const MAX_FILES = 100;
const MAX_PARTS = MAX_FIELDS + MAX_FILES;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;
const TEXT_TYPE = /^text\/|^application\/(?:[\w.+-]+\+)?(?:xml|yaml)$|^application\/(?:x-)?(?:ndjson|javascript|yaml)$/;
const FORM = 'application/x-www-form-urlencoded';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The fields of a form of either kind, a letter for each byte: in one of them somebody else's bytes may stand, which are no UTF-8.
 *
 * @returns undefined where it is no form, or has more fields than are read
 */
export async function readByteFields(contentType: string, body: Buffer): Promise<ReadBody['payload']> {
  // A charset is told of the form, or of a part, not of what stands in it.
  if (typeOf(contentType) === FORM) return (await readParts(FORM, [body], 'latin1'))?.payload;
  const bare = withoutCharsets(contentType, body);
  return bare && (await readParts(contentType, bare, 'latin1'))?.payload;
}

/**
 * A form in whose parts no charset is named, in pieces. What the parts hold is left as it is, and where it is: nobody has signed it yet, and it may be large.
 *
 * @returns undefined where it has more parts than are read: whoever sends millions of empty ones has none of them looked at
 */
function withoutCharsets(contentType: string, body: Buffer): Buffer[] | undefined {
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(contentType) ?? [];
  const line = Buffer.from(`\r\n--${quoted ?? plain}\r\n`, 'latin1');
  const pieces: Buffer[] = [];
  let done = 0;
  // The first line has none before it.
  let at = body.subarray(0, line.length - 2).equals(line.subarray(2)) ? -2 : body.indexOf(line);
  for (let parts = 0; at !== -1; parts++) {
    if (parts >= MAX_PARTS) return undefined;
    const begin = at + line.length;
    at = body.indexOf(line, begin);
    const length = body.subarray(begin, at === -1 ? body.length : at).indexOf('\r\n\r\n');
    if (length < 0) continue;
    const end = begin + length;
    const head = body.toString('latin1', begin, end).replace(/;\s*charset\s*=\s*(?:"[^"]*"|[^\s;]*)/gi, '');
    pieces.push(body.subarray(done, begin), Buffer.from(head, 'latin1'));
    done = end;
  }
  return [...pieces, body.subarray(done)];
}

/** Reads a body by what it says that it is. What it is not is told by its bytes: text where they are text, else a file. */
export async function readBody(contentType: string, body: Buffer): Promise<ReadBody> {
  const type = typeOf(contentType);
  if (!body.length) return { text: '', files: [] };
  if (JSON_TYPE.test(type) || !type) {
    const payload = readJson(body);
    // Who does not say what it is may send a text that happens to be a number.
    if (payload !== undefined && (type || typeof payload === 'object')) return { payload, files: [] };
  } else if (type === FORM) {
    const text = textOf(body);
    if (text !== undefined && isForm(text)) return { payload: fieldsOf(new URLSearchParams(text)), files: [] };
  } else if (type === 'multipart/form-data') {
    const form = await readParts(contentType, [body], 'utf8');
    if (form) return form;
  } else if (TEXT_TYPE.test(type)) return { text: decoded(body, charsetOf(contentType)), files: [] };
  else return { files: [{ filename: 'body', content: body }] };
  const text = textOf(body);
  return text === undefined ? { files: [{ filename: 'body', content: body }] } : { text, files: [] };
}

/** @returns undefined where the bytes are no text */
function textOf(body: Buffer): string | undefined {
  if (body.includes(0)) return undefined;
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

const typeOf = (contentType: string): string => contentType.split(/[;,]/, 1)[0].trim().toLowerCase();

const charsetOf = (contentType: string): string => /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';

function decoded(body: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

function isForm(text: string): boolean {
  let fields = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) if (++fields > MAX_FIELDS) return false;
  return true;
}

/** By name; a name that comes several times has a list. */
function fieldsOf(pairs: Iterable<[string, string]>): Record<string, string | string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of pairs) fields.set(name, [...(fields.get(name) ?? []), value]);
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

/**
 * @param body in pieces
 * @param charset of fields that name none
 * @returns undefined where it is no form, or has more parts than are read
 */
async function readParts(contentType: string, body: Buffer[], charset: 'utf8' | 'latin1'): Promise<ReadBody | undefined> {
  const pairs: [string, string][] = [];
  const files: IncomingPart[] = [];
  const size = body.reduce((bytes, { length }) => bytes + length, 0);
  let tooMany = false;
  try {
    const parser = busboy({
      headers: { 'content-type': contentType },
      defCharset: charset,
      defParamCharset: 'utf8',
      limits: { fields: MAX_FIELDS, files: MAX_FILES, fieldSize: size, fileSize: size, parts: MAX_PARTS + 1 },
    });
    parser
      // Each part that is none is one, and nobody may listen to the second any more: then it ends the process.
      .on('error', () => undefined)
      .on('field', (name, value) => pairs.push([name, value]))
      .on('file', (_name, stream, { filename }) => {
        const chunks: Buffer[] = [];
        stream
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('error', () => undefined)
          .on('close', () => files.push({ filename: filename || 'file', content: Buffer.concat(chunks) }));
      })
      .on('fieldsLimit', () => (tooMany = true))
      .on('filesLimit', () => (tooMany = true))
      // Those among them that are malformed are neither.
      .on('partsLimit', () => (tooMany = true));
    Readable.from(body).pipe(parser);
    await once(parser, 'close');
  } catch {
    return undefined;
  }
  return tooMany ? undefined : { payload: fieldsOf(pairs), files };
}
