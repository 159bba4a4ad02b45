import { dialect3 } from './dialect-3';
import { geminiSchema } from './gemini-schema';
import type { ChatRequest, Endpoint, ProviderState, StreamEvent } from './types';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- read-only look at JSON that the matchers check
type Json = Record<string, any>;
const endpoint: Endpoint = { dialect: 'dialect_3', baseUrl: 'https://generativelanguage.googleapis.com/v1beta', apiKey: 'k' };
const MODEL = 'gemini-3-pro';

function wire(request: Partial<ChatRequest>) {
  return dialect3.chat({ model: MODEL, messages: [{ role: 'user', content: 'hi' }], feature: 'turn', ...request }, endpoint);
}
const body = (request: Partial<ChatRequest>): Json => JSON.parse(wire(request).body) as Json;

function decode(...chunks: object[]) {
  const seen: StreamEvent[] = [];
  const decoder = dialect3.decoder({ model: MODEL, secrets: [], emit: (event) => seen.push(event) });
  for (const chunk of chunks) decoder.push(JSON.stringify(chunk));
  decoder.end();
  return { decoder, seen };
}
const chunk = (parts: object[], finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, ...(finishReason && { finishReason }) }],
  modelVersion: 'gemini-3-pro-001',
  ...more,
});

describe('dialect_3 request', () => {
  it('puts the model in the path and the key nowhere but in its header', () => {
    expect(wire({ model: 'models/gemini x' }).path).toBe('/models/gemini%20x:streamGenerateContent?alt=sse');
    expect(wire({ model: '../../evil?key=1' }).path).toBe('/models/..%2F..%2Fevil%3Fkey%3D1:streamGenerateContent?alt=sse');
    expect(dialect3.auth(endpoint)).toEqual({ 'x-goog-api-key': 'k' });
  });

  it('writes contents, calls and responses', () => {
    const contents = body({
      model: 'gemini-2.5-flash',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', mediaType: 'image/png', base64: 'AAAA' },
          ],
        },
        {
          role: 'assistant',
          toolCalls: [
            { id: 'given', name: 'f', arguments: '{"x":1}' },
            { id: 'call_own_1', name: 'g', arguments: '' },
          ],
        },
        { role: 'tool', toolCallId: 'given', toolName: 'f', content: '{"y":2}' },
        { role: 'tool', toolCallId: 'call_own_1', toolName: 'g', content: 'plain' },
      ],
    }).contents;
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      { role: 'model', parts: [{ functionCall: { id: 'given', name: 'f', args: { x: 1 } } }, { functionCall: { name: 'g', args: {} } }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'given', name: 'f', response: { y: 2 } } },
          { functionResponse: { name: 'g', response: { result: 'plain' } } },
        ],
      },
    ]);
  });

  it('writes documents as bytes', () => {
    const pdf = { type: 'document' as const, mediaType: 'application/pdf' as const, base64: 'JVBE', filename: 'bill.pdf' };
    expect(body({ messages: [{ role: 'user', content: [pdf] }] }).contents[0].parts).toEqual([
      { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
    ]);
  });

  it('asks for JSON by type and schema, beside what else is configured', () => {
    const asked = (schema: Record<string, unknown>, more: Partial<ChatRequest> = {}) =>
      body({ responseFormat: { name: 'bill', schema }, ...more }).generationConfig;
    expect(
      asked({ type: 'object', properties: { on: { type: 'string', format: 'date' } }, required: ['on'] }, { maxOutputTokens: 9 }),
    ).toEqual({
      maxOutputTokens: 9,
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { on: { type: 'STRING' } }, required: ['on'] },
    });
    expect(asked({ type: 'object' })).toEqual({ responseMimeType: 'application/json' });
  });

  it('asks for thinking in the form that the model takes', () => {
    const config = (model: string, reasoningEffort: ChatRequest['reasoningEffort']) =>
      body({ model, reasoningEffort }).generationConfig?.thinkingConfig;
    expect(config('gemini-3-pro', 'xhigh')).toEqual({ thinkingLevel: 'high', includeThoughts: true });
    expect(config('gemini-3-pro', 'none')).toEqual({ thinkingLevel: 'low', includeThoughts: false });
    expect(config('gemini-2.5-flash', 'none')).toEqual({ thinkingBudget: 0, includeThoughts: false });
    expect(config('gemini-2.5-pro', 'none')).toEqual({ thinkingBudget: 128, includeThoughts: false });
    expect(config('gemini-2.0-flash', 'high')).toBeUndefined();
    expect(config('gemini-3-pro', undefined)).toBeUndefined();
  });
});

