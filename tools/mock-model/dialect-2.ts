import { createHash } from 'node:crypto';
import { BadRequest, type Chat, countFile, type Dialect, type Frames, halves, type Message, newCallId, type Reply, words } from './chat';
import { type Schema, schemasIn } from './json-answer';
import { asList, asObject, asText } from './values';

const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const FINISH: Record<Reply['finish'], string> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
  refusal: 'refusal',
  malformed_call: 'end_turn',
};

const ERROR_TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

type Block = Record<string, unknown>;

/** Of a thinking block: only an unchanged one fits. */
const signatureOf = (thinking: string): string => createHash('sha1').update(thinking).digest('base64');

function read(body: Record<string, unknown>): Chat {
  if (typeof body.model !== 'string') throw new BadRequest('model: Field required');
  if (!Number.isInteger(body.max_tokens) || (body.max_tokens as number) < 1) throw new BadRequest('max_tokens: Field required');
  if (!Array.isArray(body.messages) || body.messages.length === 0) throw new BadRequest('messages: at least one message is required');
  if (body.stream !== true) throw new BadRequest('the mock speaks this dialect in streams only');
  const turns = asList(body.messages).map((message) => ({ role: message.role, blocks: blocksOf(message.content) }));
  if (turns[0].role !== 'user') throw new BadRequest('messages: first message must use the "user" role');
  checkBlocks(turns, asList(body.tools), body.tool_choice);
  const system: Message = { role: 'system', text: textOf(blocksOf(body.system ?? [])), images: 0, callCharacters: 0 };
  return {
    model: body.model,
    stream: true,
    includeUsage: true,
    schema: schemaOf(asObject(asObject(body.output_config).format)),
    messages: [system, ...turns.flatMap(({ role, blocks }) => (role === 'assistant' ? [assistant(blocks)] : userMessages(blocks)))],
  };
}

/** Bounds that are answered 400. */
const NO_BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'maxItems'];

function schemaOf({ type, schema }: Record<string, unknown>): Schema | undefined {
  if (type !== 'json_schema') return undefined;
  for (const inner of schemasIn(schema)) {
    const bound = NO_BOUNDS.find((key) => inner[key] !== undefined);
    if (bound !== undefined)
      throw new BadRequest(`output_config.format.schema: For '${asText(inner.type)}' type, property '${bound}' is not supported`);
    if (inner.type === 'object' && inner.additionalProperties !== false)
      throw new BadRequest("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false");
  }
  return asObject(schema);
}

const blocksOf = (content: unknown): Block[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content));
const textOf = (blocks: Block[]): string =>
  blocks
    .map((block) => asText(block.text))
    .filter((text) => text !== '')
    .join('\n');

/** What the API refuses of calls, their results, and thinking. */
function checkBlocks(turns: { role: unknown; blocks: Block[] }[], tools: Block[], choice: unknown): void {
  if (choice !== undefined && tools.length === 0) throw new BadRequest('tool_choice may only be specified while providing tools');
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [at, { role, blocks }] of turns.entries()) {
    if (blocks.length === 0) throw new BadRequest(`messages.${at}: all messages must have non-empty content`);
    const results = blocks.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id);
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0)
      throw new BadRequest(
        `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`,
      );
    if (results.some((id) => !open.includes(id as string)) || results.length !== new Set(results).size)
      throw new BadRequest(`messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`);
    open = [];
    for (const block of blocks) {
      if (block.type === 'text' && asText(block.text).trim() === '')
        throw new BadRequest(`messages.${at}: text content blocks must contain non-whitespace text`);
      if (block.type === 'thinking' && block.signature !== signatureOf(asText(block.thinking)))
        throw new BadRequest(`messages.${at}: Invalid \`signature\` in \`thinking\` block`);
      if ((block.type === 'tool_use' || block.type === 'tool_result') && tools.length === 0)
        throw new BadRequest('Requests which include `tool_use` or `tool_result` blocks must define tools');
      if (block.type !== 'tool_use') continue;
      const id = asText(block.id);
      if (role !== 'assistant' || !CALL_ID.test(id))
        throw new BadRequest(`messages.${at}: tool_use.id: String should match pattern '${CALL_ID.source}'`);
      if (seen.has(id)) throw new BadRequest(`messages.${at}: \`tool_use\` ids must be unique`);
      seen.add(id);
      open.push(id);
    }
  }
  if (open.length > 0)
    throw new BadRequest(
      `messages.${turns.length - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`,
    );
}

