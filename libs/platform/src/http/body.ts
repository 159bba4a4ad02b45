import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type BrotliOptions, type ZlibOptions } from 'node:zlib';
import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Problem } from '@aps/contracts';
import { DomainError } from '@aps/contracts';
import type { Request } from 'express';
import { HeldBytes } from './held-bytes';
import { rawBody, tooLarge } from './raw-body';

/** Bytes of a JSON body: 1 MiB, and of who has shown no credential, 64 KiB. */
export const JSON_BODY_LIMIT = 1024 * 1024;
const ANONYMOUS_BODY_LIMIT = 64 * 1024;

/** JSON bodies that a process has in memory as they came, and bytes that all of them may have: of users, and of all others. */
const ROOMS = {
  users: { bytes: new HeldBytes(), most: 192 * 1024 * 1024 },
  others: { bytes: new HeldBytes(), most: 64 * 1024 * 1024 },
};

/** Where a handler says who may call it. The guards stand above this library and export it. */
export const ACCESS = 'aps:access';

const BODY_LIMIT = 'aps:body-limit';

/** Bytes of the JSON body that a handler takes, where {@link JSON_BODY_LIMIT} is too little. */
export const BodyLimit = (bytes: number): MethodDecorator =>
  applyDecorators(SetMetadata(BODY_LIMIT, bytes), ApiExtension('x-body-limit', bytes));

/** How deep lists and objects of a body may nest. Everything that walks a body recurses, and the stack ends long before 1 MiB of `[` does. */
const MAX_DEPTH = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, MINUS, ZERO, NINE] = Buffer.from('"\\[]{}-09');
/** By byte, whether it may stand in a number. */
const IN_NUMBER = Array.from({ length: 256 }, (_, byte) => '0123456789+-.eE'.includes(String.fromCharCode(byte)));
const EXPONENT = /[eE]/;

/** So many places of such numbers are told; whoever sends more mends these first. */
const MAX_INEXACT = 20;

/** So many digits come out of a double as they went in. */
const SAFE_DIGITS = 15;

interface Findings {
  tooDeep: boolean;
  /** Where numbers stand that a double does not keep: offsets of their first byte and of the one behind. */
  inexact: [number, number][];
}

/** Looks at the text, before anything is built from it: afterwards a number is what the double made of it. */
function inspect(raw: Buffer, maxInexact = MAX_INEXACT): Findings {
  const found: Findings = { tooDeep: false, inexact: [] };
  let depth = 0;
  let inText = false;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i];
    if (inText) {
      if (c === BACKSLASH) i++;
      else if (c === QUOTE) inText = false;
    } else if (c === QUOTE) inText = true;
    else if (c === OPEN_LIST || c === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) return { ...found, tooDeep: true };
    } else if (c === CLOSE_LIST || c === CLOSE_OBJECT) depth--;
    else if (c === MINUS || (c >= ZERO && c <= NINE)) {
      const start = i;
      while (IN_NUMBER[raw[i + 1]]) i++;
      const text = raw.toString('latin1', start, i + 1);
      if ((text.length > SAFE_DIGITS || EXPONENT.test(text)) && !survivesDouble(text)) {
        found.inexact.push([start, i + 1]);
        if (found.inexact.length === maxInexact) return found;
      }
    }
  }
  return found;
}

/** Whether a JSON number comes out of a double as the number that went in, however it is written: `1e2` does, 2^53+1 does not. */
export const survivesDouble = (text: string): boolean => decimalOf(text) === decimalOf(String(Number(text)));

/** One spelling per number: its digits without zeros around them, and the power of ten. What is no number is no spelling of one. */
function decimalOf(text: string): string {
  // No pattern: one over megabytes of digits was seen to run out of stack, and one that looks for zeros at the end takes the square
  // of their number where they are not at the end.
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole, fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  let [from, to] = [0, digits.length];
  while (from < to && digits[from] === '0') from++;
  while (to > from && digits[to - 1] === '0') to--;
  return from === to ? '0' : `${sign}${digits.slice(from, to)}e${Number(exponent) - fraction.length + (digits.length - to)}`;
}

type Place = (string | number)[];

/** Stands in for a number while its place is looked for; nobody outside can write it. */
const MARK = randomUUID();

/** The text with something else in the places of these numbers. The parser takes a byte order mark for none of it, and JSON.parse does not. */
function replacing(raw: Buffer, inexact: Findings['inexact'], by: (number: string) => string): string {
  const parts: string[] = [];
  let end = 0;
  for (const [from, to] of inexact) {
    parts.push(raw.toString('utf8', end, from), by(raw.toString('latin1', from, to)));
    end = to;
  }
  return (parts.join('') + raw.toString('utf8', end)).replace(/^\ufeff/, '');
}