describe('dialect_3 stream', () => {
  const stream = [
    chunk([{ text: 'hm', thought: true }]),
    chunk([{ text: 'I ' }]),
    chunk([{ text: 'look' }]),
    chunk([{ functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: 'SIG' }, { functionCall: { id: 'own', name: 'g', args: {} } }]),
    chunk([], 'STOP', {
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 30,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 40,
        toolUsePromptTokenCount: 3,
      },
    }),
  ];

  it('gathers thoughts, text, calls and usage', () => {
    const { decoder, seen } = decode(...stream);
    const result = decoder.result();
    expect(seen).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'I ' },
      { type: 'text', text: 'look' },
    ]);
    expect(decoder.done).toBe(true);
    expect(result).toMatchObject({
      text: 'I look',
      reasoning: 'hm',
      finishReason: 'tool_calls',
      providerModel: 'gemini-3-pro-001',
      usage: { input: 73, cached_input: 30, cache_write: 0, output: 20, reasoning: 40 },
      toolCalls: [
        { name: 'f', arguments: '{"x":1}' },
        { id: 'own', name: 'g', arguments: '{}' },
      ],
    });
    expect(result.toolCalls[0].id).toMatch(/^call_own_/);
    expect(decode(...stream).decoder.result().toolCalls[0].id).not.toBe(result.toolCalls[0].id);
  });

  it('gives signatures back on exactly their parts, and tells another model that there is none', () => {
    const result = decode(...stream).decoder.result();
    const message = {
      role: 'assistant' as const,
      text: result.text,
      toolCalls: result.toolCalls,
      providerState: JSON.parse(JSON.stringify(result.providerState)) as ProviderState,
    };
    const parts = (model: string) => body({ model, messages: [{ role: 'user', content: 'hi' }, message] }).contents[1].parts;
    expect(parts(MODEL)).toEqual([
      { text: 'I look' },
      { functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: 'SIG' },
      { functionCall: { id: 'own', name: 'g', args: {} } },
    ]);
    expect(parts('gemini-3-flash')[1]).toMatchObject({ thoughtSignature: 'skip_thought_signature_validator' });
    expect(parts('gemini-3-flash')[2]).not.toHaveProperty('thoughtSignature');
    expect(parts('gemini-2.5-flash')[1]).not.toHaveProperty('thoughtSignature');
  });

  it('keeps a signature that comes with an empty text, and joins no text over it', () => {
    const state = decode(
      chunk([{ text: 'a', thoughtSignature: 'S1' }]),
      chunk([{ text: 'b' }]),
      chunk([{ text: '', thoughtSignature: 'S2' }], 'STOP'),
    ).decoder.result().providerState;
    expect(state?.parts).toEqual([{ text: 'a', thoughtSignature: 'S1' }, { text: 'b' }, { text: '', thoughtSignature: 'S2' }]);
  });

  it('is whole with a finish reason or a refused prompt, and else not', () => {
    expect(decode(chunk([{ text: 'a' }])).decoder.done).toBe(false);
    const refused = decode({ promptFeedback: { blockReason: 'SAFETY' } }).decoder;
    expect(refused.done).toBe(true);
    expect(refused.result().finishReason).toBe('content_filter');
    expect(decode(chunk([{ text: 'a' }], 'MAX_TOKENS')).decoder.result().finishReason).toBe('length');
    expect(decode(chunk([], 'MALFORMED_FUNCTION_CALL')).decoder.result().finishReason).toBe('other');
  });

  it('throws for an error inside the stream', () => {
    expect(() => decode({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } })).toThrow(
      expect.objectContaining({ code: 'provider_unavailable', status: 503 }),
    );
  });
});

