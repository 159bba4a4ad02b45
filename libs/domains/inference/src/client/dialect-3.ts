import type { ReasoningEffort } from '@aps/contracts';
import { isObject } from '@aps/platform/definitions';
import { randomUUID } from 'node:crypto';
import type { ChatDecoder, Codec, DecodedChat, DecoderContext, WireRequest } from './codec';
import { argumentsObject, bodyWithTools, jsonOf, stateFor, toolsOf, toolWriter, usableCalls, withCallIds } from './codec';
import { asObject, badResponse, parseChunk, streamError } from './errors';
import { geminiSchema } from './gemini-schema';
import type { ChatMessage, ChatRequest, EmbedRequest, FinishReason, ToolCall, ToolDefinition, Usage } from './types';
import { count, credible } from './usage';

type Part = Record<string, unknown>;
interface Content {
  role: 'user' | 'model';
  parts: Part[];
}

/** Marks the ids that we made: the provider never saw them and is not told. */
const OWN_ID = 'call_own_';
/** What the API takes in place of a signature for a call that another model made; Gemini 3 refuses a call without any. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Google generateContent, streamed. */
function chat(request: ChatRequest): WireRequest {
  const body: Record<string, unknown> = { contents: contents(request) };
  if (request.system) body.systemInstruction = { parts: [{ text: request.system }] };
  const generation: Record<string, unknown> = {};
  if (request.maxOutputTokens !== undefined) generation.maxOutputTokens = request.maxOutputTokens;
  const thinking = request.reasoningEffort && thinkingConfig(request.model, request.reasoningEffort);
  if (thinking) generation.thinkingConfig = thinking;
  // An object without properties has no schema there; the type alone asks for JSON.
  if (request.responseFormat)
    Object.assign(generation, { responseMimeType: 'application/json', responseSchema: geminiSchema(request.responseFormat.schema) });
  if (Object.keys(generation).length > 0) body.generationConfig = generation;
  const { tools, forbidden } = toolsOf(request);
  if (forbidden) body.toolConfig = { functionCallingConfig: { mode: 'NONE' } };
  return {
    path: `/models/${modelPath(request.model)}:streamGenerateContent?alt=sse`,
    headers: {},
    body: tools.length ? bodyWithTools(body, `{"functionDeclarations":[${tools.map(declarationJson).join()}]}`) : JSON.stringify(body),
  };
}

