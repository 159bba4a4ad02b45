import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Blockers, Entitlements, refusalOf, requireModelChoice } from '@aps/billing';
import { DomainError, refuseField, type FileInputMode, type ModelMode, type ReasoningEffort } from '@aps/contracts';
import type { PromptRun } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import {
  costOf,
  Holds,
  contentWith,
  InferenceError,
  isRefusal,
  ModelCatalog,
  ModelResolver,
  ReceiptsRepository,
  repairOf,
  sumOf,
  type HoldingWork,
  type WorkHold,
  type ChatMessage,
  type ChatResult,
  type ModelCall,
  type CallCost,
  type ResolvedModel,
  type Usage,
  type UserContent,
} from '@aps/inference';
import { Database, insist, NO_CALLER, storable, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { runtimeConfig } from '@aps/platform/runtime';
import { uuidv7 } from 'uuidv7';
import { extractionOf, schemaOf } from './extraction.policy';
import { PromptFiles, refuseMalformed, type PromptFilesRequest } from './prompt-files';
import { BEAT_MS, PromptRunsRepository, type PromptRunEnd } from './prompt-runs.repository';
import { PromptsQueries, type PromptTemplateView } from './prompts.queries';
import { render } from './variables.policy';

/** Characters of an answer that are read; what is longer is no answer of a prompt. */
export const MAX_OUTPUT = 1_000_000;
const PREVIEW = 200;
/** Of an answer that did not fit, and goes back to the model with what is wrong in it. */
const MAX_SHOWN = 20_000;

/** On its receipts. */
const FEATURE = 'prompt_default';
const CANCELLED = 'cancelled';
/** So long before the end of its process a run is cut. */
const CUT_MS = 3_000;

/** What a template is run on, and with. */
export interface PromptRequest extends PromptFilesRequest {
  variables?: Record<string, unknown>;
  input_text?: string | null;
  /** Instead of the template's. */
  model?: string | null;
  reasoning_effort?: ReasoningEffort | null;
  model_mode?: ModelMode | null;
  /** The same of who cannot know the plan of the day: where models are chosen directly, the template's model comes before it. */
  preferred_mode?: ModelMode | null;
  file_input_mode?: FileInputMode | null;
}

/** A run that nothing stands in the way of any more. */
export interface PreparedPrompt {
  template: PromptTemplateView;
  model: ResolvedModel;
  /** Of a plain template all that is said; of a structured one what the model is told to do. */
  text: string;
  instructions: string | null;
  /** The user's message. */
  input: UserContent;
  /** How that begins. */
  preview: string;
}

/** What is told while it runs; the last is `done` or `error`, and nothing else is either. */
export type PromptFrame =
  | { event: 'token'; data: { text: string } }
  | { event: 'extracting'; data: { fields: string[] } }
  | { event: 'result'; data: { data: Record<string, unknown> } }
  | { event: 'post_processing'; data: { skipped?: true } }
  | { event: 'done'; data: PromptRun }
  | { event: 'error'; data: NonNullable<PromptRun['error']> };

/** Who runs it. */
export interface PromptCaller {
  source: PromptRun['source'];
  /** Of an agent's run. */
  chatId?: string | null;
  turnId?: string | null;
  agentId?: string | null;
  /** Of a process whose step it is. */
  runId?: string;
  /** Names a call that may be made again; see {@link PromptRunner.answerTo}. */
  callKey?: string;
  /** Of who wants it run; see {@link HoldingWork.budget}. */
  budget?: HoldingWork['budget'];
  /** Adds what the run cost where such costs are summed up, or listed with how it has ended; in the transaction of its receipt. */
  charge?: (tx: Tx, cost: CallCost, run: PromptRun) => Promise<void>;
}

export interface PromptRunOptions extends PromptCaller {
  /** Aborted: the model call is cut, and the run is `cancelled`. */
  signal: AbortSignal;
  tell: (frame: PromptFrame) => void;
}

/** Why a run failed that no provider is to blame for. */
class PromptFailure extends Error {
  constructor(
    readonly code: 'extraction_invalid' | 'output_too_long' | 'model_refused' | 'model_interrupted',
    message: string,
  ) {
    super(message);
  }
}

/** What a run has come to so far. */
interface Work {
  readonly hold: WorkHold;
  output: string | null;
  data: Record<string, unknown> | null;
  usage: Usage | null;
}

/** Runs prompt templates in this process: one call of a model for a plain one; for a structured one up to three. */
@Injectable()
export class PromptRunner implements BeforeApplicationShutdown {
  private readonly logger = new Logger('PromptRunner');
  private readonly ending = new AbortController();

  constructor(
    private readonly db: Database,
    private readonly templates: PromptsQueries,
    private readonly runs: PromptRunsRepository,
    private readonly entitlements: Entitlements,
    private readonly blockers: Blockers,
    private readonly catalog: ModelCatalog,
    private readonly resolver: ModelResolver,
    private readonly holds: Holds,
    private readonly receipts: ReceiptsRepository,
    private readonly files: PromptFiles,
  ) {}

  /**
   * Everything that can be refused is refused here. Never inside a transaction: files may be far away.
   *
   * @param signal ends the reading of files
   * @throws DomainError 404; 403 `entitlement_required`; 402 of a closed gate; 422 `plan_mismatch`, `model_unknown`, `model_not_allowed`,
   *   `model_not_callable`, `model_not_priced`, `template_empty`, `input_missing`, `missing_variables`, `prompt_too_long`, and those of files
   */
  async prepare(scope: OrgScope, ref: string, request: PromptRequest, signal: AbortSignal): Promise<PreparedPrompt> {
    refuseMalformed(request.attachments);
    const template = await this.templates.get(scope, ref);
    const structured = template.fields.length > 0;
    const blocker = await this.blockers.of(scope.orgId);
    // The budget is of what chats spend; a run in one asks before each call.
    if (blocker?.code === 'credits_exhausted') throw refusalOf(blocker);
    const model = await this.modelFor(scope, template, request);
    if (template.text === null && !structured) throw new DomainError('template_empty', 'The template has neither a text nor fields.');
    if (structured && !request.input_text && !request.input_url)
      throw refuseField('input_missing', ['input_text'], 'There is nothing to extract from.');
    const texts = { text: template.text, instructions: structured ? template.post_processing_instructions : null };
    const { text, instructions } = render(texts, request.variables ?? {});
    const given = structured ? request : { attachments: request.attachments };
    const mode = request.file_input_mode ?? template.file_input_mode;
    const files = await this.files.read(scope, given, { vision: model.entry.supports_vision, mode }, signal);
    const said = (structured ? request.input_text : text) ?? '';
    return { template, model, text: text ?? '', instructions, input: contentWith(said, files), preview: said || (files[0]?.content ?? '') };
  }

  /** Runs what was prepared, to its end. Whatever happens on the way is told, and noted. */
  async run(scope: OrgScope, prepared: PreparedPrompt, options: PromptRunOptions): Promise<void> {
    if (options.signal.aborted) return;
    const id = uuidv7();
    const { chatId = null, agentId = null, callKey = id, budget } = options;
    const work = { orgId: scope.orgId, chatId, agentId, name: `prompt:${callKey}`, feature: FEATURE, receiptId: id, budget };
    await this.holds.holding(work, (hold) => this.runHolding(hold, id, scope, prepared, options));
  }

  private async runHolding(
    hold: WorkHold,
    id: string,
    scope: OrgScope,
    prepared: PreparedPrompt,
    { signal, tell, ...caller }: PromptRunOptions,
  ): Promise<void> {
    const { source, chatId: chat_id = null, callKey: call_key = null } = caller;
    const { template, model } = prepared;
    const input_preview = storable(prepared.preview.slice(0, PREVIEW)) || null;
    const named = { id, template_id: template.id, revision_id: template.revision_id, model: model.resolved_model };
    await this.db.transaction(scope, (tx) => this.runs.begin(tx, scope, { ...named, source, chat_id, call_key, input_preview }));
    const beat = setInterval(() => void this.runs.beat(this.db, id).catch(() => undefined), BEAT_MS);
    const started = performance.now();
    const work: Work = { hold, output: null, data: null, usage: null };
    // What a worker runs for others, their own leases cut.
    const cut = source === 'test' ? AbortSignal.any([signal, this.ending.signal]) : signal;
    let error: PromptRun['error'] = null;
    try {
      await (template.fields.length ? this.extract(prepared, work, cut, tell) : this.answer(prepared, work, cut, tell));
    } catch (cause) {
      error = this.errorOf(cause, signal);
    }
    try {
      const status = error === null ? 'succeeded' : error.code === CANCELLED ? 'cancelled' : 'failed';
      const how = { status, error, duration_ms: Math.round(performance.now() - started) } as const;
      const ended = await this.end(scope, id, how, work, caller);
      if (!hold.receipts.length) await hold.release();
      tell(ended.status === 'succeeded' ? { event: 'done', data: ended } : { event: 'error', data: ended.error! });
    } catch (cause) {
      await hold.release();
      tell({ event: 'error', data: this.errorOf(cause, signal) });
    } finally {
      clearInterval(beat);
    }
  }

  /** What cannot end within the grace of its process is cut, while there is time to tell and to note it. */
  beforeApplicationShutdown(): void {
    setTimeout(() => this.ending.abort(), Math.max(0, runtimeConfig.value.shutdownGraceMs - CUT_MS)).unref();
  }

  /** What a call has been answered with before, which its caller could not note any more. */
  answerTo(scope: OrgScope, callKey: string): Promise<PromptRun | null> {
    return this.runs.answerTo(this.db, scope, callKey);
  }

  /** Newest first. @throws DomainError `not_found` */
  async runsOf(scope: OrgScope, ref: string, page: Slice): Promise<Listed<PromptRun>> {
    const { id } = await this.templates.get(scope, ref);
    return this.runs.list(this.db, scope, id, page);
  }

  private async modelFor(scope: OrgScope, template: PromptTemplateView, request: PromptRequest): Promise<ResolvedModel> {
    const entitled = await this.entitlements.of(scope.orgId);
    const model = request.model === template.model ? null : request.model;
    const effort = request.reasoning_effort === template.reasoning_effort ? null : request.reasoning_effort;
    requireModelChoice(entitled, { names: Boolean(model ?? effort), mode: Boolean(request.model_mode) }, 'model_mode');
    if (model) await this.catalog.assertKnownChatModel(this.db, scope, model, 'prompt');
    const requested = entitled.direct_model_choice
      ? { messageModel: model ?? template.model, reasoningEffort: effort ?? template.reasoning_effort, chatMode: request.preferred_mode }
      : { chatMode: request.model_mode ?? request.preferred_mode ?? 'normal' };
    return this.resolver.requireCallable({ orgId: scope.orgId, scope: 'prompt', requested });
  }

  private async answer({ model, input }: PreparedPrompt, work: Work, signal: AbortSignal, tell: PromptRunOptions['tell']): Promise<void> {
    let told = false;
    const messages: ChatMessage[] = [{ role: 'user', content: input }];
    const { text: output } = await this.ask(model, work, { messages }, signal, {
      onText: (piece) => {
        told = true;
        tell({ event: 'token', data: { text: piece } });
      },
      onRestart: () => {
        // What was told cannot be taken back.
        if (told) throw new PromptFailure('model_interrupted', 'The answer broke off.');
      },
    });
    work.output = storable(output);
  }

  private async extract(prepared: PreparedPrompt, work: Work, signal: AbortSignal, tell: PromptRunOptions['tell']): Promise<void> {
    const { template, model, text, instructions, input } = prepared;
    tell({ event: 'extracting', data: { fields: template.fields.map(({ name }) => name) } });
    const call = {
      ...(text && { system: text }),
      messages: [{ role: 'user', content: input }] as ChatMessage[],
      responseFormat: { name: 'extraction', schema: schemaOf(template.fields) },
    };
    const first = await this.ask(model, work, call, signal);
    let extraction = extractionOf(first.text, template.fields);
    if ('mistakes' in extraction) {
      // Who has said nothing is asked the same again.
      const said: ChatMessage[] = first.text.trim()
        ? [
            { role: 'assistant', text: first.text.slice(0, MAX_SHOWN) },
            { role: 'user', content: repairOf(extraction.mistakes) },
          ]
        : [];
      const messages = [...call.messages, ...said];
      const second = await this.ask(model, work, { ...call, messages }, signal);
      extraction = extractionOf(second.text, template.fields);
    }
    if ('mistakes' in extraction) throw new PromptFailure('extraction_invalid', 'The model did not answer with what was asked for, twice.');
    work.data = storable(extraction.data);
    tell({ event: 'result', data: { data: work.data } });
    tell({ event: 'post_processing', data: instructions === null ? { skipped: true } : {} });
    const json = JSON.stringify(work.data);
    if (instructions === null) work.output = json;
    else
      work.output = storable(
        (await this.ask(model, work, { system: instructions, messages: [{ role: 'user', content: json }] }, signal)).text,
      );
  }

  /** One call, whose tokens count whatever is made of its answer; those of one that was cut are not known. */
  private async ask(
    model: ResolvedModel,
    work: Work,
    call: Omit<ModelCall, 'feature'>,
    signal: AbortSignal,
    { onText, onRestart }: { onText?: (text: string) => void; onRestart?: () => void } = {},
  ): Promise<ChatResult> {
    let length = 0;
    const asked: ModelCall = { ...call, feature: 'prompt' };
    const result = await work.hold.ask(model, asked, {
      signal,
      onEvent: (event) => {
        if (event.type !== 'text') return;
        length += event.text.length;
        if (length > MAX_OUTPUT) throw new PromptFailure('output_too_long', `The answer has more than ${MAX_OUTPUT} characters.`);
        onText?.(event.text);
      },
      onRestart: () => {
        length = 0;
        onRestart?.();
      },
    });
    work.usage = work.usage ? sumOf(work.usage, result.usage) : result.usage;
    if (isRefusal(result.finishReason)) throw new PromptFailure('model_refused', 'The model did not answer this.');
    return result;
  }

  /** Run and receipt together: what is shown as its cost is what is charged. Tried again, since the tokens are spent whatever the database says. */
  private async end(
    scope: OrgScope,
    id: string,
    how: Pick<PromptRunEnd, 'status' | 'error' | 'duration_ms'>,
    { hold, output, data, usage }: Work,
    { chatId: chat_id, turnId: turn_id, agentId: agent_id, runId: run_id, charge }: PromptCaller,
  ): Promise<PromptRun> {
    // By the run's id: what is tried again after a commit whose answer was lost, charges nothing and finds the run as it ended.
    const { receipts } = hold;
    const owner = { org_id: scope.orgId, chat_id, turn_id, agent_id, run_id };
    const { usd_cost: cost_usd, credits: cost_credits } = costOf(receipts);
    // Not for the caller to lose, who may have gone.
    const write = () =>
      this.db.transaction(NO_CALLER, async (tx) => {
        const run = await this.runs.end(tx, id, { ...how, output, data, usage, cost_usd, cost_credits });
        // Receipts come last: what they burn is taken under the lock of their organization's credits.
        await this.receipts.insertOnce(tx, receipts, owner, async (cost) => charge?.(tx, cost, run));
        return run;
      });
    return insist(write);
  }

  private errorOf(cause: unknown, signal: AbortSignal): NonNullable<PromptRun['error']> {
    if (signal.aborted) return { code: CANCELLED, message: 'The caller has gone.' };
    if (this.ending.signal.aborted) return { code: 'worker_lost', message: 'The process that ran it is shutting down.', retryable: true };
    if (cause instanceof PromptFailure) return { code: cause.code, message: cause.message, retryable: cause.code === 'model_interrupted' };
    if (cause instanceof InferenceError) return { code: cause.code, message: cause.message, retryable: cause.retryable };
    this.logger.error({ msg: 'A prompt could not be run', error: (cause as Error).stack });
    return { code: 'internal_error', message: 'Something went wrong on our side.' };
  }
}
