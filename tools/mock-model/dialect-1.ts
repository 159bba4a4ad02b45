import { BadRequest, type Chat, type Dialect, type Frames, halves, type Message, newCallId, type Reply, words } from './chat';
import { type Schema, schemasIn } from './json-answer';
import { asList, asObject, asText } from './values';

const CREATED = Math.floor(Date.now() / 1000);
const MAX_CALL_ID = 40;
const FORMAT_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const FINISH: Record<Reply['finish'], string> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  content_filter: 'content_filter',
  refusal: 'stop',
  malformed_call: 'stop',
};

const ERROR_TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** Checks as much of a request as is used, and what the API refuses of calls. */
function read(body: Record<string, unknown>): Chat {
  if (!Array.isArray(body.messages)) throw new BadRequest('messages must be a list');
  if (body.model !== undefined && typeof body.model !== 'string') throw new BadRequest('model must be a string');
  for (const message of body.messages) {
    if (typeof message !== 'object' || message === null || typeof (message as { role: unknown }).role !== 'string')
      throw new BadRequest('every message must be an object with a role');
  }
  if (body.tool_choice !== undefined && !Array.isArray(body.tools))
    throw new BadRequest("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.");
  checkCalls(body.messages as Record<string, unknown>[]);
  return {
    model: body.model ?? 'mock',
    messages: (body.messages as Record<string, unknown>[]).map(toMessage),
    stream: body.stream === true,
    includeUsage: asObject(body.stream_options).include_usage === true,
    schema: schemaOf(asObject(body.response_format)),
  };
}

function schemaOf(format: Record<string, unknown>): Schema | undefined {
  if (format.type !== 'json_schema') return undefined;
  const { name, schema, strict } = asObject(format.json_schema);
  if (!FORMAT_NAME.test(asText(name)))
    throw new BadRequest(`Invalid 'response_format.json_schema.name': string does not match pattern '${FORMAT_NAME.source}'.`);
  if (strict === true) for (const inner of schemasIn(schema)) checkStrict(inner, asText(name));
  return asObject(schema);
}