function modelPath(model: string): string {
  return encodeURIComponent(model.replace(/^models\//, ''));
}

function declaration({ name, description, parameters }: ToolDefinition): Part {
  const schema = geminiSchema(parameters);
  return { name, description: description ?? name, ...(schema && { parameters: schema }) };
}

const declarationJson = toolWriter(declaration);

function contents(request: ChatRequest): Content[] {
  const out: Content[] = [];
  for (const message of withCallIds(request.messages)) {
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = wireParts(message, request.model);
    if (parts.length === 0) continue;
    const previous = out.at(-1);
    if (previous?.role === role) previous.parts.push(...parts);
    else out.push({ role, parts });
  }
  return out;
}

function wireParts(message: ChatMessage, model: string): Part[] {
  if (message.role === 'tool') {
    const name = message.toolName;
    return [{ functionResponse: { ...ownId(message.toolCallId), name, response: responseObject(message.content, message.isError) } }];
  }
  if (message.role === 'user') {
    const parts = typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content;
    return parts
      .filter((part) => part.type !== 'text' || part.text !== '')
      .map((part) => (part.type === 'text' ? { text: part.text } : { inlineData: { mimeType: part.mediaType, data: part.base64 } }));
  }
  const kept = stateFor(message.providerState, 'dialect_3', model);
  if (kept) return withCalls(kept as Part[], message.toolCalls);
  const calls = (message.toolCalls ?? []).map((call, index) => ({
    functionCall: { ...ownId(call.id), name: call.name, args: argumentsObject(call.arguments) },
    ...(index === 0 && generation(model) >= 3 && { thoughtSignature: NO_SIGNATURE }),
  }));
  return [...(message.text ? [{ text: message.text }] : []), ...calls];
}

/**
 * The calls are told by the message, in the same order: what is kept has them as the model wrote them, ids that it gave twice included.
 * What else stands in such a part, its signature above all, goes back as it came.
 */
function withCalls(kept: Part[], calls: ToolCall[] = []): Part[] {
  const left = [...calls];
  return kept.flatMap((part) => {
    if (part.functionCall === undefined) return [part];
    return left
      .splice(0, 1)
      .map((call) => ({ ...part, functionCall: { ...asObject(part.functionCall), ...ownId(call.id), name: call.name } }));
  });
}

function ownId(id: string): { id?: string } {
  return id.startsWith(OWN_ID) ? {} : { id };
}

/** A response must be an object. */
function responseObject(content: string, isError?: boolean): Record<string, unknown> {
  if (isError) return { error: content };
  try {
    const value: unknown = JSON.parse(content);
    return isObject(value) ? value : { result: value };
  } catch {
    return { result: content };
  }
}

/** `gemini-3-pro` 3, `gemini-2.5-flash` 2.5; 0 for other models. */
function generation(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
}

const LEVEL: Record<ReasoningEffort, string> = {
  none: 'low',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
};
const BUDGET: Record<ReasoningEffort, number> = { none: 0, minimal: 512, low: 2048, medium: 8192, high: 24576, xhigh: 24576 };

/** From 3 on a level, where `none` is the lowest that every model takes; 2.5 a token budget, which its Pro cannot set to 0. */
function thinkingConfig(model: string, effort: ReasoningEffort): Part | undefined {
  const version = generation(model);
  const includeThoughts = effort !== 'none';
  if (version >= 3) return { thinkingLevel: LEVEL[effort], includeThoughts };
  if (version < 2.5) return undefined;
  return { thinkingBudget: effort === 'none' && model.includes('pro') ? 128 : BUDGET[effort], includeThoughts };
}

const FINISH: Record<string, FinishReason> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
};

class Decoder implements ChatDecoder {
  started = false;
  received = 0;
  /** Stays false until the connection ends: chunks with usage may follow the one that has the finish reason. */
  done = false;
  private text = '';
  private reasoning = '';
  private readonly toolCalls: ToolCall[] = [];
  private readonly parts: Part[] = [];
  private signed = false;
  private usage?: Usage;
  private finish?: FinishReason;
  private providerFinish?: string;
  private providerModel?: string;

  constructor(private readonly context: DecoderContext) {}

  push(data: string): void {
    const chunk = parseChunk(data);
    if (chunk.error) throw streamError(chunk, this.context.secrets);
    if (typeof chunk.modelVersion === 'string') this.providerModel = chunk.modelVersion;
    if (chunk.usageMetadata) this.usage = readUsage(asObject(chunk.usageMetadata)) ?? this.usage;
    const { blockReason } = asObject(chunk.promptFeedback);
    if (blockReason) this.ended('content_filter', blockReason);
    const candidate = asObject(Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined);
    const { parts } = asObject(candidate.content);
    if (Array.isArray(parts)) for (const part of parts) this.part(asObject(part));
    if (typeof candidate.finishReason === 'string') this.ended(FINISH[candidate.finishReason] ?? 'other', candidate.finishReason);
  }

  private ended(finish: FinishReason, word: unknown): void {
    this.received++;
    this.finish = finish;
    this.providerFinish = String(word);
  }

  private part(part: Part): void {
    if (part.text !== '' || part.thoughtSignature) {
      this.started = true;
      this.received++;
    }
    if (typeof part.thoughtSignature === 'string') this.signed = true;
    if (part.functionCall !== undefined) this.call(part);
    else if (typeof part.text === 'string') this.words(part, part.text);
    else this.parts.push(part);
  }

  private call(part: Part): void {
    const { id, name, args } = asObject(part.functionCall);
    if (typeof name !== 'string' || name === '') throw badResponse('the provider sent a tool call without a name');
    // Calls carry an id from Gemini 3 on only, and ours must be unique in the whole chat.
    const callId = typeof id === 'string' && id !== '' ? id : `${OWN_ID}${randomUUID().slice(0, 18)}`;
    this.toolCalls.push({ id: callId, name, arguments: jsonOf(args ?? {}) });
    this.parts.push(part);
  }

  private words(part: Part, text: string): void {
    if (text !== '') {
      if (part.thought === true) this.reasoning += text;
      else this.text += text;
      this.context.emit({ type: part.thought === true ? 'reasoning' : 'text', text });
    }
    const previous = this.parts.at(-1);
    // Deltas are joined again, but never across a signature: it belongs to exactly its part.
    const joins =
      previous &&
      typeof previous.text === 'string' &&
      previous.thought === part.thought &&
      !previous.thoughtSignature &&
      !part.thoughtSignature;
    if (joins) previous.text = `${previous.text as string}${text}`;
    else if (text !== '' || part.thoughtSignature) this.parts.push({ ...part });
  }

  end(): void {
    if (this.finish !== undefined) this.done = true;
  }

  result(): DecodedChat {
    const finish = this.finish ?? 'other';
    const toolCalls = usableCalls(this.toolCalls, finish);
    return {
      text: this.text,
      reasoning: this.reasoning,
      toolCalls,
      usage: credible(this.usage),
      finishReason: finish === 'stop' && toolCalls.length > 0 ? 'tool_calls' : finish,
      providerFinish: this.providerFinish,
      providerModel: this.providerModel,
      // Thought summaries are for people; only what is signed must go back.
      providerState: this.signed
        ? {
            dialect: 'dialect_3',
            model: this.context.model,
            parts: this.parts.filter((part) => part.thought !== true || part.thoughtSignature),
          }
        : undefined,
    };
  }
}

/** `promptTokenCount` holds the cached ones; `candidatesTokenCount` excludes the thoughts. */
function readUsage(usage: Record<string, unknown>): Usage | undefined {
  if (usage.promptTokenCount === undefined && usage.candidatesTokenCount === undefined) return undefined;
  const cached = count(usage.cachedContentTokenCount);
  return {
    input: Math.max(0, count(usage.promptTokenCount) - cached) + count(usage.toolUsePromptTokenCount),
    cached_input: cached,
    cache_write: 0,
    output: count(usage.candidatesTokenCount),
    reasoning: count(usage.thoughtsTokenCount),
  };
}

export const dialect3: Codec = {
  dialect: 'dialect_3',
  auth: (endpoint): Record<string, string> => (endpoint.apiKey ? { 'x-goog-api-key': endpoint.apiKey } : {}),
  chat,
  decoder: (context) => new Decoder(context),
  embed: {
    batch: 100,
    request: ({ model, input, dimensions }: EmbedRequest) => {
      const name = model.replace(/^models\//, '');
      const requests = input.map((text) => ({ model: `models/${name}`, content: { parts: [{ text }] }, outputDimensionality: dimensions }));
      return { path: `/models/${modelPath(name)}:batchEmbedContents`, headers: {}, body: JSON.stringify({ requests }) };
    },
    response: (body) => {
      if (!Array.isArray(body.embeddings)) throw badResponse('the provider sent no embeddings');
      return { vectors: body.embeddings.map((item) => asObject(item).values), tokens: asObject(body.usageMetadata).promptTokenCount };
    },
  },
};
