import { dialect1 } from './dialect-1';
import type { ChatRequest, Endpoint, StreamEvent } from './types';

const endpoint: Endpoint = { dialect: 'dialect_1', baseUrl: 'https://api.openai.com/v1', apiKey: 'k' };

function body(request: Partial<ChatRequest>): Record<string, unknown> {
  const wire = dialect1.chat({ model: 'm', messages: [], feature: 'turn', ...request }, endpoint);
  return JSON.parse(wire.body) as Record<string, unknown>;
}

function decode(...chunks: unknown[]) {
  const events: StreamEvent[] = [];
  const decoder = dialect1.decoder({ model: 'm', secrets: [], emit: (event) => events.push(event) });
  for (const chunk of chunks) decoder.push(typeof chunk === 'string' ? chunk : JSON.stringify(chunk));
  decoder.end();
  return { decoder, events };
}

const delta = (value: unknown, finish: string | null = null) => ({
  model: 'gpt',
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});

describe('dialect_1 request', () => {
  it('writes system, text, images, calls and results', () => {
    const wire = body({
      system: 'be kind',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', mediaType: 'image/png', base64: 'AAAA' },
          ],
        },
        { role: 'assistant', text: '', toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }] },
        { role: 'tool', toolCallId: 'a', toolName: 'f', content: 'ok' },
        { role: 'assistant', text: 'there' },
      ],
      tools: [{ name: 'f', description: 'does f', parameters: { type: 'object' } }],
    });
    expect(wire.messages).toEqual([
      { role: 'system', content: 'be kind' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
      { role: 'assistant', content: 'there' },
    ]);
    expect(wire.tools).toEqual([
      { type: 'function', function: { name: 'f', description: 'does f', parameters: { type: 'object', properties: {} } } },
    ]);
    expect(wire).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('writes documents as files, which have a name', () => {
    const pdf = { type: 'document' as const, mediaType: 'application/pdf' as const, base64: 'JVBE' };
    const file_data = 'data:application/pdf;base64,JVBE';
    expect(body({ messages: [{ role: 'user', content: [pdf, { ...pdf, filename: 'bill.pdf' }] }] }).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'document.pdf', file_data } },
          { type: 'file', file: { filename: 'bill.pdf', file_data } },
        ],
      },
    ]);
  });

  it('asks for JSON strictly where all is required and types say everything, and else for the schema as it stands', () => {
    const asked = (schema: Record<string, unknown>) => body({ responseFormat: { name: 'bill', schema } }).response_format;
    const total = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } };
    expect(asked(total)).toEqual({
      type: 'json_schema',
      json_schema: { name: 'bill', strict: true, schema: { ...total, additionalProperties: false } },
    });
    for (const schema of [
      { ...total, required: [] },
      { ...total, additionalProperties: true },
      { ...total, properties: { total: { type: 'number', minimum: 0 } } },
      { ...total, properties: { total: { type: 'string', format: 'date' } } },
    ])
      expect(asked(schema)).toEqual({ type: 'json_schema', json_schema: { name: 'bill', strict: false, schema } });
    expect(body({})).not.toHaveProperty('response_format');
  });

  it('names the output cap max_completion_tokens', () => {
    expect(body({ maxOutputTokens: 5 })).toMatchObject({ max_completion_tokens: 5 });
    expect(body({ maxOutputTokens: 5 })).not.toHaveProperty('max_tokens');
  });

  it('sends an effort only when there is one', () => {
    expect(body({ reasoningEffort: 'high' }).reasoning_effort).toBe('high');
    expect(body({})).not.toHaveProperty('reasoning_effort');
    expect(body({})).not.toHaveProperty('tools');
  });
});