describe('geminiSchema', () => {
  it('keeps what the API knows and drops the rest', () => {
    expect(
      geminiSchema({
        $schema: 'x',
        type: 'object',
        additionalProperties: false,
        required: ['a', 'gone'],
        properties: {
          a: { type: 'string', format: 'email', minLength: 1, examples: ['b'] },
          b: { type: ['integer', 'null'], format: 'int64', exclusiveMinimum: 0 },
          c: { const: 'x' },
          d: { enum: [1, 2], type: 'integer' },
          e: { type: 'array' },
          f: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }, { type: 'null' }] },
          g: { type: 'object' },
          h: { $ref: '#/$defs/H' },
          i: {
            allOf: [{ type: 'object', properties: { x: { type: 'string' } }, required: ['x'] }, { properties: { y: { type: 'boolean' } } }],
          },
          j: { anyOf: [{ type: 'string', description: 'words' }, { type: 'null' }] },
        },
        $defs: { H: { type: 'object', properties: { z: { type: 'string', format: 'date-time' } } } },
      }),
    ).toEqual({
      type: 'OBJECT',
      required: ['a'],
      properties: {
        a: { type: 'STRING', minLength: 1 },
        b: { type: 'INTEGER', nullable: true, format: 'int64' },
        c: { type: 'STRING', format: 'enum', enum: ['x'] },
        d: { type: 'INTEGER' },
        e: { type: 'ARRAY', items: { type: 'STRING' } },
        f: { nullable: true, anyOf: [{ type: 'STRING' }, { type: 'ARRAY', items: { type: 'NUMBER' } }] },
        g: { type: 'OBJECT' },
        h: { type: 'OBJECT', properties: { z: { type: 'STRING', format: 'date-time' } } },
        i: { type: 'OBJECT', properties: { x: { type: 'STRING' }, y: { type: 'BOOLEAN' } }, required: ['x'] },
        j: { type: 'STRING', nullable: true, description: 'words' },
      },
    });
  });

  it('gives none for an object without properties', () => {
    expect(geminiSchema({ type: 'object', properties: {} })).toBeUndefined();
    expect(geminiSchema({})).toBeUndefined();
  });

  it('cuts short a small schema that stands for an endless one', () => {
    const self = { $ref: '#' };
    const properties = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`p${i}`, self]));
    const clean = geminiSchema({ type: 'object', properties, allOf: [{ properties: { q: self } }] });
    expect(JSON.stringify(clean).length).toBeLessThan(1_000_000);
    expect(geminiSchema({ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { $ref: '#/$defs/a' } } })).toEqual({
      type: 'OBJECT',
      properties: { a: { type: 'OBJECT' } },
    });
  });

  it.each<[string, string[]]>([
    ['one type, given often', Array.from({ length: 8 }, () => 'object')],
    ['several types', ['object', 'array', 'string', 'null', 'number']],
  ])('cuts short what is of %s on many levels', (_, type) => {
    let schema: Record<string, unknown> = { type: 'string' };
    for (let level = 0; level < 24; level++) schema = { type, properties: { a: schema, b: { type: 'integer' } }, items: schema };
    const nodes = JSON.stringify(geminiSchema(schema)).match(/"(type|anyOf)":/g)!;
    expect(nodes.length).toBeLessThan(2_500);
  });

  it('says of what type a value is also where it has cut short', () => {
    const properties = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`p${i}`, { type: 'integer', minimum: 1 } as object]));
    const last = [
      { type: ['null', 'string'] },
      { anyOf: [{ type: 'null' }, { type: 'integer' }] },
      { type: 'array', items: { type: 'number' } },
      { type: 'array', items: { type: 'array' } },
      { enum: ['a', 'b'] },
    ];
    last.forEach((schema, i) => (properties[`q${i}`] = schema));
    expect(geminiSchema({ type: 'object', properties })?.properties).toMatchObject({
      p0: { type: 'INTEGER', minimum: 1 },
      p2999: { type: 'INTEGER' },
      q0: { type: 'STRING' },
      q1: { type: 'INTEGER' },
      q2: { type: 'ARRAY', items: { type: 'NUMBER' } },
      q3: { type: 'ARRAY', items: { type: 'STRING' } },
      q4: { type: 'STRING' },
    });
  });

  it('keeps more than 600 fields that may be null whole', () => {
    const field = { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] };
    const properties = Object.fromEntries(Array.from({ length: 650 }, (_, i) => [`p${i}`, field]));
    expect(geminiSchema({ type: 'object', properties })?.properties).toMatchObject({
      p649: { type: 'INTEGER', minimum: 1, nullable: true },
    });
  });
});
