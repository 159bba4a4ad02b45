import { type Problem, refuseField } from '@aps/contracts';
import type { ConnectionMethod } from '@aps/entities';
import { isMasked, mask, maskEnd } from '@aps/platform/crypto';
import type { App } from './catalog/apps';
import { methodOf } from './catalog/methods';

/** What of a connection nobody may read. */
export interface Secrets {
  /** By the names of its method's fields. */
  credentials: Record<string, string>;
  headers: Record<string, string>;
  /** Of the server's address, with its question mark; empty where there is none. */
  query: string;
}

/** A value, or what is wrong with it. */
interface Read {
  values: Record<string, string>;
  problems: Problem[];
}

const MAX_HEADERS = 20;
const MAX_HEADER_BYTES = 4 * 1024;
const MAX_CREDENTIAL = 4 * 1024;

/** RFC 9110: what a name of a header is made of. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** Those that say where a request goes, how it is framed or what protocol it speaks are the client's. */
const RESERVED = /^(?:host|cookie|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|content-.*|transfer-.*|mcp-.*)$/i;
/** What every client can send: a byte a character, and none that ends a line. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
const PRINTABLE = /^[\x21-\x7e]+$/;
/** Of user names and passwords. */
const WRITTEN = /^[^\p{Cc}]+$/u;

/** Reads the fields of a method. */
export function readCredentials(app: App, method: ConnectionMethod, sent: Record<string, unknown>): Read {
  const { fields } = methodOf(app, method);
  const at = (name: string) => ['body', 'credentials', name];
  const values: Record<string, string> = {};
  const problems: Problem[] = Object.keys(sent)
    .filter((name) => !fields.some((field) => field.name === name))
    .map((name) => ({ loc: at(name), msg: `The method ${method} has no such field`, type: 'value_error' }));
  for (const { name, required } of fields) {
    const value = sent[name];
    if (value === undefined || value === null || value === '') {
      if (required) problems.push({ loc: at(name), msg: 'Field required', type: 'missing' });
      continue;
    }
    const problem = credentialProblem(name, value);
    if (problem) problems.push({ loc: at(name), ...problem });
    else values[name] = value as string;
  }
  return { values, problems };
}

function credentialProblem(name: string, value: unknown): Omit<Problem, 'loc'> | undefined {
  if (typeof value !== 'string') return { msg: 'Input should be a valid string', type: 'string_type' };
  if (value.length > MAX_CREDENTIAL) return { msg: `String should have at most ${MAX_CREDENTIAL} characters`, type: 'string_too_long' };
  // That has an error of its own.
  if (isMasked(value)) return undefined;
  if (name === 'header') return headerNameProblem(value);
  if (name === 'password') return WRITTEN.test(value) ? undefined : { msg: 'A password has no control characters', type: 'value_error' };
  if (name === 'username')
    return WRITTEN.test(value) && !value.includes(':')
      ? undefined
      : { msg: 'A user name has neither colons nor control characters', type: 'value_error' };
  return PRINTABLE.test(value) ? undefined : { msg: 'Input should be printable characters without spaces', type: 'value_error' };
}

function headerNameProblem(name: string): Omit<Problem, 'loc'> | undefined {
  if (!TOKEN.test(name)) return { msg: 'This is no name of a header', type: 'value_error' };
  return RESERVED.test(name) ? { msg: 'This header is set by the client itself', type: 'value_error' } : undefined;
}

/** Reads headers that every request to the server shall have. @param own names of those that its credentials go in, in lower case */
export function readHeaders(sent: Record<string, unknown>, own: readonly string[]): Read {
  const names = Object.keys(sent);
  const at = (name: string) => ['body', 'headers', name];
  if (names.length > MAX_HEADERS)
    return { values: {}, problems: [{ loc: ['body', 'headers'], msg: `At most ${MAX_HEADERS} headers`, type: 'too_long' }] };
  const seen = new Set(own);
  const values: Record<string, string> = {};
  const problems: Problem[] = [];
  for (const name of names) {
    const value = sent[name];
    const problem = headerNameProblem(name) ?? headerValueProblem(value);
    if (problem) problems.push({ loc: at(name), ...problem });
    else if (seen.has(name.toLowerCase())) problems.push({ loc: at(name), msg: 'This header is set already', type: 'value_error' });
    else values[name] = value as string;
    seen.add(name.toLowerCase());
  }
  return { values, problems };
}

function headerValueProblem(value: unknown): Omit<Problem, 'loc'> | undefined {
  if (typeof value !== 'string') return { msg: 'Input should be a valid string', type: 'string_type' };
  if (value.length > MAX_HEADER_BYTES) return { msg: `A header has at most ${MAX_HEADER_BYTES} bytes`, type: 'string_too_long' };
  return SENDABLE.test(value) || isMasked(value)
    ? undefined
    : { msg: 'A header has no line breaks, and characters of one byte alone', type: 'value_error' };
}

/** @throws DomainError `masked_secret` for a value that a form has shown, and that was sent back */
export function refuseMasked(field: 'credentials' | 'headers', values: Record<string, string>): void {
  const masked = Object.keys(values).find((name) => isMasked(values[name]));
  if (masked) throw refuseField('masked_secret', [field, masked], 'This is the masked form of a secret. Send the secret itself.');
}

/** Names of the headers that credentials of a method go in, in lower case. */
export function headersOf(app: App, method: ConnectionMethod, credentials: Record<string, string>): string[] {
  if (method === 'none') return [];
  return [method === 'api_key' ? keyHeader(app, credentials) : 'authorization'];
}

const keyHeader = ({ api_key_header }: App, { header }: Record<string, string>): string =>
  (header ?? api_key_header ?? 'x-api-key').toLowerCase();

/** The headers by which a method without consent proves itself. */
export function authorizing(app: App, method: ConnectionMethod, credentials: Record<string, string>): Record<string, string> {
  switch (method) {
    case 'bearer':
    case 'mcp_token':
      return { authorization: `Bearer ${credentials.token}` };
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}` };
    case 'api_key':
      return { [keyHeader(app, credentials)]: credentials.api_key };
    default:
      return {};
  }
}

/** What may be shown of credentials; null where there are none. */
export function hintOf({ api_key, token, password, client_secret }: Record<string, string>): string | null {
  const secret = api_key ?? token ?? password ?? client_secret;
  return secret === undefined ? null : maskEnd(secret);
}

export const masked = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, mask(value)]));
