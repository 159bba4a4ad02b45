import type { ReasoningEffort } from '@aps/contracts';
import type { ChatDecoder, Codec, DecodedChat, DecoderContext, WireRequest } from './codec';
import { argumentsObject, bodyWithTools, jsonOf, stateFor, toolsOf, toolWriter, usableCalls, withCallIds } from './codec';
import { asObject, badResponse, parseChunk, streamError } from './errors';
import { grammarSchema } from './grammar-schema';
import { toolSchema } from './tool-schema';
import type { ChatMessage, ChatRequest, FinishReason, ToolCall, ToolDefinition, Usage, UserContent } from './types';
import { count, credible } from './usage';

type Block = Record<string, unknown>;
interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

const DEFAULT_MAX_TOKENS = 4096;
const CACHE = { type: 'ephemeral' };

const wireTool = ({ name, description, parameters }: ToolDefinition): Block => ({
  name,
  description,
  input_schema: toolSchema(parameters),
});
const toolJson = toolWriter(wireTool);
/** The last of several, where no system prompt follows to end what is cached. */
const lastToolJson = toolWriter((tool) => ({ ...wireTool(tool), cache_control: CACHE }));

/**
 * Anthropic Messages. Two cache breakpoints: the end of the system prompt (it covers the tools, which come before it) and
 * the end of the newest message, so that each step of a turn reads what the step before it wrote.
 */
function chat(request: ChatRequest): WireRequest {
  const messages = turns(request);
  const last = messages.at(-1)?.content.at(-1);
  if (last && last.type !== 'thinking' && last.type !== 'redacted_thinking') {
    messages.at(-1)!.content[messages.at(-1)!.content.length - 1] = { ...last, cache_control: CACHE };
  }
  const maxTokens = request.maxOutputTokens ?? DEFAULT_MAX_TOKENS;
  const body: Record<string, unknown> = { model: request.model, max_tokens: maxTokens, messages, stream: true };
  const schema = request.responseFormat?.schema;
  const grammar = schema && compiled(request.model, schema);
  const system = [request.system, schema && !grammar && inWords(schema)].filter(Boolean).join('\n\n');
  if (system) body.system = [{ type: 'text', text: system, cache_control: CACHE }];
  if (request.reasoningEffort !== undefined) Object.assign(body, thinking(request.model, request.reasoningEffort, maxTokens));
  if (grammar) body.output_config = { ...asObject(body.output_config), format: { type: 'json_schema', schema: grammar } };
  const { tools: offered, forbidden } = toolsOf(request);
  if (forbidden) body.tool_choice = { type: 'none' };
  const tools = offered.map((tool, i, { length }) => (!system && i === length - 1 ? lastToolJson : toolJson)(tool));
  return {
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: tools.length ? bodyWithTools(body, tools.join()) : JSON.stringify(body),
  };
}

/**
 * What goes out as `output_config.format`, generally available from 4.5 on. A forced tool, the way before it, is refused beside thinking, which
 * newer models do unasked. What cannot be compiled is put in words, which binds no model, but is refused by none.
 */
function compiled(model: string, schema: Record<string, unknown>): Record<string, unknown> | undefined {
  const version = versionOf(model);
  return version !== undefined && version < 4.05 ? undefined : grammarSchema(schema, { optional: 24, unions: 16, bounds: Infinity });
}

const inWords = (schema: Record<string, unknown>): string =>
  `Answer with one JSON object of this JSON Schema, without a code fence and without words around it:\n${JSON.stringify(schema)}`;

/** Messages of one side in a row become one; tool results must open the user message that follows their calls. */
function turns(request: ChatRequest): Turn[] {
  const out: Turn[] = [];
  for (const message of withCallIds(request.messages)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocks(message, request.model);
    if (content.length === 0) continue; // an empty text block is refused
    const previous = out.at(-1);
    if (previous?.role === role) previous.content.push(...content);
    else out.push({ role, content });
  }
  return out;
}

