import { EgressError } from '@aps/platform/egress';

export type ProviderErrorCode =
  | 'provider_rate_limited'
  | 'provider_unavailable'
  | 'provider_timeout'
  | 'provider_rejected'
  | 'provider_auth'
  | 'provider_bad_response'
  | 'context_overflow';

export interface ProviderErrorDetails {
  /** HTTP status of the answer, or the one that an error inside a stream stands for. */
  status?: number;
  retryable?: boolean;
  /** What the provider asked for, in milliseconds, not capped. */
  retryAfterMs?: number;
}

/**
 * The one error of a model call (besides the abort reason of the caller's own signal). The message may be shown to a
 * user: it holds the provider's words scrubbed of keys, and of a failed connection its error code, never an address.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly status?: number;
  /** Whether the same call may succeed later. The client has used up its own attempts already. */
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** HTTP requests sent until this error. */
  attempts = 1;

  constructor(
    readonly code: ProviderErrorCode,
    message: string,
    details: ProviderErrorDetails = {},
  ) {
    super(message);
    this.status = details.status;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** An answer that does not follow the wire format. */
export function badResponse(message: string, status?: number): ProviderError {
  return new ProviderError('provider_bad_response', message, { status });
}

/** A bound on time has passed. */
export function timedOut(what: string): ProviderError {
  return new ProviderError('provider_timeout', `the provider did not answer in time (${what})`, { retryable: true });
}

/** The connection ended before the end mark of the stream. */
export function cutStream(): ProviderError {
  return new ProviderError('provider_unavailable', 'the provider ended the stream before it was complete', { retryable: true });
}

/** One JSON object of a stream. */
export function parseChunk(data: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw badResponse('the provider sent a malformed chunk');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badResponse('the provider sent a malformed chunk');
  return value as Record<string, unknown>;
}

const MESSAGE_LENGTH = 500;
/** So much of a provider's words is looked at: patterns go over them, and an event of a stream may hold megabytes of anything. */
const READ_LENGTH = 4_000;
const OVERFLOW =
  /context_length_exceeded|context[ _](length|window|size|limit)|maximum context|(prompt|input|request) is too long|too many (input )?tokens|token count .{0,40}exceeds|reduce the length of the messages/i;
/** Of a refused size: servers before a model answer 413 to so many bytes, and shorter messages are then no help. */
const OF_TOKENS = /\btokens?\b/i;
/** Some say by 400 that the account is spent, or that its key is none. Names of tools, which such words quote, are to mean nothing. */
const OF_ACCOUNT =
  /billing_(error|hard_limit_reached|not_active)|billing (details|hard limit)|plans? (&|and) billing|credit balance|(usage|spend\w*) limits?\b|insufficient.{0,20} (balance|credits?|funds|quota)\b|api key (is )?(not valid|invalid|expired)|(invalid|expired) api key/i;

/** Error types inside a stream, where no HTTP status tells what they mean, and the statuses that they stand for. */
const STATUS_OF_TYPE: Record<string, number> = {
  overloaded_error: 529,
  api_error: 500,
  server_error: 500,
  internal_error: 500,
  timeout_error: 504,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  request_too_large: 413,
  not_found_error: 404,
  permission_error: 403,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  content_filter: 400,
};

interface ErrorBody {
  message: string;
  type: string;
  status?: number;
  retryAfterMs?: number;
}

/** Reads the error bodies of all three dialects: `{error:{message, type|code|status}}`, in a list, or plain. */
function readErrorBody(body: unknown): ErrorBody {
  const outer = asObject(Array.isArray(body) ? body[0] : body);
  const inner = typeof outer.error === 'string' ? { message: outer.error } : asObject(outer.error ?? outer);
  const message = [inner.message, inner.detail].find((text) => typeof text === 'string' && text !== '') as string | undefined;
  const types = [inner.code, inner.type, inner.status].filter((type): type is string => typeof type === 'string');
  const numeric = [inner.code, inner.status].find((code): code is number => typeof code === 'number' && code >= 400 && code < 600);
  const named = types.map((type) => (/^[45]\d\d$/.test(type) ? Number(type) : STATUS_OF_TYPE[type])).find((status) => status !== undefined);
  // The Google form carries its Retry-After in the body: details:[{retryDelay:"36s"}].
  const details = Array.isArray(inner.details) ? inner.details : [];
  const delay = details
    .map((detail) => asObject(detail).retryDelay)
    .find((text) => typeof text === 'string' && /^\d+(\.\d+)?s$/.test(text));
  return {
    message: beginningOf(message ?? ''),
    type: beginningOf(types.join(' ')),
    status: numeric ?? named,
    retryAfterMs: delay === undefined ? undefined : Math.ceil(parseFloat(delay as string) * 1000),
  };
}

/** Without the word at the cut, which could be a part of a key that is not known by it. */
const beginningOf = (text: string): string => (text.length <= READ_LENGTH ? text : text.slice(0, READ_LENGTH).replace(/(?<!\S)\S+$/, ''));

/** Classifies an HTTP error answer. `body` is its text, perhaps cut at the size cap. */
export function httpError(status: number, body: string, secrets: readonly string[], retryAfterMs?: number): ProviderError {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined; // an HTML page, or a body past the cap: its words are worth nothing to a user
  }
  const error = readErrorBody(parsed);
  return classify(status, { ...error, retryAfterMs: retryAfterMs ?? error.retryAfterMs }, secrets);
}