/** What a strict schema may not be. */
function checkStrict({ type, properties, required, additionalProperties }: Schema, name: string): void {
  if (type !== 'object') return;
  const wrong = `Invalid schema for response_format '${name}': In context=(),`;
  if (additionalProperties !== false) throw new BadRequest(`${wrong} 'additionalProperties' is required to be supplied and to be false.`);
  const missing = Object.keys(asObject(properties)).find((key) => !Array.isArray(required) || !required.includes(key));
  if (missing !== undefined)
    throw new BadRequest(
      `${wrong} 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
    );
}

/** Calls without an id are let through: no client of ours sends such. */
function checkCalls(messages: Record<string, unknown>[]): void {
  let open = new Set<string>();
  const answered = (): void => {
    if (open.size > 0)
      throw new BadRequest(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
      );
  };
  for (const message of messages) {
    if (message.role === 'tool' && typeof message.tool_call_id === 'string') {
      if (!open.delete(message.tool_call_id))
        throw new BadRequest(`tool_call_id '${message.tool_call_id}' has no call before it, or two answers`);
      continue;
    }
    answered();
    open = new Set();
    for (const call of asList(message.tool_calls)) {
      if (typeof call.id !== 'string') continue;
      if (call.id.length > MAX_CALL_ID)
        throw new BadRequest(
          `Invalid 'tool_calls.id': string too long. Expected a string with maximum length ${MAX_CALL_ID}, but got a string with length ${call.id.length} instead.`,
        );
      if (open.has(call.id)) throw new BadRequest(`Duplicate value for 'tool_call_id' of '${call.id}'`);
      open.add(call.id);
      // As servers that hand the arguments to a template do.
      if (!isJson(asObject(call.function).arguments)) throw new BadRequest('the arguments of a call must be JSON');
    }
  }
  answered();
}

function isJson(text: unknown): boolean {
  try {
    JSON.parse(text as string);
    return true;
  } catch {
    return false;
  }
}

function toMessage(message: Record<string, unknown>): Message {
  const { content } = message;
  const calls = asList(message.tool_calls).map((call) => asObject(call.function));
  const parts = asList(content);
  return {
    role: message.role as string,
    text:
      typeof content === 'string'
        ? content
        : parts
            .map((part) => part.text)
            .filter((text) => typeof text === 'string')
            .join('\n'),
    images: parts.filter((part) => asText(asObject(part.image_url).url).startsWith('data:image/')).length,
    documents: parts.filter((part) => asText(asObject(part.file).file_data).startsWith('data:application/pdf;')).length,
    callCharacters: calls.reduce((sum, call) => sum + asText(call.name).length + asText(call.arguments).length, 0),
  };
}

let answers = 0;

/** The chunks of an answer share everything but their delta. */
function frames(chat: Chat, reply: Reply): Frames {
  const head = `data: {"id":"chatcmpl-mock-${++answers}","object":"chat.completion.chunk","created":${CREATED},"model":${JSON.stringify(chat.model)},"choices":[`;
  const frame = (delta: string, finish: string): string => `${head}{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
  const usage = chat.includeUsage ? `${head}],"usage":${usageOf(reply)}}\n\n` : '';
  return {
    head: frame('{"role":"assistant","content":""}', 'null'),
    deltas: deltasOf(reply).map((delta) => frame(delta, 'null')),
    tail: `${frame('{}', `"${FINISH[reply.finish]}"`)}${usage}data: [DONE]\n\n`,
  };
}

function deltasOf(reply: Reply): string[] {
  const deltas: string[] = [];
  const field = reply.finish === 'refusal' ? 'refusal' : 'content';
  for (const word of words(reply.reasoning)) deltas.push(`{"reasoning_content":${JSON.stringify(word)}}`);
  for (const word of words(reply.text)) deltas.push(`{"${field}":${JSON.stringify(word)}}`);
  for (const [index, call] of reply.toolCalls.entries()) {
    deltas.push(
      `{"tool_calls":[{"index":${index},"id":${JSON.stringify(call.id ?? newCallId('call'))},"type":"function","function":{"name":${JSON.stringify(call.name)},"arguments":""}}]}`,
    );
    for (const piece of halves(call.arguments))
      deltas.push(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece)}}}]}`);
  }
  return deltas;
}

function whole(chat: Chat, reply: Reply): string {
  const calls = reply.toolCalls.map(({ id, ...call }) => ({ id: id ?? newCallId('call'), type: 'function', function: call }));
  const message = JSON.stringify({
    role: 'assistant',
    content: (reply.text === '' && calls.length > 0) || reply.finish === 'refusal' ? null : reply.text,
    ...(reply.finish === 'refusal' && { refusal: reply.text }),
    ...(reply.reasoning !== '' && { reasoning_content: reply.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  });
  const choice = `{"index":0,"message":${message},"logprobs":null,"finish_reason":"${FINISH[reply.finish]}"}`;
  return `{"id":"chatcmpl-mock-${++answers}","object":"chat.completion","created":${CREATED},"model":${JSON.stringify(chat.model)},"choices":[${choice}],"usage":${usageOf(reply)}}`;
}

/** Cached and written tokens are counted into the prompt, and reasoning into the completion. */
function usageOf({ usage }: Reply): string {
  const prompt = usage.input + usage.cached_input + usage.cache_write;
  const completion = usage.output + usage.reasoning;
  return `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion},"prompt_tokens_details":{"cached_tokens":${usage.cached_input},"cache_write_tokens":${usage.cache_write}},"completion_tokens_details":{"reasoning_tokens":${usage.reasoning}}}`;
}

/** OpenAI Chat Completions. */
export const dialect1: Dialect = {
  read,
  frames,
  whole,
  ping: ': ping\n\n',
  error: (status, message) =>
    JSON.stringify({
      error: { message, type: ERROR_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'), param: null, code: null },
    }),
};