function blocks(message: ChatMessage, model: string): Block[] {
  if (message.role === 'user') return userBlocks(message.content);
  if (message.role === 'tool') {
    const result: Block = { type: 'tool_result', tool_use_id: message.toolCallId, content: message.content };
    return [message.isError ? { ...result, is_error: true } : result];
  }
  const kept = stateFor(message.providerState, 'dialect_2', model);
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: args }): Block => ({
    type: 'tool_use',
    id,
    name,
    input: argumentsObject(args),
  }));
  // The calls are told by the message, in the same order: what is kept has them as the model wrote them, ids that it gave twice included.
  if (kept) return [...(kept as Block[]).flatMap((block) => (block.type === 'tool_use' ? calls.splice(0, 1) : [block])), ...calls];
  return [...(message.text?.trim() ? [{ type: 'text', text: message.text }] : []), ...calls];
}

function userBlocks(content: UserContent): Block[] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return parts
    .filter((part) => part.type !== 'text' || part.text.trim() !== '')
    .map((part) => {
      if (part.type === 'text') return { type: 'text', text: part.text };
      const source = { type: 'base64', media_type: part.mediaType, data: part.base64 };
      return part.type === 'image'
        ? { type: 'image', source }
        : { type: 'document', source, ...(part.filename && { title: part.filename }) };
    });
}

const BUDGET: Record<ReasoningEffort, number> = { none: 0, minimal: 1024, low: 2048, medium: 8192, high: 16384, xhigh: 32768 };
const EFFORT: Record<ReasoningEffort, string> = { none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh' };

/**
 * Models before 4.6 take a token budget for thinking (1,024 at least and below max_tokens), 4.6 and later an effort and
 * refuse a budget. `none` sends neither: newer models refuse `disabled`, and think or not by their own default.
 */
function thinking(model: string, effort: ReasoningEffort, maxTokens: number): Record<string, unknown> {
  if (effort === 'none') return {};
  const version = versionOf(model);
  if (version !== undefined && version < 4.06) {
    const budget = Math.min(BUDGET[effort], maxTokens - 1024);
    return budget >= 1024 && version >= 3.07 ? { thinking: { type: 'enabled', budget_tokens: budget } } : {};
  }
  const level = effort === 'xhigh' && version === 4.06 ? 'high' : EFFORT[effort];
  return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: level } };
}

/** `claude-3-7-sonnet-…` 3.07, `claude-opus-4-6` 4.06, `claude-sonnet-4-20250514` 4; undefined for other names. */
function versionOf(model: string): number | undefined {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?(?!\d)/.exec(model);
  return match ? Number(match[1]) + Number(match[2] ?? 0) / 100 : undefined;
}

const FINISH: Record<string, FinishReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};

class Decoder implements ChatDecoder {
  started = false;
  received = 0;
  done = false;
  private readonly content: Block[] = [];
  /** Argument text of the tool_use blocks, by block index. */
  private readonly json: string[] = [];
  private usage?: Record<string, unknown>;
  private finish: FinishReason = 'other';
  private providerFinish?: string;
  private providerModel?: string;

  constructor(private readonly context: DecoderContext) {}

  push(data: string): void {
    if (this.done) return;
    const event = parseChunk(data);
    switch (event.type) {
      case 'message_start': {
        const message = asObject(event.message);
        if (typeof message.model === 'string') this.providerModel = message.model;
        this.mergeUsage(message.usage);
        break;
      }
      case 'content_block_start':
        this.start(event.index, asObject(event.content_block));
        break;
      case 'content_block_delta':
        this.delta(event.index, asObject(event.delta));
        break;
      case 'message_delta': {
        const reason = asObject(event.delta).stop_reason;
        if (typeof reason === 'string') {
          this.received++;
          this.providerFinish = reason;
          this.finish = FINISH[reason] ?? 'other';
        }
        this.mergeUsage(event.usage);
        break;
      }
      case 'message_stop':
        this.done = true;
        break;
      case 'error':
        throw streamError(event, this.context.secrets);
      default: // ping, content_block_stop, and what the API may add
    }
  }

  private start(index: unknown, block: Block): void {
    if (index !== this.content.length) throw badResponse('the provider sent a content block out of order');
    this.started = true;
    this.received++;
    this.content.push({ ...block });
    this.json.push('');
    if (block.type === 'text') this.shown('text', block.text);
    if (block.type === 'thinking') this.shown('reasoning', block.thinking);
  }

