import type { ChatRequest, Dialect, EmbedRequest, Endpoint, FinishReason, ProviderState, StreamEvent, ToolCall, ToolDefinition, Usage } from './types';

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
  providerModel?: string;
  providerState?: ProviderState;
}

/** Turns the SSE events of one answer into stream events and, at its end, the result. Holds no I/O. */
export interface ChatDecoder {
  /** Something of the answer has arrived; from here on a failure is no plain retry. */
  readonly started: boolean;
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
    /** Vectors in input order, and the tokens read where the provider says so. */
    response: (body: Record<string, unknown>) => { vectors: unknown[]; tokens?: number };
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

/** `arguments` as an object, for the dialects that carry objects; what is none (the model may write anything) is wrapped. */
export function argumentsObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // falls through: not JSON
  }
  return { invalid_arguments: text };
}

/** An answer that ran into its output cap may end inside a tool call; such a call is not one. */
export function wholeCalls(calls: ToolCall[], finishReason: FinishReason): ToolCall[] {
  if (finishReason !== 'length') return calls;
  return calls.filter((call) => {
    try {
      JSON.parse(call.arguments);
      return true;
    } catch {
      return false;
    }
  });
}

/** Whether the stored state of an assistant message may go back to this model. */
export function stateFor(state: ProviderState | undefined, dialect: Dialect, model: string): unknown[] | undefined {
  return state !== undefined && state.dialect === dialect && state.model === model ? state.parts : undefined;
}