/** What looks like a number may be none, as `1.2.3`. Its parser tells, whose stack does not grow with the digits as a pattern's does. */
function isNumber(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses what is taken as it comes and cannot be refused. A number that a double would change is its text instead.
 *
 * @returns undefined where it is no JSON in UTF-8, or nests too deeply to be walked
 */
export function readJson(raw: Buffer): unknown {
  const { tooDeep, inexact } = inspect(raw, Infinity);
  if (tooDeep) return undefined;
  try {
    utf8.decode(raw);
    return JSON.parse(replacing(raw, inexact, (number) => (isNumber(number) ? `"${number}"` : number)));
  } catch {
    return undefined;
  }
}

/** The ways to the numbers in the parsed body. Parses it once more, which only bodies with such numbers need. */
function placesOf(raw: Buffer, inexact: Findings['inexact']): Place[] {
  const places: Place[] = [];
  const look = (value: unknown, place: Place): void => {
    if (value === MARK) places.push(place);
    else if (Array.isArray(value)) value.forEach((v, i) => look(v, [...place, i]));
    else if (value !== null && typeof value === 'object') for (const [key, v] of Object.entries(value)) look(v, [...place, key]);
  };
  try {
    look(JSON.parse(replacing(raw, inexact, () => `"${MARK}"`)), []);
  } catch {
    // It is no JSON, which the parser says better.
  }
  return places;
}

/** What a request has brought. */
export interface JsonBody {
  /** Undefined where it has brought nothing, or what nobody can read. */
  value: unknown;
  /** Why it cannot be read. */
  problem?: Problem;
  /** Where numbers stood that are not what they were any more. */
  inexactNumbers?: Place[];
}

/** Whether a request brings a body, by its headers: before any of it is read. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** 415, in the words of the form that would be taken. */
export const unsupportedMediaType = (wanted: string): DomainError =>
  new DomainError('unsupported_media_type', `The body must be ${wanted}, and its Content-Type must say so.`);

/** JSON under one of its names. In UTF-8 alone: in UTF-16 the bytes that are looked at would not be the text that is parsed. */
function isJson(contentType = ''): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType) ?? [];
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType) && /^utf-8$/i.test(charset);
}

const DECODERS: Record<string, (raw: Buffer, options: ZlibOptions) => Promise<Buffer>> = {
  identity: (raw) => Promise.resolve(raw),
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, BrotliOptions, Buffer>(brotliDecompress),
};

/** A request of which is known who it is counted as; of anybody else the address is. */
export interface CallersRequest extends Request {
  countedAs?: string;
}

/** What is said of bytes that are no JSON. */
const unread = (msg: string, ...at: number[]): JsonBody => ({
  value: undefined,
  problem: { loc: ['body', ...at], msg, type: 'json_invalid' },
});

/**
 * Reads the JSON body of a request, of who has been let in. What comes encoded grows on the way, and is held to the usual limit.
 *
 * @param handler takes as much as it says with {@link BodyLimit}, else {@link JSON_BODY_LIMIT}
 * @throws DomainError 413 `payload_too_large`, 415 `unsupported_media_type`, 503 `service_unavailable`; AbortError where the client has gone
 */
export async function readJsonBody(req: CallersRequest, handler: object): Promise<JsonBody> {
  if (req.method === 'GET' || req.method === 'HEAD' || !hasBody(req)) return { value: undefined };
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = req.headers;
  if (!isJson(type)) throw unsupportedMediaType('application/json in UTF-8');
  const decode = Object.hasOwn(DECODERS, encoding.toLowerCase()) && DECODERS[encoding.toLowerCase()];
  if (!decode)
    throw new DomainError(
      'unsupported_media_type',
      'The body must be plain, or encoded as gzip, deflate or br, and its Content-Encoding must say so.',
    );
  const access = Reflect.getMetadata(ACCESS, handler) as { tier: string } | undefined;
  const isPublic = access?.tier === 'public';
  const usual = isPublic ? ANONYMOUS_BODY_LIMIT : JSON_BODY_LIMIT;
  const said = (Reflect.getMetadata(BODY_LIMIT, handler) as number | undefined) ?? usual;
  const limit = decode === DECODERS.identity ? said : Math.min(said, JSON_BODY_LIMIT);
  const { bytes, most } = isPublic ? ROOMS.others : ROOMS.users;
  const sent = await bytes.sharing(most, `of ${req.countedAs ?? req.ip}`, (hold) =>
    rawBody(req, limit, (piece) => {
      const refusal = hold(piece);
      if (refusal) throw refusal;
    }),
  );
  try {
    return parsed(await decode(sent, { maxOutputLength: limit }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    const at = /position (\d+)/.exec((error as Error).message);
    return unread('The body is not valid JSON in UTF-8', ...(at ? [Number(at[1])] : []));
  }
}

/** @throws Error for what is no JSON, or no UTF-8 */
function parsed(raw: Buffer): JsonBody {
  const text = utf8.decode(raw);
  if (!text) return { value: undefined };
  const { tooDeep, inexact } = inspect(raw);
  if (tooDeep) return unread(`The body may nest ${MAX_DEPTH} levels deep`);
  return { value: JSON.parse(text) as unknown, inexactNumbers: inexact.length ? placesOf(raw, inexact) : undefined };
}
