import { isObject } from '@aps/platform/definitions';
import { badResponse } from './errors';
import type {
  ChatMessage,
  ChatRequest,
  Dialect,
  EmbedRequest,
  Endpoint,
  FinishReason,
  ProviderState,
  RerankRequest,
  StreamEvent,
  ToolCall,
  ToolDefinition,
  Usage,
} from './types';

/** One HTTP POST. The path is appended to the base URL of the endpoint; the body is JSON text. */
export interface WireRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** What a decoder has gathered when its stream is complete. */
export interface DecodedChat {
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  usage?: Usage;
  finishReason: FinishReason;
  /** The provider's own word for it. */
  providerFinish?: string;
  providerModel?: string;
  providerState?: ProviderState;
}

/** Turns the SSE events of one answer into stream events and, at its end, the result. Holds no I/O. */
export interface ChatDecoder {
  /** Something of the answer has arrived; from here on a failure is no plain retry. */
  readonly started: boolean;
  /** Grows with all that carries the answer further: what counts as life. Not so: pings, empty deltas, what only describes the answer. */
  readonly received: number;
  /** The end mark was seen: the answer is whole. */
  readonly done: boolean;
  /** Feeds the `data` of one event. Throws ProviderError for a malformed chunk or an error that the provider streams. */
  push(data: string): void;
  /** The connection closed in good order: may set `done` where the dialect has no mark of its own after the last chunk. */
  end(): void;
  result(): DecodedChat;
}

export interface DecoderContext {
  /** The requested model. */
  model: string;
  /** For scrubbing errors that arrive inside the stream. */
  secrets: readonly string[];
  emit: (event: StreamEvent) => void;
}

export interface Codec {
  dialect: Dialect;
  auth(endpoint: Endpoint): Record<string, string>;
  chat(request: ChatRequest, endpoint: Endpoint): WireRequest;
  decoder(context: DecoderContext): ChatDecoder;
  /** Absent where the dialect serves no embeddings. */
  embed?: {
    /** Texts that one request may carry. */
    batch: number;
    request: (request: EmbedRequest) => WireRequest;
    /** Vectors in input order, and the tokens read as the provider reports them. */
    response: (body: Record<string, unknown>) => { vectors: unknown[]; tokens?: unknown };
  };
  /** Absent where the dialect ranks nothing. */
  rerank?: {
    request: (request: RerankRequest) => WireRequest;
    /** What each document of the answer is said to be worth, by its place in the request, and the tokens read as the provider reports them. */
    response: (body: Record<string, unknown>) => { scores: Map<unknown, unknown>; tokens?: unknown };
  };
}

/**
 * Writes tools in a dialect's words. Each is written once: a tool is the same object in every request, and the tools are most of what
 * a short chat sends.
 *
 * @returns JSON
 */
export function toolWriter(inDialect: (tool: ToolDefinition) => unknown): (tool: ToolDefinition) => string {
  const written = new WeakMap<ToolDefinition, string>();
  return (tool) => {
    let json = written.get(tool);
    if (json === undefined) written.set(tool, (json = JSON.stringify(inDialect(tool))));
    return json;
  };
}

/** The JSON of a body with `tools`, which are JSON already. */
export const bodyWithTools = (body: object, tools: string): string => `${JSON.stringify(body).slice(0, -1)},"tools":[${tools}]}`;

/**
 * The tools of a request, and whether the model may call them. Providers refuse calls in the history of a request without tools, so
 * where the agent has none any more, those that it once called are named, and forbidden.
 */
export function toolsOf({ tools = [], toolUse, messages }: ChatRequest): { tools: ToolDefinition[]; forbidden: boolean } {
  if (tools.length > 0) return { tools, forbidden: toolUse === 'forbidden' };
  const called = new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.name) : [])),
  );
  return { tools: Array.from(called, goneTool), forbidden: called.size > 0 };
}

const goneTool = (name: string): ToolDefinition => ({
  name,
  description: 'No longer available.',
  parameters: { type: 'object', properties: {} },
});

/** Ids of calls that every provider takes: OpenAI no longer ones, Anthropic no other characters. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,40}$/;

/**
 * The messages with ids of calls that every provider takes, and that no two calls share: models have been seen to repeat an id in one
 * answer and in later ones, and a chat may go on with another provider's model. Answers follow their calls. The same conversation gets
 * the same ids each time, so what a provider has cached of it stays cached.
 */
export function withCallIds(messages: ChatMessage[]): ChatMessage[] {
  const used = new Set<string>();
  const open = new Map<string, string[]>();
  let made = 0;
  const idOf = (id: string): string => {
    let own = id;
    while (used.has(own) || !CALL_ID.test(own)) own = `call_${++made}`;
    used.add(own);
    open.set(id, [...(open.get(id) ?? []), own]);
    return own;
  };
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, toolCallId: open.get(message.toolCallId)?.shift() ?? message.toolCallId };
    open.clear();
    if (message.role === 'user' || !message.toolCalls?.length) return message;
    return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: idOf(call.id) })) };
  });
}

/** The JSON of a value that a provider sent. Its own parser takes what is nested more deeply than it can be written again. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw badResponse('the provider sent a tool call that is nested too deeply');
  }
}

/** `arguments` as an object, for the dialects that carry objects; what is none (the model may write anything) is wrapped. */
export function argumentsObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (isObject(value)) return value;
  } catch {
    // falls through: not JSON
  }
  return { invalid_arguments: text };
}

/**
 * The calls of an answer that may be acted on, in their order. Of an answer that its provider filtered, or its model refused, none is: who
 * knows what it would have come to. One that ended at its length may have ended inside its last call.
 */
export function usableCalls(calls: ToolCall[], finishReason: FinishReason): ToolCall[] {
  if (finishReason === 'content_filter' || finishReason === 'refusal') return [];
  return calls.map((call, i) => {
    const nothing = finishReason === 'length' && i === calls.length - 1 ? '' : '{}';
    const args = call.arguments.trim() === '' ? nothing : call.arguments;
    jsonOf(argumentsObject(args)); // it goes back as an object
    return { ...call, arguments: args };
  });
}

/** Whether the stored state of an assistant message may go back to this model. */
export function stateFor(state: ProviderState | undefined, dialect: Dialect, model: string): unknown[] | undefined {
  return state !== undefined && state.dialect === dialect && state.model === model ? state.parts : undefined;
}
