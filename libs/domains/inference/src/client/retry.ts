import type { ProviderError } from './errors';

/** Every wait and cap of a call; times in milliseconds. */
export interface Limits {
  /** HTTP requests per answer, as long as nothing of it has arrived. */
  attempts: number;
  /** From the sent request to the head of the response. Connecting has the dispatcher's own bound, 10 s. */
  firstByteMs: number;
  /** Without anything that carries an answer further; a stream's signs of life do not. */
  silenceMs: number;
  /** A whole request, connecting included, however lively it is. */
  totalMs: number;
  minBackoffMs: number;
  maxBackoffMs: number;
  /** A longer Retry-After is cut to this. */
  maxRetryAfterMs: number;
  /** A larger answer, a larger single event: provider_bad_response. */
  maxResponseBytes: number;
  maxEventBytes: number;
  /** Of an HTTP error's body no more is read. */
  maxErrorBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  attempts: 3,
  firstByteMs: 60_000,
  silenceMs: 60_000,
  totalMs: 600_000,
  minBackoffMs: 500,
  maxBackoffMs: 8_000,
  maxRetryAfterMs: 60_000,
  maxResponseBytes: 32 * 1024 * 1024,
  maxEventBytes: 2 * 1024 * 1024,
  maxErrorBytes: 64 * 1024,
};

/**
 * The wait after the failed try number `tries` (1, 2, …). The provider's Retry-After as it is; else a random time from the
 * shortest backoff up to a bound that grows fourfold from 2 s, so that turns which failed together do not return together.
 */
export function backoffMs(tries: number, error: ProviderError, limits: Limits, random: () => number): number {
  if (error.retryAfterMs !== undefined && error.retryAfterMs > 0) return Math.min(error.retryAfterMs, limits.maxRetryAfterMs);
  const bound = Math.min(limits.maxBackoffMs, limits.minBackoffMs * 4 ** tries);
  return limits.minBackoffMs + random() * Math.max(0, bound - limits.minBackoffMs);
}

/** `retry-after-ms`, or Retry-After in seconds or as an HTTP date; undefined where it says nothing usable. */
export function retryAfterMs(headers: Record<string, string | string[] | undefined>, now: number): number | undefined {
  const milliseconds = first(headers['retry-after-ms']);
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/.test(milliseconds)) return Math.ceil(Number(milliseconds));
  const value = first(headers['retry-after']);
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Rejects with the signal's reason as soon as it fires. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
