export { ProviderError, type ProviderErrorCode } from './errors';
export { ModelClient, type ModelClientOptions, type StreamOptions } from './model-client';
export { DEFAULT_LIMITS, type Limits, type Sleep } from './retry';
export type {
  ChatMessage,
  ChatRequest,
  ChatResult,
  Dialect,
  DocumentPart,
  EmbedRequest,
  EmbedResult,
  Endpoint,
  FinishReason,
  ImagePart,
  ProviderState,
  RerankRequest,
  RerankResult,
  ResponseFormat,
  StreamEvent,
  TextPart,
  ToolCall,
  ToolDefinition,
  Usage,
  UserContent,
} from './types';
export { sumOf, tokensOf, tokensOfCalls, tokensOfPrompt, withinTokens } from './usage';
