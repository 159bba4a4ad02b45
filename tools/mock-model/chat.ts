import { createHash } from 'node:crypto';
import { jsonAnswer, type Schema } from './json-answer';
import { findScript, ScriptError, type Failure, type Finish, type Script, type ScriptUsage, type Step } from './script';

/** A request in the words that all dialects share. */
export interface Chat {
  model: string;
  messages: Message[];
  stream: boolean;
  /** Whether usage was asked for, where a dialect sends it only then. */
  includeUsage: boolean;
  /** Of the JSON that was asked for. */
  schema?: Schema;
}

/** What one side said at one place; a wire message that carries several such things is several of these. */
export interface Message {
  role: string;
  text: string;
  /** That came as bytes; an address would have to be fetched, and counts for nothing. */
  images: number;
  /** Likewise. */
  documents?: number;
  /** Of calls: names and arguments. */
  callCharacters: number;
}

/** Counts a file that came as bytes. */
export function countFile(message: Message, mediaType: string): void {
  if (mediaType.startsWith('image/')) message.images++;
  if (mediaType === 'application/pdf') message.documents = (message.documents ?? 0) + 1;
}

/** Refused as the provider would refuse it. */
export class BadRequest extends Error {}

/** What one call is answered with. */
export interface Reply {
  text: string;
  reasoning: string;
  /** `id` is undefined where the script leaves it to the dialect. */
  toolCalls: { id?: string; name: string; arguments: string }[];
  finish: Finish;
  usage: ScriptUsage;
  delayMs: number;
  chunkDelayMs: number;
  /** In place of the end of the answer: frames without content, one each so many milliseconds. */
  pingMs: number;
  failure?: Failure;
}

/** An answer as the dialect's event stream has it. */
export interface Frames {
  /** Before anything is said. */
  head: string;
  deltas: string[];
  tail: string;
}

/** What a dialect says differently. */
export interface Dialect {
  /** @throws BadRequest where the provider would answer 400 */
  read(body: Record<string, unknown>, model: string, stream: boolean): Chat;
  frames(chat: Chat, reply: Reply): Frames;
  /** The same answer as one document; absent where only streams are spoken. */
  whole?(chat: Chat, reply: Reply): string;
  /** A frame that carries nothing. */
  ping: string;
  error(status: number, message: string): string;
}

/** How often steps were played, by newest user message and step. The oldest are forgotten first. */
export class PlayCounts {
  private readonly counts = new Map<string, number>();

  /** Whether the failure plays now. Once its times are over the count starts anew, so that a script can be played again. */
  fails(key: string, failure: Failure): boolean {
    return failure.times === undefined || this.next(key, failure.times + 1) < failure.times;
  }

  /** 0, 1, … and after `of` of them 0 again. */
  next(key: string, of: number): number {
    const played = this.counts.get(key) ?? 0;
    this.counts.delete(key);
    if (played + 1 < of) this.counts.set(key, played + 1);
    if (this.counts.size > 10_000) this.counts.delete(this.counts.keys().next().value as string);
    return played;
  }
}

const PLAIN: Step = { text: '', reasoning: '', toolCalls: [], usage: {}, delayMs: 0, chunkDelayMs: 0, pingMs: 0 };

/** The answer to a request. Throws BadRequest for a malformed script. */
export function replyTo({ messages, schema }: Chat, feature: unknown, counts: PlayCounts): Reply {
  const played = scriptFor(messages, feature);
  if (played === undefined) return replyOf({ ...PLAIN, text: plainAnswer(messages, schema) }, messages);
  const { script, at } = played;
  const call = messages.slice(at + 1).filter((message) => message.role === 'assistant').length;
  const tries = script.steps[call] ?? [{ ...PLAIN, text: 'done' }];
  const key = `${at}/${call}/${createHash('sha1').update(messages[at].text).digest('base64')}`;
  const step = tries.length === 1 ? tries[0] : tries[counts.next(`${key}/try`, tries.length)];
  const failing = step.failure !== undefined && counts.fails(key, step.failure);
  return replyOf(failing ? step : { ...step, failure: undefined }, messages);
}

function plainAnswer(messages: Message[], schema: Schema | undefined): string {
  const newest = messages.findLast((message) => message.role === 'user');
  if (schema !== undefined) return jsonAnswer(schema, newest?.text ?? '');
  return `You said: ${newest?.text ?? ''}${seen(newest?.images, 'image')}${seen(newest?.documents, 'document')}`;
}

/** What plays scripts; titles, summaries and the like would play those of the chats that they are about. */
const PLAYING = new Set(['turn', 'process', 'prompt', 'payload_repair']);

/**
 * The script that a call plays, and the message that has it. A chat goes on with other things, so there the newest message decides. Prompts and
 * processes have a conversation for each piece of work, in which the service asks again too: there the newest script holds.
 */
function scriptFor(messages: Message[], feature: unknown): { script: Script; at: number } | undefined {
  if (typeof feature !== 'string' || !PLAYING.has(feature)) return undefined;
  for (let at = messages.length - 1; at >= 0; at--) {
    if (messages[at].role !== 'user') continue;
    const script = scriptOf(messages[at].text);
    if (script !== undefined) return { script, at };
    if (feature === 'turn') return undefined;
  }
  return undefined;
}

function scriptOf(text: string): Script | undefined {
  try {
    return findScript(text);
  } catch (error) {
    if (error instanceof ScriptError) throw new BadRequest(`mock script: ${error.message}`);
    throw error;
  }
}

function replyOf(step: Step, messages: Message[]): Reply {
  const { text, reasoning, toolCalls, delayMs, chunkDelayMs, pingMs, failure, usage } = step;
  const said = toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, text.length);
  return {
    text,
    reasoning,
    toolCalls,
    delayMs,
    chunkDelayMs,
    pingMs,
    failure,
    finish: step.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    usage: {
      input: usage.input ?? tokens(messages.reduce((sum, message) => sum + message.text.length + message.callCharacters, 0)),
      cached_input: usage.cached_input ?? 0,
      cache_write: usage.cache_write ?? 0,
      output: usage.output ?? tokens(said),
      reasoning: usage.reasoning ?? tokens(reasoning.length),
    },
  };
}

/** Tool call ids are unique over restarts of the server too: a chat keeps them. */
const RUN = Math.random().toString(36).slice(2, 8);
let calls = 0;

/** An id that no call has had. */
export const newCallId = (prefix: string): string => `${prefix}_${RUN}_${++calls}`;

/** One token per four characters. */
export function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}

const seen = (count = 0, what: string): string => (count === 0 ? '' : ` [${count} ${what}${count === 1 ? '' : 's'}]`);

/** The pieces that a text is streamed in. */
export function words(text: string): string[] {
  return text.match(/\s*\S+|\s+/g) ?? [];
}

export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}
