import type { ChatDecoder, Codec, DecodedChat, DecoderContext, WireRequest } from './codec';
import { argumentsObject, bodyWithTools, toolsOf, toolWriter, usableCalls, withCallIds } from './codec';
import { asObject, badResponse, parseChunk, streamError } from './errors';
import { grammarSchema } from './grammar-schema';
import { toolSchema } from './tool-schema';
import type {
  ChatMessage,
  ChatRequest,
  ContentPart,
  EmbedRequest,
  FinishReason,
  RerankRequest,
  ResponseFormat,
  ToolCall,
  Usage,
} from './types';
import { count, credible } from './usage';

const toolJson = toolWriter(({ name, description, parameters }) => ({
  type: 'function',
  function: { name, description, parameters: toolSchema(parameters) },
}));

/**
 * OpenAI Chat Completions.
 *
 * The output cap goes out as `max_completion_tokens`: it is the field of the current API, the only one that OpenAI's
 * reasoning models take (`max_tokens` is answered 400 there), and the newer compatible servers know it. Sending both would be
 * refused by OpenAI.
 */
function chat(request: ChatRequest): WireRequest {
  const messages: unknown[] = request.system ? [{ role: 'system', content: request.system }] : [];
  for (const message of withCallIds(request.messages)) messages.push(wireMessage(message));
  const body: Record<string, unknown> = { model: request.model, messages, stream: true, stream_options: { include_usage: true } };
  if (request.maxOutputTokens !== undefined) body.max_completion_tokens = request.maxOutputTokens;
  if (request.reasoningEffort !== undefined) body.reasoning_effort = request.reasoningEffort;
  if (request.responseFormat) body.response_format = responseFormat(request.responseFormat);
  const { tools, forbidden } = toolsOf(request);
  if (forbidden) body.tool_choice = 'none';
  return {
    path: '/chat/completions',
    headers: {},
    body: tools.length ? bodyWithTools(body, tools.map(toolJson).join()) : JSON.stringify(body),
  };
}

/**
 * Strict, which holds the model to the schema, where all properties are required and types say everything. Others go out as they stand, and the
 * model only tends to them: required properties that the caller left optional would have their values invented, and bounds are answered 400 by
 * some of those who serve this dialect, Azure for one.
 */
function responseFormat({ name, schema }: ResponseFormat): unknown {
  const strict = grammarSchema(schema, { optional: 0, unions: Infinity, bounds: 0 });
  return { type: 'json_schema', json_schema: { name, schema: strict ?? schema, strict: strict !== undefined } };
}

function wireMessage(message: ChatMessage): unknown {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role === 'assistant') {
    const calls = message.toolCalls?.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: jsonArguments(args) },
    }));
    if (!calls?.length) return { role: 'assistant', content: message.text ?? '' };
    return { role: 'assistant', content: message.text || null, tool_calls: calls };
  }
  if (typeof message.content === 'string') return { role: 'user', content: message.content };
  return { role: 'user', content: message.content.map(wirePart) };
}

function wirePart(part: ContentPart): unknown {
  if (part.type === 'text') return part;
  const url = `data:${part.mediaType};base64,${part.base64}`;
  if (part.type === 'image') return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { filename: part.filename || 'document.pdf', file_data: url } };
}

/** Servers that hand the arguments to a template fail where they are no JSON. */
function jsonArguments(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(argumentsObject(text));
  }
}

const FINISH: Record<string, FinishReason> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  content_filter: 'content_filter',
};

class Decoder implements ChatDecoder {
  started = false;
  received = 0;
  done = false;
  private text = '';
  private reasoning = '';
  private readonly calls: ToolCall[] = [];
  /** The newest call of each index. */
  private readonly open = new Map<number, ToolCall>();
  private usage?: Usage;
  private finish?: FinishReason;
  private providerFinish?: string;
  private refused = false;
  private providerModel?: string;

  constructor(private readonly context: DecoderContext) {}

  push(data: string): void {
    if (this.done) return;
    if (data === '[DONE]') {
      this.done = true;
      return;
    }
    const chunk = parseChunk(data);
    if (chunk.error) throw streamError(chunk, this.context.secrets);
    if (typeof chunk.model === 'string' && chunk.model !== '') this.providerModel = chunk.model;
    if (chunk.usage) this.usage = readUsage(asObject(chunk.usage)) ?? this.usage;
    const choice = asObject(Array.isArray(chunk.choices) ? chunk.choices[0] : undefined);
    const delta = asObject(choice.delta);
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (typeof reasoning === 'string' && reasoning !== '') {
      this.receive();
      this.reasoning += reasoning;
      this.context.emit({ type: 'reasoning', text: reasoning });
    }
    if (typeof delta.refusal === 'string' && delta.refusal !== '') this.refused = true;
    const text = typeof delta.content === 'string' && delta.content !== '' ? delta.content : delta.refusal;
    if (typeof text === 'string' && text !== '') {
      this.receive();
      this.text += text;
      this.context.emit({ type: 'text', text });
    }
    if (Array.isArray(delta.tool_calls)) for (const fragment of delta.tool_calls) this.toolCall(asObject(fragment));
    if (typeof choice.finish_reason !== 'string') return;
    this.received++;
    this.providerFinish = choice.finish_reason;
    this.finish = FINISH[choice.finish_reason] ?? 'other';
  }

