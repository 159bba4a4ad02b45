import { Agent, type Dispatcher } from 'undici';
import type { Codec, DecodedChat, WireRequest } from './codec';
import { dialect1 } from './dialect-1';
import { dialect2 } from './dialect-2';
import { dialect3 } from './dialect-3';
import { badResponse, cutStream, httpError, parseChunk, ProviderError } from './errors';
import { type Answer, EventReader, exchange, type Received, type TextRequest } from './exchange';
import { backoffMs, DEFAULT_LIMITS, type Limits, retryAfterMs, sleep, type Sleep } from './retry';
import type {
  ChatRequest,
  ChatResult,
  Dialect,
  EmbedRequest,
  EmbedResult,
  Endpoint,
  RerankRequest,
  RerankResult,
  StreamEvent,
  Usage,
} from './types';
import { count, estimateUsage, tokensOf } from './usage';

/** Longest word of a provider that is kept. */
const MAX_WORD = 64;
const CODECS: Record<Dialect, Codec> = { dialect_1: dialect1, dialect_2: dialect2, dialect_3: dialect3 };

export interface ModelClientOptions {
  /** Connects where the endpoint brings no dispatcher of its own. Default: an agent owned, and closed, by the client. */
  dispatcher?: Dispatcher;
  limits?: Partial<Limits>;
  sleep?: Sleep;
  /** 0 ≤ x < 1 */
  random?: () => number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export interface StreamOptions {
  signal?: AbortSignal;
  /** Called in the order of the stream, while it runs. What it throws ends the call and is thrown by it. */
  onEvent?: (event: StreamEvent) => void;
  /** The answer broke off after its first token and starts anew: what `onEvent` has given so far is void. At most once. */
  onRestart?: (cause: ProviderError) => void;
}

/** Whether anything of the answer has arrived in the current try. */
interface Progress {
  started: boolean;
}

/**
 * Calls models: one interface over three wire dialects. Holds no state per call besides the call itself, so one instance
 * serves a whole process.
 *
 * Retries (connection faults, time-outs, 408, 409, 425, 429, 5xx) happen only before the first token, three requests in
 * all. An answer that breaks off after it is asked for once more from the start, and may again take three requests to
 * its first token; breaking off a second time is an error.
 */
export class ModelClient {
  private readonly dispatcher: Dispatcher;
  private readonly ownDispatcher?: Agent;
  private readonly limits: Limits;
  private readonly sleep: Sleep;
  private readonly random: () => number;
  private readonly now: () => number;

  constructor(options: ModelClientOptions = {}) {
    // One connection per call in flight (HTTP/1.1, no pipelining), kept alive between calls. An Agent follows no
    // redirects and reads no proxy settings from the environment.
    if (!options.dispatcher)
      this.ownDispatcher = new Agent({ connections: null, pipelining: 1, keepAliveTimeout: 30_000, connect: { timeout: 10_000 } });
    this.dispatcher = options.dispatcher ?? this.ownDispatcher!;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.sleep = options.sleep ?? sleep;
    this.random = options.random ?? Math.random;
    this.now = options.now ?? Date.now;
  }

  /** Destroys the client's own connections; calls that still run fail. A dispatcher that was passed in is left alone. */
  async close(): Promise<void> {
    await this.ownDispatcher?.destroy();
  }

  /**
   * Streams one answer of a model.
   *
   * @throws ProviderError, or the reason of the signal (at once, wherever the call stands), or what `onEvent` threw.
   */
  async streamChat(endpoint: Endpoint, request: ChatRequest, options: StreamOptions = {}): Promise<ChatResult> {
    const { signal, onEvent, onRestart } = options;
    const codec = CODECS[endpoint.dialect];
    const startedAt = performance.now();
    let firstTokenMs: number | null = null;
    const emit = (event: StreamEvent): void => {
      firstTokenMs ??= performance.now() - startedAt;
      onEvent?.(event);
    };
    const { value: decoded, attempts } = await this.persist(
      (progress) => this.stream(codec, endpoint, request, signal, emit, progress),
      signal,
      onRestart,
    );
    for (const call of decoded.toolCalls) emit({ type: 'tool_call', ...call });
    return {
      text: decoded.text,
      reasoning: decoded.reasoning,
      toolCalls: decoded.toolCalls,
      usage: decoded.usage ?? estimateUsage(request, decoded.text, decoded.reasoning, decoded.toolCalls),
      usageEstimated: decoded.usage === undefined,
      finishReason: decoded.finishReason,
      providerFinish: decoded.providerFinish?.slice(0, MAX_WORD) ?? null,
      providerModel: decoded.providerModel ?? request.model,
      firstTokenMs,
      durationMs: performance.now() - startedAt,
      attempts,
      ...(decoded.providerState && { providerState: decoded.providerState }),
    };
  }

