import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Egress } from '@aps/platform/egress';
import { counter, durationHistogram } from '@aps/platform/observability';
import { beginSpan, failSpan } from '@aps/platform/tracing';
import {
  ModelClient,
  type ChatRequest,
  type ChatResult,
  type EmbedRequest,
  type EmbedResult,
  type Endpoint,
  type RerankRequest,
  type RerankResult,
  type StreamOptions,
  type Usage,
} from './client';
import { outputCapOf } from './holds/estimate.policy';
import { inferenceConfig } from './inference.config';
import { InferenceError } from './inference.errors';
import type { ResolvedModel } from './choice/model-resolver.service';

/** What a caller says; model, effort and cap come from the resolution. */
export type ModelCall = Omit<ChatRequest, 'model' | 'reasoningEffort'>;
export type EmbedCall = Omit<EmbedRequest, 'model'>;
export type RerankCall = Omit<RerankRequest, 'model'>;

const seconds = durationHistogram('model_call_duration_seconds', 'Time of a model call, retries included', ['route', 'model', 'outcome']);
const tokens = counter('model_tokens_total', 'Tokens of model calls', ['route', 'model', 'kind']);
const retries = counter('model_call_retries_total', 'HTTP requests to providers beyond the first of each call', ['route', 'model']);

/**
 * Organizations name their own routes and models; as labels they would be without bound, and tell operators what tenants do. What is called
 * by their own keys is theirs as well: operators have no other figures of it than of their own routes.
 */
const labelsOf = ({ byo_key, route, entry }: ResolvedModel) => ({
  route: byo_key ? 'own' : route.slug,
  model: entry.owner_org_id === null ? entry.key : 'own',
});

/** Codes of what a provider says of the account that asks: its name, its limits, what is left of it. That is for whoever has the account. */
const OF_ACCOUNT = new Set(['provider_auth', 'provider_rate_limited']);

/** Calls resolved models: guarded where the organization chose the address, measured, and with one kind of error. */
@Injectable()
export class ModelCalls implements OnApplicationShutdown {
  private readonly logger = new Logger('ModelCalls');
  private readonly client = new ModelClient({ limits: { totalMs: inferenceConfig.value.modelCallMaxS * 1000 } });

  constructor(private readonly egress: Egress) {}

  /**
   * Streams one answer.
   *
   * @throws InferenceError, or the reason of the signal, or what `onEvent` threw
   */
  streamChat(model: ResolvedModel, call: ModelCall, options: StreamOptions = {}): Promise<ChatResult> {
    const cap = outputCapOf(model, call);
    const request: ChatRequest = {
      ...call,
      model: model.remote_model_id,
      ...(cap !== undefined && { maxOutputTokens: cap }),
      ...(model.reasoning_effort !== null && { reasoningEffort: model.reasoning_effort }),
    };
    return this.measured(model, options.signal, () => this.client.streamChat(this.endpoint(model), request, options));
  }

  /** @throws InferenceError, or the reason of the signal */
  embed(model: ResolvedModel, call: EmbedCall, options: { signal?: AbortSignal } = {}): Promise<EmbedResult> {
    return this.measured(model, options.signal, () =>
      this.client.embed(this.endpoint(model), { ...call, model: model.remote_model_id }, options),
    );
  }

  /** @throws InferenceError, or the reason of the signal */
  rerank(model: ResolvedModel, call: RerankCall, options: { signal?: AbortSignal } = {}): Promise<RerankResult> {
    return this.measured(model, options.signal, () =>
      this.client.rerank(this.endpoint(model), { ...call, model: model.remote_model_id }, options),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }

  private endpoint({ endpoint }: ResolvedModel): Endpoint {
    return {
      dialect: endpoint.dialect,
      baseUrl: endpoint.baseUrl,
      apiKey: endpoint.apiKey,
      headers: endpoint.headers,
      ...(endpoint.tenantAddress && { dispatcher: this.egress.dispatcherFor({ purpose: 'inference' }) }),
    };
  }

  private async measured<R extends { usage: Usage; attempts?: number }>(
    model: ResolvedModel,
    signal: AbortSignal | undefined,
    call: () => Promise<R>,
  ): Promise<R> {
    const labels = labelsOf(model);
    const stop = seconds.startTimer(labels);
    const span = beginSpan('model call', { kind: 'client', attributes: { 'aps.route': labels.route, 'aps.model': labels.model } });
    const retried = (attempts: number) => attempts > 1 && retries.inc(labels, attempts - 1);
    try {
      const result = await call();
      stop({ outcome: 'ok' });
      for (const [kind, count] of Object.entries(result.usage)) span.setAttribute(`aps.tokens.${kind}`, count as number);
      retried(result.attempts ?? 1);
      for (const [kind, count] of Object.entries(result.usage)) if (count) tokens.inc({ ...labels, kind }, count as number);
      return result;
    } catch (cause) {
      const error = this.withoutAccount(InferenceError.from(cause, model), model);
      const outcome = signal?.aborted ? 'aborted' : error instanceof InferenceError ? error.code : 'internal';
      stop({ outcome });
      if (outcome === 'aborted') span.setAttribute('aps.outcome', outcome);
      else failSpan(span, outcome);
      if (error instanceof InferenceError) retried(error.attempts);
      throw error;
    } finally {
      span.end();
    }
  }

  /** What is said of the platform's account goes to the log, and no further. */
  private withoutAccount(error: unknown, model: ResolvedModel): unknown {
    if (model.byo_key || !(error instanceof InferenceError) || error.status === undefined || !OF_ACCOUNT.has(error.code)) return error;
    this.logger.warn({ msg: 'A provider refused a call with a key of the platform', ...labelsOf(model), error: error.message });
    return new InferenceError(error.code, `the provider answered ${error.status}`, error);
  }
}
