import { dialect2 } from './dialect-2';
import type { ChatRequest, Endpoint, ProviderState, StreamEvent } from './types';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- read-only look at JSON that the matchers check
type Json = Record<string, any>;
const endpoint: Endpoint = { dialect: 'dialect_2', baseUrl: 'https://api.anthropic.com/v1', apiKey: 'k' };
const MODEL = 'claude-opus-4-6';

function body(request: Partial<ChatRequest>): Json {
  return JSON.parse(
    dialect2.chat({ model: MODEL, messages: [{ role: 'user', content: 'hi' }], feature: 'turn', ...request }, endpoint).body,
  ) as Json;
}

function decode(...events: object[]) {
  const seen: StreamEvent[] = [];
  const decoder = dialect2.decoder({ model: MODEL, secrets: [], emit: (event) => seen.push(event) });
  for (const event of events) decoder.push(JSON.stringify(event));
  decoder.end();
  return { decoder, seen };
}

const start = {
  type: 'message_start',
  message: { model: 'claude-x', usage: { input_tokens: 5, cache_creation_input_tokens: 7, cache_read_input_tokens: 11, output_tokens: 1 } },
};
const stop = (reason: string, output = 20) => [
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: output } },
  { type: 'message_stop' },
];
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const THINKING = block(
  0,
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'thinking_delta', thinking: 'let me ' },
  { type: 'thinking_delta', thinking: 'see' },
  { type: 'signature_delta', signature: 'SIG' },
);
const TOOL = (index: number) =>
  block(
    index,
    { type: 'tool_use', id: 'tu1', name: 'f', input: {} },
    { type: 'input_json_delta', partial_json: '' },
    { type: 'input_json_delta', partial_json: '{"x":' },
    { type: 'input_json_delta', partial_json: '1}' },
  );

describe('dialect_2 request', () => {
  it('joins results and the words after them into one user message, and marks two cache breakpoints', () => {
    const wire = body({
      system: 'be kind',
      tools: [{ name: 'f', parameters: { properties: {} } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', mediaType: 'image/png', base64: 'AAAA' },
            { type: 'text', text: 'look' },
          ],
        },
        {
          role: 'assistant',
          text: 'ok',
          toolCalls: [
            { id: 'a', name: 'f', arguments: '{"x":1}' },
            { id: 'b', name: 'f', arguments: 'broken' },
          ],
        },
        { role: 'tool', toolCallId: 'a', toolName: 'f', content: 'one' },
        { role: 'tool', toolCallId: 'b', toolName: 'f', content: 'bad', isError: true },
        { role: 'user', content: 'and?' },
      ],
    });
    expect(wire.system).toEqual([{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }]);
    expect(wire.tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }]);
    expect(wire.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'text', text: 'look' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'ok' },
          { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
          { type: 'tool_use', id: 'b', name: 'f', input: { invalid_arguments: 'broken' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'one' },
          { type: 'tool_result', tool_use_id: 'b', content: 'bad', is_error: true },
          { type: 'text', text: 'and?', cache_control: { type: 'ephemeral' } },
        ],
      },
    ]);
  });

  it('writes documents, with the title that they have', () => {
    const pdf = { type: 'document' as const, mediaType: 'application/pdf' as const, base64: 'JVBE' };
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' };
    const content: ChatRequest['messages'][number] = {
      role: 'user',
      content: [pdf, { ...pdf, filename: 'bill.pdf' }, { type: 'text', text: 'sum up' }],
    };
    expect(body({ messages: [content] }).messages[0].content).toEqual([
      { type: 'document', source },
      { type: 'document', source, title: 'bill.pdf' },
      { type: 'text', text: 'sum up', cache_control: { type: 'ephemeral' } },
    ]);
  });

  describe('for an answer in JSON', () => {
    const schema = { type: 'object', required: ['total'], properties: { total: { type: 'number', minimum: 0 } } };
    const responseFormat = { name: 'bill', schema };
    const words = `Answer with one JSON object of this JSON Schema, without a code fence and without words around it:\n`;

    it('sends the schema as it can be compiled, beside the effort', () => {
      const format = {
        type: 'json_schema',
        schema: { ...schema, additionalProperties: false, properties: { total: { type: 'number', description: '{minimum: 0}' } } },
      };
      expect(body({ responseFormat, system: 'be kind' })).toMatchObject({ output_config: { format }, system: [{ text: 'be kind' }] });
      expect(body({ responseFormat, reasoningEffort: 'high' }).output_config).toEqual({ effort: 'high', format });
      expect(body({ responseFormat, model: 'own-name' }).output_config).toEqual({ format });
    });

    it('puts in words what cannot be compiled, and asks models before 4.5 in words', () => {
      const optional = {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`p${i}`, { type: 'string' }])),
      };
      const tools = [{ name: 'f', parameters: {} }];
      const asked = body({ responseFormat: { name: 'bill', schema: optional }, system: 'be kind', tools });
      expect(asked.system).toEqual([
        { type: 'text', text: `be kind\n\n${words}${JSON.stringify(optional)}`, cache_control: { type: 'ephemeral' } },
      ]);
      expect(asked).not.toHaveProperty('output_config');
      const old = body({ responseFormat, model: 'claude-sonnet-4-20250514', tools });
      expect(old.system[0].text).toBe(`${words}${JSON.stringify(schema)}`);
      expect(old.tools[0]).not.toHaveProperty('cache_control');
      expect(old).not.toHaveProperty('output_config');
    });
  });

  it('always caps the output, and sends the version header', () => {
    expect(body({}).max_tokens).toBe(4096);
    expect(body({ maxOutputTokens: 9 }).max_tokens).toBe(9);
    expect(dialect2.chat({ model: MODEL, messages: [], feature: 'x' }, endpoint).headers).toEqual({ 'anthropic-version': '2023-06-01' });
  });

  it('asks for thinking in the form that the model takes', () => {
    expect(body({ reasoningEffort: 'medium' })).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } });
    expect(body({ model: 'claude-opus-4-7', reasoningEffort: 'xhigh' }).output_config).toEqual({ effort: 'xhigh' });
    expect(body({ reasoningEffort: 'xhigh' }).output_config).toEqual({ effort: 'high' });
    expect(body({ model: 'claude-sonnet-4-20250514', reasoningEffort: 'high', maxOutputTokens: 64000 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 16384 },
    });
    expect(body({ model: 'claude-haiku-4-5-20251001', reasoningEffort: 'high' }).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 3072,
    });
    for (const quiet of [
      body({}),
      body({ reasoningEffort: 'none' }),
      body({ model: 'claude-3-5-haiku-20241022', reasoningEffort: 'high' }),
    ]) {
      expect(quiet).not.toHaveProperty('thinking');
      expect(quiet).not.toHaveProperty('output_config');
    }
  });
});