  /**
   * Embeds texts, in as many requests as the provider needs. Serves dialect_1 and dialect_3.
   *
   * @throws ProviderError, or the reason of the signal.
   */
  async embed(endpoint: Endpoint, request: EmbedRequest, options: { signal?: AbortSignal } = {}): Promise<EmbedResult> {
    const codec = CODECS[endpoint.dialect];
    if (!codec.embed) throw new ProviderError('provider_rejected', `${endpoint.dialect} serves no embeddings`);
    const { batch, request: build, response } = codec.embed;
    const vectors: number[][] = [];
    let tokens = 0;
    let estimated = false;
    for (let from = 0; from < request.input.length; from += batch) {
      const part = { ...request, input: request.input.slice(from, from + batch) };
      const { value } = await this.persist(() => this.whole(codec, endpoint, build(part), request.feature, options.signal), options.signal);
      const answer = response(parseChunk(value));
      if (answer.vectors.length !== part.input.length) throw badResponse('the provider sent another number of embeddings than texts');
      for (const vector of answer.vectors) vectors.push(unit(vector));
      const read = tokensRead(answer.tokens, part.input);
      tokens += read.input;
      estimated ||= read.estimated;
    }
    return { vectors, usage: usageOf(tokens), usageEstimated: estimated };
  }

  /**
   * Puts documents in the order of how well they answer a query, in one request. Serves dialect_1.
   *
   * @throws ProviderError, or the reason of the signal.
   */
  async rerank(endpoint: Endpoint, request: RerankRequest, options: { signal?: AbortSignal } = {}): Promise<RerankResult> {
    const codec = CODECS[endpoint.dialect];
    if (!codec.rerank) throw new ProviderError('provider_rejected', `${endpoint.dialect} ranks nothing`);
    const wire = codec.rerank.request(request);
    const { value } = await this.persist(() => this.whole(codec, endpoint, wire, request.feature, options.signal), options.signal);
    const answer = codec.rerank.response(parseChunk(value));
    const worth = request.documents.map((_, i) => answer.scores.get(i));
    if (!worth.every(Number.isFinite)) throw badResponse('the provider did not rank each of the documents');
    const order = request.documents.map((_, i) => i).sort((a, b) => (worth[b] as number) - (worth[a] as number) || a - b);
    const { input, estimated } = tokensRead(
      answer.tokens,
      request.documents.map((text) => request.query + text),
    );
    return { order, usage: usageOf(input), usageEstimated: estimated };
  }

  /** Runs `once` until it succeeds or its failure is final, by the rules above. */
  private async persist<T>(
    once: (progress: Progress) => Promise<T>,
    signal: AbortSignal | undefined,
    onRestart?: (cause: ProviderError) => void,
  ): Promise<{ value: T; attempts: number }> {
    let restarted = false;
    let tries = 0;
    for (let attempts = 1; ; attempts++) {
      const progress: Progress = { started: false };
      try {
        return { value: await once(progress), attempts };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        error.attempts = attempts;
        const final = progress.started ? restarted : ++tries >= this.limits.attempts;
        if (!error.retryable || final) throw error;
        if (progress.started) {
          restarted = true;
          tries = 0;
          onRestart?.(error);
        }
        await this.sleep(backoffMs(Math.max(tries, 1), error, this.limits, this.random), signal);
      }
    }
  }

  private async stream(
    codec: Codec,
    endpoint: Endpoint,
    request: ChatRequest,
    signal: AbortSignal | undefined,
    emit: (event: StreamEvent) => void,
    progress: Progress,
  ): Promise<DecodedChat> {
    const secrets = secretsOf(endpoint);
    const decoder = codec.decoder({ model: request.model, secrets, emit });
    const reader = new EventReader(this.limits.maxEventBytes, (data) => decoder.push(data));
    try {
      // The body is built anew for each try: held beside the request for the length of an answer it would double it.
      const answer = await this.send(codec, endpoint, codec.chat(request, endpoint), request.feature, signal, (chunk) => {
        const before = decoder.received;
        reader.feed(chunk);
        if (decoder.done) return 'whole';
        return decoder.received > before ? 'further' : 'nothing';
      });
      if (!isEventStream(answer)) throw this.refusal(answer, secrets, 'an event stream');
      if (!decoder.done) flush(reader);
    } catch (error) {
      progress.started = decoder.started;
      // Torn off after the last chunk, but with all of the answer: whole. Everything else stays an error.
      if (error instanceof ProviderError && error.retryable && error.status === undefined) decoder.end();
      if (!decoder.done) throw error;
    }
    progress.started = decoder.started;
    decoder.end();
    if (!decoder.done) throw cutStream();
    return decoder.result();
  }