  private receive(): void {
    this.started = true;
    this.received++;
  }

  /** A call comes in fragments that share an `index`: first id and name, then pieces of the arguments. */
  private toolCall(fragment: Record<string, unknown>): void {
    const called = asObject(fragment.function);
    this.started = true;
    if (fragment.id || called.name || called.arguments) this.received++;
    // Some compatible servers give no index; there an id starts the next call.
    const index = typeof fragment.index === 'number' ? fragment.index : Math.max(0, this.calls.length - (fragment.id ? 0 : 1));
    if (!Number.isInteger(index) || index < 0 || index > this.calls.length) throw badResponse('the provider sent a tool call out of order');
    const id = typeof fragment.id === 'string' ? fragment.id : '';
    let call = this.open.get(index);
    // Others give all calls the same one; there another id beside a name starts the next call.
    if (!call || (id && called.name && call.id && call.name && call.id !== id)) {
      this.calls.push((call = { id: '', name: '', arguments: '' }));
      this.open.set(index, call);
    }
    call.id ||= id;
    if (typeof called.name === 'string' && call.name === '') call.name = called.name;
    if (typeof called.arguments === 'string') call.arguments += called.arguments;
  }

  /** Compatible servers that leave out [DONE]: whole too when both the finish reason and the usage came. */
  end(): void {
    if (this.finish !== undefined && this.usage !== undefined) this.done = true;
  }

  result(): DecodedChat {
    const finish = this.refused && this.finish === 'stop' ? 'refusal' : (this.finish ?? 'other');
    if (this.calls.some((call) => call.id === '' || call.name === ''))
      throw badResponse('the provider sent a tool call without id or name');
    const toolCalls = usableCalls(this.calls, finish);
    return {
      text: this.text,
      reasoning: this.reasoning,
      toolCalls,
      usage: credible(this.usage),
      finishReason: finish === 'stop' && toolCalls.length > 0 ? 'tool_calls' : finish,
      providerFinish: this.providerFinish,
      providerModel: this.providerModel,
    };
  }
}

/** `prompt_tokens` holds the cached and written ones, `completion_tokens` the reasoning. */
function readUsage(usage: Record<string, unknown>): Usage | undefined {
  if (usage.prompt_tokens === undefined && usage.completion_tokens === undefined) return undefined;
  const prompt = asObject(usage.prompt_tokens_details);
  const cached = count(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens);
  const written = count(prompt.cache_write_tokens);
  const reasoning = count(asObject(usage.completion_tokens_details).reasoning_tokens);
  const promptTokens = count(usage.prompt_tokens);
  const completion = count(usage.completion_tokens);
  // Some vendors leave the reasoning out of completion_tokens; their total gives it away.
  const apart = reasoning > 0 && count(usage.total_tokens) === promptTokens + completion + reasoning;
  return {
    input: Math.max(0, promptTokens - cached - written),
    cached_input: cached,
    cache_write: written,
    output: apart ? completion : Math.max(0, completion - reasoning),
    reasoning,
  };
}

export const dialect1: Codec = {
  dialect: 'dialect_1',
  auth: (endpoint): Record<string, string> => (endpoint.apiKey ? { authorization: `Bearer ${endpoint.apiKey}` } : {}),
  chat,
  decoder: (context) => new Decoder(context),
  embed: {
    batch: 2048,
    request: ({ model, input, dimensions }: EmbedRequest) => ({
      path: '/embeddings',
      headers: {},
      body: JSON.stringify({ model, input, dimensions, encoding_format: 'float' }),
    }),
    response: (body) => {
      if (!Array.isArray(body.data)) throw badResponse('the provider sent no embeddings');
      const vectors: unknown[] = [];
      for (const [position, item] of body.data.entries()) {
        const { index, embedding } = asObject(item);
        vectors[typeof index === 'number' ? index : position] = embedding;
      }
      return { vectors, tokens: asObject(body.usage).prompt_tokens };
    },
  },
  // Not OpenAI's: the form that Jina and Cohere gave it, which vLLM, LiteLLM and others serve. Voyage says `data` for `results`.
  rerank: {
    request: ({ model, query, documents }: RerankRequest) => ({
      path: '/rerank',
      headers: {},
      body: JSON.stringify({ model, query, documents }),
    }),
    response: (body) => {
      const results = body.results ?? body.data;
      if (!Array.isArray(results)) throw badResponse('the provider sent no ranking');
      const scores = results.map(asObject).map(({ index, relevance_score }) => [index, relevance_score] as const);
      const { total_tokens, prompt_tokens } = asObject(body.usage);
      return { scores: new Map<unknown, unknown>(scores), tokens: total_tokens ?? prompt_tokens };
    },
  },
};