describe('dialect_2 stream', () => {
  it('gathers thinking, text and tool use, and passes over pings and what it does not know', () => {
    const { decoder, seen } = decode(
      start,
      { type: 'ping' },
      ...THINKING,
      ...block(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'I ' }, { type: 'text_delta', text: 'look' }),
      { type: 'something_new' },
      ...TOOL(2),
      ...stop('tool_use'),
    );
    expect(seen).toEqual([
      { type: 'reasoning', text: 'let me ' },
      { type: 'reasoning', text: 'see' },
      { type: 'text', text: 'I ' },
      { type: 'text', text: 'look' },
    ]);
    expect(decoder.done).toBe(true);
    expect(decoder.result()).toMatchObject({
      text: 'I look',
      reasoning: 'let me see',
      finishReason: 'tool_calls',
      providerModel: 'claude-x',
      toolCalls: [{ id: 'tu1', name: 'f', arguments: '{"x":1}' }],
      usage: { input: 5, cached_input: 11, cache_write: 7, output: 20, reasoning: 0 },
    });
  });

  it('keeps of any number of large reports what it reads', () => {
    const { decoder } = decode(start, {
      type: 'message_delta',
      usage: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`u${i}`, i])),
    });
    const report = JSON.stringify({ type: 'message_delta', usage: { output_tokens: 9, cache_read_input_tokens: null } });
    for (let i = 0; i < 100_000; i++) decoder.push(report);
    expect(decoder.result().usage).toEqual({ input: 5, cached_input: 11, cache_write: 7, output: 9, reasoning: 0 });
  });

  it('gives thinking back word for word and in its place, to the same model only', () => {
    const state = decode(
      start,
      ...THINKING,
      ...block(1, { type: 'redacted_thinking', data: 'ENC' }),
      ...TOOL(2),
      ...stop('tool_use'),
    ).decoder.result().providerState as ProviderState;
    const stored = JSON.parse(JSON.stringify(state)) as ProviderState;
    const messages: ChatRequest['messages'] = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', text: '', toolCalls: [{ id: 'tu1', name: 'f', arguments: '{"x":1}' }], providerState: stored },
      { role: 'tool', toolCallId: 'tu1', toolName: 'f', content: 'ok' },
    ];
    const tool = { type: 'tool_use', id: 'tu1', name: 'f', input: { x: 1 } };
    expect(body({ messages }).messages[1].content).toEqual([
      { type: 'thinking', thinking: 'let me see', signature: 'SIG' },
      { type: 'redacted_thinking', data: 'ENC' },
      tool,
    ]);
    expect(body({ model: 'claude-sonnet-4-6', messages }).messages[1].content).toEqual([tool]);
  });

  it('keeps no state without thinking, nor a thought that lost its signature', () => {
    expect(decode(start, ...TOOL(0), ...stop('tool_use')).decoder.result().providerState).toBeUndefined();
    const cut = decode(
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 'hm' } },
      ...stop('max_tokens'),
    );
    expect(cut.decoder.result()).toMatchObject({ finishReason: 'length', reasoning: 'hm', providerState: undefined });
    const later = decode(
      start,
      ...THINKING,
      ...block(1, { type: 'text', text: 'so' }),
      { type: 'content_block_start', index: 2, content_block: { type: 'thinking', thinking: 'hm' } },
      ...stop('max_tokens'),
    );
    expect(later.decoder.result().providerState?.parts).toEqual([
      { type: 'thinking', thinking: 'let me see', signature: 'SIG' },
      { type: 'text', text: 'so' },
    ]);
  });

  it('gives {} for a call without arguments', () => {
    const { decoder } = decode(start, ...block(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }), ...stop('tool_use'));
    expect(decoder.result().toolCalls).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'other'],
  ])('%s is %s', (reason, finish) => {
    expect(decode(start, ...stop(reason)).decoder.result().finishReason).toBe(finish);
  });

  it('is whole only at message_stop', () => {
    expect(decode(start, ...block(0, { type: 'text', text: 'a' }), stop('end_turn')[0]).decoder.done).toBe(false);
  });

  it('throws for the error event and for a delta of no block', () => {
    expect(() => decode(start, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })).toThrow(
      expect.objectContaining({ code: 'provider_unavailable', status: 529, retryable: true }),
    );
    expect(() => decode(start, { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'a' } })).toThrow(
      expect.objectContaining({ code: 'provider_bad_response' }),
    );
  });
});