describe('dialect_1 stream', () => {
  it('joins tool calls from fragments by index, also when they interleave', () => {
    const { decoder } = decode(
      delta({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] }),
      delta({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      delta({}, 'tool_calls'),
      '[DONE]',
    );
    expect(decoder.started).toBe(true);
    expect(decoder.result()).toMatchObject({
      finishReason: 'tool_calls',
      toolCalls: [
        { id: 'a', name: 'f', arguments: '{"x":1}' },
        { id: 'b', name: 'g', arguments: '{}' },
      ],
    });
  });

  it('tells calls apart by their ids where all have the same index', () => {
    const call = (id: string, name: string, args: string) => ({ index: 0, id, type: 'function', function: { name, arguments: args } });
    const { decoder } = decode(
      delta({ tool_calls: [call('a', 'f', '{"x":1}'), call('b', 'g', '')] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"y"' } }] }),
      // The id again with each piece, as some have it.
      delta({ tool_calls: [{ index: 0, id: 'b', function: { name: 'g', arguments: ':2}' } }] }),
      delta({ tool_calls: [call('c', 'f', '{}')] }, 'tool_calls'),
      '[DONE]',
    );
    expect(decoder.result().toolCalls).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{"y":2}' },
      { id: 'c', name: 'f', arguments: '{}' },
    ]);
  });

  it('reads both names of reasoning deltas and shows them apart from the text', () => {
    const { decoder, events } = decode(
      delta({ reasoning_content: 'hm' }),
      delta({ reasoning: ' so' }),
      delta({ content: 'yes' }),
      delta({}, 'stop'),
      '[DONE]',
    );
    expect(events).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: ' so' },
      { type: 'text', text: 'yes' },
    ]);
    expect(decoder.result()).toMatchObject({ reasoning: 'hm so', text: 'yes', providerModel: 'gpt', finishReason: 'stop' });
  });

  it('normalises usage to disjoint counts', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 40 },
    };
    expect(decode(delta({}, 'stop'), { choices: [], usage }, '[DONE]').decoder.result().usage).toEqual({
      input: 50,
      cached_input: 30,
      cache_write: 20,
      output: 10,
      reasoning: 40,
    });
  });

  it('sees from the total where a vendor counts reasoning beside the completion', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 55, completion_tokens_details: { reasoning_tokens: 40 } };
    expect(decode({ choices: [], usage }, '[DONE]').decoder.result().usage).toMatchObject({ output: 5, reasoning: 40 });
  });

  it.each([
    ['null', { input: 0, output: 1 }],
    ['7.4', { input: 7, output: 1 }],
    ['-5', undefined],
    ['1e9', undefined],
    ['1e400', undefined],
    ['"7"', undefined],
    ['[]', undefined],
  ])('takes a count of %s for %p', (value, usage) => {
    const chunk = `{"choices":[],"usage":{"prompt_tokens":${value},"completion_tokens":1}}`;
    const read = decode(chunk, '[DONE]').decoder.result().usage;
    expect(read && { input: read.input, output: read.output }).toEqual(usage);
  });

  it('takes a usage without counts for none', () => {
    expect(decode('{"choices":[],"usage":{}}', '[DONE]').decoder.result().usage).toBeUndefined();
  });

  it('is whole at [DONE], or where finish reason and usage came without it, and else not', () => {
    expect(decode(delta({ content: 'a' }, 'stop'), '[DONE]').decoder.done).toBe(true);
    expect(decode(delta({ content: 'a' }, 'stop'), { choices: [], usage: { prompt_tokens: 1 } }).decoder.done).toBe(true);
    expect(decode(delta({ content: 'a' }, 'stop')).decoder.done).toBe(false);
    expect(decode(delta({ content: 'a' })).decoder.done).toBe(false);
  });

  it('keeps of a tool call that the output cap cut what had come, and of one without arguments nothing', () => {
    const { decoder } = decode(
      delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }] }),
      delta({}, 'length'),
      '[DONE]',
    );
    expect(decoder.result()).toMatchObject({ toolCalls: [{ arguments: '{"x":' }], finishReason: 'length', providerFinish: 'length' });
    const bare = (index: number) => delta({ tool_calls: [{ index, id: `${index}`, function: { name: 'f', arguments: '' } }] });
    expect(
      decode(bare(0), bare(1), delta({}, 'length'), '[DONE]')
        .decoder.result()
        .toolCalls.map((call) => call.arguments),
    ).toEqual(['{}', '']);
    expect(
      decode(bare(0), bare(1), delta({}, 'tool_calls'), '[DONE]')
        .decoder.result()
        .toolCalls.map((call) => call.arguments),
    ).toEqual(['{}', '{}']);
  });

  it('takes no call of an answer that was refused or filtered', () => {
    const call = delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] });
    expect(decode(call, delta({}, 'content_filter'), '[DONE]').decoder.result()).toMatchObject({
      toolCalls: [],
      finishReason: 'content_filter',
    });
    expect(decode(delta({ refusal: 'No.' }), call, delta({}, 'stop'), '[DONE]').decoder.result()).toMatchObject({
      text: 'No.',
      toolCalls: [],
      finishReason: 'refusal',
    });
  });

  it('keeps arguments that are not JSON as the model wrote them', () => {
    const { decoder } = decode(
      delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: 'nope' } }] }),
      delta({}, 'stop'),
      '[DONE]',
    );
    expect(decoder.result()).toMatchObject({ toolCalls: [{ arguments: 'nope' }], finishReason: 'tool_calls' });
  });

  it('throws for an error, for what is no JSON object and for a call out of order', () => {
    expect(() => decode({ error: { message: 'slow down', type: 'rate_limit_error' } })).toThrow(
      expect.objectContaining({ code: 'provider_rate_limited' }),
    );
    for (const chunk of ['{"choices":', '[]', '7', 'null'])
      expect(() => decode(chunk)).toThrow(expect.objectContaining({ code: 'provider_bad_response', retryable: false }));
    expect(() => decode(delta({ tool_calls: [{ index: 1e9, id: 'a' }] }))).toThrow(
      expect.objectContaining({ code: 'provider_bad_response' }),
    );
  });
});