  private delta(index: unknown, delta: Block): void {
    const block = typeof index === 'number' ? this.content[index] : undefined;
    if (block === undefined) throw badResponse('the provider sent a delta of an unknown content block');
    if ([delta.text, delta.thinking, delta.signature, delta.partial_json].some((piece) => asText(piece) !== '')) this.received++;
    if (delta.type === 'text_delta') {
      block.text = `${asText(block.text)}${asText(delta.text)}`;
      this.shown('text', delta.text);
    } else if (delta.type === 'thinking_delta') {
      block.thinking = `${asText(block.thinking)}${asText(delta.thinking)}`;
      this.shown('reasoning', delta.thinking);
    } else if (delta.type === 'signature_delta') {
      block.signature = `${asText(block.signature)}${asText(delta.signature)}`;
    } else if (delta.type === 'input_json_delta') {
      this.json[index as number] += asText(delta.partial_json);
    }
  }

  private shown(type: 'text' | 'reasoning', text: unknown): void {
    if (typeof text === 'string' && text !== '') this.context.emit({ type, text });
  }

  /** The counts of message_delta are totals that replace those of message_start. */
  private mergeUsage(usage: unknown): void {
    if (typeof usage !== 'object' || usage === null) return;
    const given = USAGE.map((key) => [key, asObject(usage)[key]] as const).filter(([, value]) => (value ?? null) !== null);
    this.usage = { ...this.usage, ...Object.fromEntries(given) };
  }

  end(): void {
    // message_stop is the end mark; nothing else is
  }

  result(): DecodedChat {
    const toolCalls: ToolCall[] = [];
    for (const [index, block] of this.content.entries()) {
      if (block.type !== 'tool_use') continue;
      if (typeof block.id !== 'string' || typeof block.name !== 'string')
        throw badResponse('the provider sent a tool call without id or name');
      const given = Object.keys(asObject(block.input)).length > 0 ? jsonOf(block.input) : '';
      toolCalls.push({ id: block.id, name: block.name, arguments: this.json[index] || given });
    }
    const usable = usableCalls(toolCalls, this.finish);
    return {
      text: this.joined('text', 'text'),
      reasoning: this.joined('thinking', 'thinking'),
      toolCalls: usable,
      usage: this.usage && credible(readUsage(this.usage)),
      finishReason: this.finish,
      providerFinish: this.providerFinish,
      providerModel: this.providerModel,
      providerState: this.state(usable),
    };
  }

  private joined(type: string, field: string): string {
    return this.content
      .filter((block) => block.type === type)
      .map((block) => asText(block[field]))
      .join('');
  }

  /** Thinking goes back unchanged and in its place among the other blocks; without it text and calls say everything. */
  private state(calls: ToolCall[]): DecodedChat['providerState'] {
    if (!this.content.some((block) => block.type === 'thinking' || block.type === 'redacted_thinking')) return undefined;
    const left = [...calls];
    const parts = this.content.flatMap((block) => {
      if (block.type === 'text') return asText(block.text).trim() === '' ? [] : [{ type: 'text', text: block.text }];
      if (block.type === 'thinking' && !block.signature) return []; // cut by the output cap; refused without it
      if (block.type !== 'tool_use') return [block];
      return left.splice(0, 1).map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: argumentsObject(call.arguments) }));
    });
    if (!parts.some((block) => block.type === 'text' || block.type === 'tool_use')) return undefined;
    return { dialect: 'dialect_2', model: this.context.model, parts };
  }
}

/** What is read of a usage, and no more is kept: a server may send any number of reports of any size. */
const USAGE = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens', 'output_tokens_details'];

/** `input_tokens` excludes what was read from and written to the cache; thinking is part of `output_tokens`. */
function readUsage(usage: Record<string, unknown>): Usage | undefined {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return undefined;
  const reasoning = count(asObject(usage.output_tokens_details).thinking_tokens);
  return {
    input: count(usage.input_tokens),
    cached_input: count(usage.cache_read_input_tokens),
    cache_write: count(usage.cache_creation_input_tokens),
    output: Math.max(0, count(usage.output_tokens) - reasoning),
    reasoning,
  };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export const dialect2: Codec = {
  dialect: 'dialect_2',
  auth: (endpoint): Record<string, string> => (endpoint.apiKey ? { 'x-api-key': endpoint.apiKey } : {}),
  chat,
  decoder: (context) => new Decoder(context),
};
