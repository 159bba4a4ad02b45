import { createHash } from 'node:crypto';
import { findScript, ScriptError, type Failure, type Step } from './script';

export interface ChatBody {
  model: string;
  messages: Message[];
  stream: boolean;
  includeUsage: boolean;
}

interface Message {
  role: string;
  content: unknown;
  tool_calls?: unknown;
}

export class BadRequest extends Error {}

/** What one call is answered with: data of the chunks, in order, and of the whole answer. */
export interface Reply {
  /** JSON of each delta. */
  deltas: string[];
  /** JSON of the message of an answer that is not streamed. */
  message: string;
  finishReason: 'stop' | 'tool_calls';
  usage: string;
  delayMs: number;
  chunkDelayMs: number;
  failure?: Failure;
}

/** Checks as much of a request as is used. */
export function readChat(body: unknown): ChatBody {
  const request = asObject(body);
  if (!Array.isArray(request.messages)) throw new BadRequest('messages must be a list');
  if (request.model !== undefined && typeof request.model !== 'string') throw new BadRequest('model must be a string');
  for (const message of request.messages) {
    if (typeof message !== 'object' || message === null || typeof (message as Message).role !== 'string') throw new BadRequest('every message must be an object with a role');
  }
  return {
    model: request.model ?? 'mock',
    messages: request.messages as Message[],
    stream: request.stream === true,
    includeUsage: asObject(request.stream_options).include_usage === true,
  };
}

/** Failures that were played, by newest user message and step. The oldest are forgotten first. */
export class FailureCounts {
  private readonly counts = new Map<string, number>();

  /** Whether the failure plays now. Once its times are over the count starts anew, so that a script can be played again. */
  fails(key: string, failure: Failure): boolean {
    if (failure.times === undefined) return true;
    const played = this.counts.get(key) ?? 0;
    this.counts.delete(key);
    if (played >= failure.times) return false;
    this.counts.set(key, played + 1);
    if (this.counts.size > 10_000) this.counts.delete(this.counts.keys().next().value as string);
    return true;
  }
}

const PLAIN: Step = { text: '', reasoning: '', toolCalls: [], usage: {}, delayMs: 0, chunkDelayMs: 0 };

/** The answer to a request. Throws BadRequest for a malformed script. */
export function replyTo({ messages }: ChatBody, playsScripts: boolean, failures: FailureCounts): Reply {
  const newest = messages.findLastIndex((message) => message.role === 'user');
  const said = newest === -1 ? '' : textOf(messages[newest].content);
  const script = playsScripts ? scriptOf(said) : undefined;
  if (script === undefined) return replyOf({ ...PLAIN, text: `You said: ${said}${seen(newest === -1 ? 0 : imagesOf(messages[newest].content))}` }, messages);
  const call = messages.slice(newest + 1).filter((message) => message.role === 'assistant').length;
  const step = script.steps[call] ?? { ...PLAIN, text: 'done' };
  const failing = step.failure !== undefined && failures.fails(`${newest}/${call}/${createHash('sha1').update(said).digest('base64')}`, step.failure);
  return replyOf(failing ? step : { ...step, failure: undefined }, messages);
}

function scriptOf(text: string): ReturnType<typeof findScript> {
  try {
    return findScript(text);
  } catch (error) {
    if (error instanceof ScriptError) throw new BadRequest(`mock script: ${error.message}`);
    throw error;
  }
}

/** Tool call ids are unique over restarts of the server too: a chat keeps them. */
const RUN = Math.random().toString(36).slice(2, 8);
let calls = 0;

function replyOf(step: Step, messages: Message[]): Reply {
  const deltas: string[] = [];
  for (const word of words(step.reasoning)) deltas.push(`{"reasoning_content":${JSON.stringify(word)}}`);
  for (const word of words(step.text)) deltas.push(`{"content":${JSON.stringify(word)}}`);
  const toolCalls = step.toolCalls.map((call) => ({ id: `call_${RUN}_${++calls}`, type: 'function', function: call }));
  for (const [index, call] of toolCalls.entries()) {
    deltas.push(`{"tool_calls":[{"index":${index},"id":"${call.id}","type":"function","function":{"name":${JSON.stringify(call.function.name)},"arguments":""}}]}`);
    for (const piece of halves(call.function.arguments)) deltas.push(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece)}}}]}`);
  }
  return {
    deltas,
    message: JSON.stringify({
      role: 'assistant',
      content: step.text === '' && toolCalls.length > 0 ? null : step.text,
      ...(step.reasoning !== '' && { reasoning_content: step.reasoning }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    }),
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    usage: usageOf(step, messages),
    delayMs: step.delayMs,
    chunkDelayMs: step.chunkDelayMs,
    failure: step.failure,
  };
}

/** Chat Completions counts cached and written tokens into the prompt, and reasoning into the completion. */
function usageOf(step: Step, messages: Message[]): string {
  const given = step.usage;
  const cached = given.cached_input ?? 0;
  const written = given.cache_write ?? 0;
  const reasoning = given.reasoning ?? tokens(step.reasoning.length);
  const prompt = (given.input ?? tokens(promptCharacters(messages))) + cached + written;
  const said = step.toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, step.text.length);
  const completion = (given.output ?? tokens(said)) + reasoning;
  return `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion},"prompt_tokens_details":{"cached_tokens":${cached},"cache_write_tokens":${written}},"completion_tokens_details":{"reasoning_tokens":${reasoning}}}`;
}

/** One token per four characters. */
export function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function promptCharacters(messages: Message[]): number {
  let sum = 0;
  for (const message of messages) {
    sum += textOf(message.content).length;
    if (!Array.isArray(message.tool_calls)) continue;
    for (const call of message.tool_calls) {
      const { name, arguments: args } = asObject(asObject(call).function);
      sum += (typeof name === 'string' ? name.length : 0) + (typeof args === 'string' ? args.length : 0);
    }
  }
  return sum;
}

/** Text of a string or of the text parts of a list; images say nothing. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => asObject(part).text).filter((text) => typeof text === 'string').join('\n');
}

/** Images that came as bytes; an address would have to be fetched, and counts for nothing. */
function imagesOf(content: unknown): number {
  if (!Array.isArray(content)) return 0;
  return content.filter((part) => String(asObject(asObject(part).image_url).url).startsWith('data:image/')).length;
}

const seen = (images: number): string => (images === 0 ? '' : ` [${images} image${images === 1 ? '' : 's'}]`);

function words(text: string): string[] {
  return text.match(/\s*\S+|\s+/g) ?? [];
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