  private async whole(
    codec: Codec,
    endpoint: Endpoint,
    wire: WireRequest,
    feature: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const answer = await this.send(codec, endpoint, wire, feature, signal);
    if (answer.status >= 300) throw this.refusal(answer, secretsOf(endpoint), 'JSON');
    return answer.body;
  }

  private send(
    codec: Codec,
    endpoint: Endpoint,
    wire: WireRequest,
    feature: string | undefined,
    signal: AbortSignal | undefined,
    onData?: (chunk: Buffer) => Received,
  ): Promise<Answer> {
    const { origin, path } = address(endpoint.baseUrl, wire.path);
    const options: TextRequest = {
      origin,
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: onData ? 'text/event-stream' : 'application/json',
        ...(feature !== undefined && { 'x-feature': feature }),
        ...wire.headers,
        ...codec.auth(endpoint),
        ...endpoint.headers,
      },
      body: wire.body,
      // The exchange has a clock of its own, which tells signs of life from an answer.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    return exchange(endpoint.dispatcher ?? this.dispatcher, options, this.limits, signal, onData);
  }

  private refusal(answer: Answer, secrets: readonly string[], expected: string): ProviderError {
    if (answer.status >= 400) return httpError(answer.status, answer.body, secrets, retryAfterMs(answer.headers, this.now()));
    if (answer.status >= 300)
      return badResponse(`the provider answered ${answer.status}, a redirect; model calls follow none`, answer.status);
    return badResponse(`the provider answered ${answer.status}, but not with ${expected}`, answer.status);
  }
}

function isEventStream(answer: Answer): boolean {
  return answer.status < 300 && /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '');
}

/** What a closed connection left of its last event: half of it is a cut, not a malformed chunk. */
function flush(reader: EventReader): void {
  try {
    reader.flush();
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'provider_bad_response') return;
    throw error;
  }
}

function address(baseUrl: string, path: string): { origin: string; path: string } {
  let base: URL;
  try {
    base = new URL(baseUrl);
  } catch {
    throw new ProviderError('provider_rejected', 'the base URL of the route is not a URL');
  }
  const [pathname, query] = path.split('?') as [string, string?];
  const search = [base.search.slice(1), query].filter(Boolean).join('&');
  return { origin: base.origin, path: `${base.pathname.replace(/\/+$/, '')}${pathname}${search && `?${search}`}` };
}

const SECRET_HEADER = /auth|key|token|secret|cookie/i;

function secretsOf(endpoint: Endpoint): string[] {
  const secrets = endpoint.apiKey ? [endpoint.apiKey] : [];
  for (const [name, value] of Object.entries(endpoint.headers ?? {})) {
    if (SECRET_HEADER.test(name)) secrets.push(value, value.replace(/^\w+\s+/, ''));
  }
  return secrets;
}

const usageOf = (input: number): Usage => ({ input, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 });

/** What was read of texts: as the provider reports it, or counted where it does not, or tells what cannot be. */
function tokensRead(reported: unknown, texts: readonly string[]): { input: number; estimated: boolean } {
  const tokens = reported === undefined ? NaN : count(reported);
  if (!Number.isNaN(tokens)) return { input: tokens, estimated: false };
  return { input: texts.reduce((sum, text) => sum + Math.ceil(tokensOf(text)), 0), estimated: true };
}

/** Not every provider normalises shortened vectors, and search compares lengths of 1. */
function unit(vector: unknown): number[] {
  if (!Array.isArray(vector) || vector.length === 0 || !vector.every((value) => typeof value === 'number' && Number.isFinite(value))) {
    throw badResponse('the provider sent something else than a vector');
  }
  const numbers = vector as number[];
  const length = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0));
  if (length === Infinity) throw badResponse('the provider sent a vector of no length');
  return length === 0 || Math.abs(length - 1) < 1e-6 ? numbers : numbers.map((value) => value / length);
}
