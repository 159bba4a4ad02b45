import type { ReasoningEffort } from '@aps/contracts';
import type { Dispatcher } from 'undici';

/** dialect_1 OpenAI Chat Completions, dialect_2 Anthropic Messages, dialect_3 Google generateContent. */
export type Dialect = 'dialect_1' | 'dialect_2' | 'dialect_3';

/** Where a call goes and with what credential. */
export interface Endpoint {
  dialect: Dialect;
  /** The vendor SDK's base, version path included: `https://api.openai.com/v1`. Its query string, if any, is kept. */
  baseUrl: string;
  /** Sent as the dialect's key header; left out, no key is sent (a gateway that holds the key, the mock). */
  apiKey?: string;
  /** Added to every request (gateway authorization and the like). The values count as secrets when messages are scrubbed. */
  headers?: Record<string, string>;
  /** Connects in place of the client's own dispatcher; the guarded one for addresses that a tenant chose. */
  dispatcher?: Dispatcher;
}

export interface TextPart {
  type: 'text';
  text: string;
}

export interface ImagePart {
  type: 'image';
  /** `image/png`, `image/jpeg`, `image/webp` or `image/gif` */
  mediaType: string;
  /** The bytes in base64, without a `data:` prefix. Never an address: the provider would fetch it for a tenant. */
  base64: string;
}

export interface DocumentPart {
  type: 'document';
  mediaType: 'application/pdf';
  /** The bytes in base64, without a `data:` prefix; see {@link ImagePart}. */
  base64: string;
  filename?: string;
}

export type ContentPart = TextPart | ImagePart | DocumentPart;
export type UserContent = string | ContentPart[];

export interface ToolCall {
  /** Unique in the chat; the provider's own, or made by us where it gives none (dialect_3). */
  id: string;
  name: string;
  /**
   * JSON text as the model wrote it: not parsed, not validated; `{}` when it wrote nothing. Where the answer ended at its length, that
   * may be inside the last call; its arguments are what had come until then, and no JSON.
   */
  arguments: string;
}

/**
 * What a provider wants back word for word in later calls: thinking blocks with their signatures in their original order,
 * thought signatures. Opaque JSON, to be stored with the assistant message. It is bound to the model that made it, so it
 * is ignored (the message is rebuilt from its text and tool calls) when the dialect or the model differs.
 */
export interface ProviderState {
  dialect: Dialect;
  model: string;
  parts: unknown[];
}

export type ChatMessage =
  | { role: 'user'; content: UserContent }
  | { role: 'assistant'; text?: string; toolCalls?: ToolCall[]; providerState?: ProviderState }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; isError?: boolean };

export interface ToolDefinition {
  /** `[a-zA-Z0-9_-]{1,64}` */
  name: string;
  description?: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

/** What an answer in JSON looks like. */
export interface ResponseFormat {
  /** `[a-zA-Z0-9_-]{1,64}` */
  name: string;
  /** JSON Schema of an object. */
  schema: Record<string, unknown>;
}

export interface ChatRequest {
  /** The provider's own model id. */
  model: string;
  system?: string;
  /** Every tool call of an assistant message must be answered by tool messages right after it; providers refuse else. */
  messages: ChatMessage[];
  tools?: ToolDefinition[];
  /** The model must answer in words: tools are sent, since what was called before is of them, and their use is forbidden. */
  toolUse?: 'forbidden';
  /**
   * The model must answer in JSON, by the provider's own mode. How far a provider holds its model to the schema differs, so whoever needs JSON
   * that fits checks the text; of an answer that was cut, filtered or refused it is none.
   */
  responseFormat?: ResponseFormat;
  /** Cap on output tokens, reasoning included. dialect_2 requires one: 4,096 where unset. */
  maxOutputTokens?: number;
  /** Left out: the model's default. */
  reasoningEffort?: ReasoningEffort;
  /** What the call is for (`turn`, `title`, `compaction`, …); sent as `x-feature`. */
  feature: string;
}

export type StreamEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** Comes once per call, after the end mark of the stream: an answer that breaks off never yields one. */
  | ({ type: 'tool_call' } & ToolCall);

/** Tokens. The five are disjoint: nothing is counted twice, and their sum is what the provider bills for. */
export interface Usage {
  input: number;
  cached_input: number;
  cache_write: number;
  output: number;
  reasoning: number;
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'other';

export interface ChatResult {
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  usage: Usage;
  /** True where the provider gave no usage and one token per four characters was counted instead. */
  usageEstimated: boolean;
  finishReason: FinishReason;
  /** The same in the provider's own word; null where it gave none. */
  providerFinish: string | null;
  /** The model that the provider says it ran; the requested one where it does not say. */
  providerModel: string;
  /** Milliseconds from the call to the first event that the caller saw (that of a restarted answer counts); null: none. */
  firstTokenMs: number | null;
  /** Milliseconds from the call to its end, retries included. */
  durationMs: number;
  /** HTTP requests sent, retries included. */
  attempts: number;
  providerState?: ProviderState;
}

export interface EmbedRequest {
  model: string;
  /** At least one text; an empty one is sent as it is. */
  input: string[];
  dimensions?: number;
  feature?: string;
}

export interface RerankRequest {
  model: string;
  query: string;
  /** At least one. */
  documents: string[];
  feature?: string;
}

export interface RerankResult {
  /** Places in the request, what answers the query best first; each once. */
  order: number[];
  usage: Usage;
  usageEstimated: boolean;
}

export interface EmbedResult {
  /** One per input, in its order, each of length 1. */
  vectors: number[][];
  usage: Usage;
  usageEstimated: boolean;
}