/** Classifies an error object that arrived inside a stream. */
export function streamError(body: unknown, secrets: readonly string[]): ProviderError {
  const error = readErrorBody(body);
  return classify(error.status ?? 500, error, secrets);
}

function classify(status: number, error: ErrorBody, secrets: readonly string[]): ProviderError {
  // As a database takes it: without zero characters and halves of pairs.
  const words = scrub(error.message, secrets).replaceAll('\0', '').slice(0, MESSAGE_LENGTH).toWellFormed();
  const message = words === '' ? `the provider answered ${status}` : `the provider answered ${status}: ${words}`;
  const all = `${error.type} ${error.message}`;
  const overflow = [400, 413, 422].includes(status) && (OVERFLOW.test(all) || (status === 413 && OF_TOKENS.test(all)));
  if (overflow) return new ProviderError('context_overflow', message, { status });
  if ([401, 402, 403].includes(status) || (status === 400 && OF_ACCOUNT.test(all)))
    return new ProviderError('provider_auth', message, { status });
  const retry = { status, retryable: true, retryAfterMs: error.retryAfterMs };
  if (status === 429) return new ProviderError('provider_rate_limited', message, retry);
  if (status === 408 || status === 504) return new ProviderError('provider_timeout', message, retry);
  if (status >= 500 || status === 409 || status === 425) return new ProviderError('provider_unavailable', message, retry);
  return new ProviderError('provider_rejected', message, { status });
}

const TRANSIENT = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENODATA',
  'EREFUSED',
  'ESERVFAIL',
  'ETIMEOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_INFO',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);
const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);

/**
 * Classifies what the connection threw, guarded or plain. Only known passing faults are worth a retry: a certificate that
 * does not fit or an address that the egress guard refuses stays what it is.
 */
export function connectionError(error: unknown): ProviderError {
  if (error instanceof EgressError) return guardedError(error);
  const { code } = asObject(error);
  const name = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown error';
  if (TIMEOUTS.has(name)) return timedOut(name);
  if (name.startsWith('HPE_') || name === 'UND_ERR_HEADERS_OVERFLOW') return badResponse(`the provider did not answer in HTTP (${name})`);
  if (name === 'UND_ERR_INVALID_ARG')
    return new ProviderError('provider_rejected', 'the address, a header or the key has a form that cannot be sent');
  return new ProviderError('provider_unavailable', `the connection to the provider failed (${name})`, { retryable: TRANSIENT.has(name) });
}

/** What the guarded dispatcher says: its own reason, where no error of the connection stands behind it. */
function guardedError(error: EgressError): ProviderError {
  if (error.refused) return new ProviderError('provider_rejected', `the address of the provider may not be called: ${error.message}`);
  if (error.reason === 'timeout') return timedOut('connect');
  if (typeof asObject(error.cause).code === 'string') return connectionError(error.cause);
  return new ProviderError('provider_unavailable', `the connection to the provider failed (${error.reason})`, { retryable: true });
}

const KEY_SHAPES =
  /\b(?:sk|pk|rk|xai|gsk|whsec)[-_][\w*.\u2026-]{4,}|\bAIza[\w*-]{8,}|\bBearer\s+[^\s"',]+|\b(?:org|proj|acct)[-_][A-Za-z0-9]{12,}|\beyJ[\w-]{8,4000}\.[\w-]+\.?[\w-]*|([?&](?:api[-_]?)?key=)[^&\s"']+|(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{32,}/gi;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Takes the given secrets, and whatever looks like a key or the id of an account, out of a provider's words. */
export function scrub(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) {
    if (secret.length < 4) continue;
    for (const form of new Set([secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]))
      out = out.replaceAll(form, '[redacted]');
  }
  return out.replace(KEY_SHAPES, (match, prefix?: string) => (UUID.test(match) ? match : `${prefix ?? ''}[redacted]`));
}

export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
