import { BadRequest, type Chat, countFile, type Dialect, type Frames, type Message, type Reply, words } from './chat';
import { asList, asObject, asText } from './values';

const FINISH: Record<Reply['finish'], string> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  refusal: 'SAFETY',
  malformed_call: 'MALFORMED_FUNCTION_CALL',
};
const STATUS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const SIGNATURE = Buffer.from('mock thought').toString('base64');

type Part = Record<string, unknown>;

function read(body: Record<string, unknown>, model: string, stream: boolean): Chat {
  if (!stream) throw new BadRequest('the mock speaks this dialect in streams only');
  const contents = asList(body.contents).map((content) => ({ role: content.role, parts: asList(content.parts) }));
  if (contents.length === 0) throw new BadRequest('contents is not specified');
  checkParts(contents);
  const declared = asList(body.tools).flatMap((tool) => asList(tool.functionDeclarations));
  if (declared.some((tool) => !FUNCTION_NAME.test(asText(tool.name)))) throw new BadRequest('Invalid function name');
  const { responseMimeType, responseSchema, responseJsonSchema } = asObject(body.generationConfig);
  const system: Message = { role: 'system', text: textOf(asList(asObject(body.systemInstruction).parts)), images: 0, callCharacters: 0 };
  return {
    model,
    stream,
    includeUsage: true,
    schema: responseMimeType === 'application/json' ? asObject(responseSchema ?? responseJsonSchema ?? { type: 'object' }) : undefined,
    messages: [system, ...contents.flatMap(({ role, parts }) => (role === 'model' ? [modelMessage(parts)] : userMessages(parts)))],
  };
}

const textOf = (parts: Part[]): string =>
  parts
    .map((part) => asText(part.text))
    .filter((text) => text !== '')
    .join('\n');
const callsOf = (parts: Part[]): Part[] =>
  parts.filter((part) => part.functionCall !== undefined).map((part) => asObject(part.functionCall));

/** What the API refuses of calls and their results. */
function checkParts(contents: { role: unknown; parts: Part[] }[]): void {
  const answers = (at: number): Part[] =>
    (contents[at]?.role === 'model' ? [] : (contents[at]?.parts ?? []))
      .filter((part) => part.functionResponse !== undefined)
      .map((part) => asObject(part.functionResponse));
  for (const [at, { role, parts }] of contents.entries()) {
    if (parts.length === 0) throw new BadRequest('contents.parts must not be empty');
    const calls = role === 'model' ? callsOf(parts) : [];
    if (calls.length !== answers(at + 1).length)
      throw new BadRequest(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    const ids = calls.map((call) => call.id).filter((id) => id !== undefined);
    if (new Set(ids).size !== ids.length) throw new BadRequest('Function call ids must be unique.');
    const answered = answers(at + 1)
      .map((answer) => answer.id)
      .filter((id) => id !== undefined);
    if (ids.some((id) => !answered.includes(id))) throw new BadRequest('Function response ids must be those of the function call turn.');
  }
}

function modelMessage(parts: Part[]): Message {
  return {
    role: 'assistant',
    text: textOf(parts),
    images: 0,
    callCharacters: callsOf(parts).reduce((sum, call) => sum + asText(call.name).length + JSON.stringify(call.args ?? {}).length, 0),
  };
}

/** Messages of one side are joined on this wire; each text is told apart again, a file belongs to the text before it. */
function userMessages(parts: Part[]): Message[] {
  const out: Message[] = [];
  for (const part of parts) {
    if (part.functionResponse !== undefined)
      out.push({ role: 'tool', text: JSON.stringify(asObject(part.functionResponse).response ?? {}), images: 0, callCharacters: 0 });
    else if (typeof part.text === 'string') out.push({ role: 'user', text: part.text, images: 0, callCharacters: 0 });
    else if (part.inlineData !== undefined) {
      if (out.at(-1)?.role !== 'user') out.push({ role: 'user', text: '', images: 0, callCharacters: 0 });
      countFile(out.at(-1)!, asText(asObject(part.inlineData).mimeType));
    }
  }
  return out;
}

/** Calls come whole and as objects on this wire: one whose arguments are none was cut, and never arrives. */
function args(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function frames(chat: Chat, reply: Reply): Frames {
  const chunk = (parts: Part[], more: object = {}, end: object = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], modelVersion: chat.model, ...end })}\n\n`;
  const { usage } = reply;
  const prompt = usage.input + usage.cached_input + usage.cache_write;
  const calls = reply.toolCalls.flatMap((call) => {
    const given = args(call.arguments);
    return given === undefined ? [] : [{ functionCall: { ...(call.id !== undefined && { id: call.id }), name: call.name, args: given } }];
  });
  // Thoughts sign the first call that they led to.
  const signed = calls.map((part, at) => (at === 0 && reply.reasoning !== '' ? { ...part, thoughtSignature: SIGNATURE } : part));
  const counts = {
    promptTokenCount: prompt,
    cachedContentTokenCount: usage.cached_input,
    candidatesTokenCount: usage.output,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: prompt + usage.output + usage.reasoning,
  };
  return {
    head: '',
    deltas: [
      ...words(reply.reasoning).map((text) => chunk([{ text, thought: true }])),
      ...words(reply.text).map((text) => chunk([{ text }])),
      ...signed.map((part) => chunk([part])),
    ],
    tail: chunk([], { finishReason: FINISH[reply.finish] }, { usageMetadata: counts }),
  };
}

/** Google generateContent, streamed. */
export const dialect3: Dialect = {
  read,
  frames,
  ping: ': ping\n\n',
  error: (status, message) =>
    JSON.stringify({ error: { code: status, message, status: STATUS[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT') } }),
};