function assistant(blocks: Block[]): Message {
  const calls = blocks.filter((block) => block.type === 'tool_use');
  return {
    role: 'assistant',
    text: textOf(blocks),
    images: 0,
    callCharacters: calls.reduce((sum, call) => sum + asText(call.name).length + JSON.stringify(call.input ?? {}).length, 0),
  };
}

/** Messages of one side are joined on this wire; each text is told apart again, a file belongs to the text before it. */
function userMessages(blocks: Block[]): Message[] {
  const out: Message[] = [];
  for (const block of blocks) {
    if (block.type === 'tool_result')
      out.push({
        role: 'tool',
        text: typeof block.content === 'string' ? block.content : textOf(asList(block.content)),
        images: 0,
        callCharacters: 0,
      });
    else if (block.type === 'text') out.push({ role: 'user', text: asText(block.text), images: 0, callCharacters: 0 });
    else if ((block.type === 'image' || block.type === 'document') && asObject(block.source).type === 'base64') {
      if (out.at(-1)?.role !== 'user') out.push({ role: 'user', text: '', images: 0, callCharacters: 0 });
      countFile(out.at(-1)!, asText(asObject(block.source).media_type));
    }
  }
  return out;
}

const frame = (type: string, event: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`;
let answers = 0;

function frames(chat: Chat, reply: Reply): Frames {
  const { usage } = reply;
  const deltas: string[] = [];
  let index = 0;
  const block = (content: object, parts: object[], last?: object): void => {
    const pieces = parts.map((delta) => frame('content_block_delta', { index, delta }));
    pieces[0] = frame('content_block_start', { index, content_block: content }) + (pieces[0] ?? '');
    pieces.push(
      `${pieces.pop()}${last ? frame('content_block_delta', { index, delta: last }) : ''}${frame('content_block_stop', { index })}`,
    );
    deltas.push(...pieces);
    index++;
  };
  if (reply.reasoning !== '') {
    const signature = { type: 'signature_delta', signature: signatureOf(reply.reasoning) };
    block(
      { type: 'thinking', thinking: '', signature: '' },
      words(reply.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
      signature,
    );
  }
  if (reply.text !== '')
    block(
      { type: 'text', text: '' },
      words(reply.text).map((text) => ({ type: 'text_delta', text })),
    );
  for (const call of reply.toolCalls) {
    const pieces = ['', ...halves(call.arguments)].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    block({ type: 'tool_use', id: call.id ?? newCallId('toolu'), name: call.name, input: {} }, pieces);
  }
  const start = {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cache_write,
    cache_read_input_tokens: usage.cached_input,
    output_tokens: 1,
  };
  const end = { output_tokens: usage.output + usage.reasoning, output_tokens_details: { thinking_tokens: usage.reasoning } };
  return {
    head: frame('message_start', {
      message: {
        id: `msg_mock_${++answers}`,
        type: 'message',
        role: 'assistant',
        model: chat.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: start,
      },
    }),
    deltas,
    tail: `${frame('message_delta', { delta: { stop_reason: FINISH[reply.finish], stop_sequence: null }, usage: end })}${frame('message_stop', {})}`,
  };
}

/** Anthropic Messages, streamed. */
export const dialect2: Dialect = {
  read,
  frames,
  ping: frame('ping', {}),
  error: (status, message) =>
    JSON.stringify({
      type: 'error',
      error: { type: ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'), message },
    }),
};
