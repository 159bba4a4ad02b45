/** The script of a user message: what the mock plays, one step per model call of a turn. */
export interface Script {
  /** What each is played with when it is asked for the first time, the second time … */
  steps: Step[][];
}

/** Why an answer ends; each dialect has its own words, or the nearest. */
export const FINISHES = ['stop', 'tool_calls', 'length', 'content_filter', 'refusal', 'malformed_call'] as const;
export type Finish = (typeof FINISHES)[number];

export interface Step {
  text: string;
  reasoning: string;
  /** `arguments` is JSON text. */
  toolCalls: { id?: string; name: string; arguments: string }[];
  /** Left out: by whether there are calls. */
  finish?: Finish;
  usage: Partial<ScriptUsage>;
  delayMs: number;
  chunkDelayMs: number;
  pingMs: number;
  failure?: Failure;
}

/** The normalised, disjoint form; a field that a step does not give is counted. */
export interface ScriptUsage {
  input: number;
  cached_input: number;
  cache_write: number;
  output: number;
  reasoning: number;
}

export interface Failure {
  /** `disconnect`: half of the deltas, then the connection drops. */
  kind: 'status' | 'disconnect';
  status: number;
  message: string;
  retryAfterS?: number;
  /** How often it fails before the step plays; undefined: always. */
  times?: number;
}

/** Says what is wrong with a script. */
export class ScriptError extends Error {}

const MAX_DELAY_MS = 600_000;

/** The contents of the fenced code blocks with this info string; undefined for one that is not closed. */
export function* fencedBlocks(text: string, info: string): Generator<string | undefined, void> {
  if (!text.includes(info)) return;
  const opening = new RegExp('^ {0,3}(`{3,})[ \\t]*' + info + '[ \\t]*$');
  const lines = text.split(/\r?\n/);
  for (let from = 0; from < lines.length; from++) {
    const fence = opening.exec(lines[from])?.[1];
    if (fence === undefined) continue;
    const closing = lines.findIndex((line, at) => at > from && /^ {0,3}`{3,}[ \t]*$/.test(line) && line.trim().length >= fence.length);
    yield closing === -1 ? undefined : lines.slice(from + 1, closing).join('\n');
    if (closing !== -1) from = closing;
  }
}

/** The script in a message, or undefined where there is none. Of several blocks the first counts. Throws ScriptError. */
export function findScript(text: string): Script | undefined {
  const first = fencedBlocks(text, 'mock').next();
  if (first.done) return undefined;
  if (first.value === undefined) throw new ScriptError('the mock block is not closed');
  return parseScript(first.value);
}

export function parseScript(json: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new ScriptError(`the mock block is not JSON: ${(error as Error).message}`);
  }
  const script = fields(value, 'script', ['steps']);
  if (!Array.isArray(script.steps)) throw new ScriptError('steps must be a list');
  return { steps: script.steps.map((step, index) => parseTries(step, `steps[${index}]`)) };
}

function parseTries(value: unknown, at: string): Step[] {
  if (!Array.isArray(value)) return [parseStep(value, at)];
  if (value.length === 0) throw new ScriptError(`${at} must not be empty`);
  return value.map((step, index) => parseStep(step, `${at}[${index}]`));
}

const STEP_FIELDS = ['text', 'reasoning', 'tool_calls', 'finish', 'usage', 'delay_ms', 'chunk_delay_ms', 'ping_ms', 'error'];
const USAGE_FIELDS = ['input', 'cached_input', 'cache_write', 'output', 'reasoning'];

function parseStep(value: unknown, at: string): Step {
  const step = fields(value, at, STEP_FIELDS);
  const calls = step.tool_calls ?? [];
  if (!Array.isArray(calls)) throw new ScriptError(`${at}.tool_calls must be a list`);
  const usage = fields(step.usage ?? {}, `${at}.usage`, USAGE_FIELDS);
  // No bound and no whole numbers: what a provider reports need not make sense.
  for (const [name, amount] of Object.entries(usage)) {
    if (typeof amount !== 'number' || !Number.isFinite(amount)) throw new ScriptError(`${at}.usage.${name} must be a number`);
  }
  const { finish } = step;
  if (finish !== undefined && !FINISHES.includes(finish as Finish))
    throw new ScriptError(`${at}.finish must be one of ${FINISHES.join(', ')}`);
  return {
    text: text(step.text ?? '', `${at}.text`),
    reasoning: text(step.reasoning ?? '', `${at}.reasoning`),
    toolCalls: calls.map((call, index) => parseCall(call, `${at}.tool_calls[${index}]`)),
    finish: finish as Finish | undefined,
    usage: usage,
    delayMs: whole(step.delay_ms ?? 0, `${at}.delay_ms`, 0, MAX_DELAY_MS),
    chunkDelayMs: whole(step.chunk_delay_ms ?? 0, `${at}.chunk_delay_ms`, 0, MAX_DELAY_MS),
    pingMs: whole(step.ping_ms ?? 0, `${at}.ping_ms`, 0, MAX_DELAY_MS),
    failure: step.error === undefined || step.error === null ? undefined : parseFailure(step.error, `${at}.error`),
  };
}

function parseCall(value: unknown, at: string): Step['toolCalls'][number] {
  const call = fields(value, at, ['id', 'name', 'arguments']);
  if (typeof call.name !== 'string' || call.name === '') throw new ScriptError(`${at}.name must be a non-empty string`);
  const id = call.id === undefined ? undefined : text(call.id, `${at}.id`);
  const args = call.arguments ?? {};
  if (typeof args === 'string') return { id, name: call.name, arguments: args }; // as it stands: for arguments that are not valid JSON
  if (typeof args !== 'object' || Array.isArray(args)) throw new ScriptError(`${at}.arguments must be an object`);
  return { id, name: call.name, arguments: JSON.stringify(args) };
}

function parseFailure(value: unknown, at: string): Failure {
  const disconnect: Failure = { kind: 'disconnect', status: 0, message: '' };
  if (value === 'disconnect') return disconnect;
  if (typeof value === 'string') throw new ScriptError(`${at} must be an object or "disconnect"`);
  const error = fields(value, at, ['status', 'message', 'retry_after_s', 'times', 'disconnect']);
  const times = error.times === undefined ? undefined : whole(error.times, `${at}.times`, 1, 1e6);
  if (error.disconnect === true) return { ...disconnect, times };
  const status = whole(error.status, `${at}.status`, 300, 599);
  const retryAfterS = error.retry_after_s;
  if (retryAfterS !== undefined && !(typeof retryAfterS === 'number' && retryAfterS >= 0))
    throw new ScriptError(`${at}.retry_after_s must be a number ≥ 0`);
  return { kind: 'status', status, message: text(error.message ?? `mock error ${status}`, `${at}.message`), retryAfterS, times };
}

function fields(value: unknown, at: string, known: string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ScriptError(`${at} must be an object`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new ScriptError(`${at} has an unknown field "${unknown.slice(0, 60)}"; known are ${known.join(', ')}`);
  return value as Record<string, unknown>;
}

function text(value: unknown, at: string): string {
  if (typeof value !== 'string') throw new ScriptError(`${at} must be a string`);
  return value;
}

function whole(value: unknown, at: string, min: number, max: number): number {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
    throw new ScriptError(`${at} must be a whole number from ${min} to ${max}`);
  return value as number;
}
