import { CallAnswer, toResult, ToolPage, toTool } from './answers';

const result = (answer: unknown) => toResult(CallAnswer.parse(answer));
const tool = (listed: object) => toTool(ToolPage.parse({ tools: [listed] }).tools[0]);

describe('a result', () => {
  it('is its text', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect(result({ content, structuredContent: { one: 1 } })).toEqual({ content: 'one\ntwo', isError: false });
    expect(result({ content, isError: true }).isError).toBe(true);
  });

  it('is its structured content where there is no text', () => {
    expect(result({ structuredContent: { one: 1 } }).content).toBe('{"one":1}');
    expect(result({ content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }], structuredContent: { one: 1 } }).content).toBe(
      '{"one":1}\n[audio: audio/wav, 3 bytes]',
    );
  });

  it('says so of structured content that nobody could write', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) as object;
    expect(result({ structuredContent: deep })).toEqual({ content: '[nests too deep to be written]', isError: false });
  });

  it('names what is no text in a line, also what no protocol knows yet', () => {
    const content = [
      { type: 'image', mimeType: 'image/png', data: 'AAAAAAAA' },
      { type: 'resource_link', uri: 'notes://1', name: 'first' },
      { type: 'resource', resource: { uri: 'notes://2', mimeType: 'text/plain', text: 'words' } },
      { type: 'resource', resource: { uri: 'notes://3', blob: 'AAAA' } },
      { type: 'smell', intensity: 3 },
    ];
    expect(result({ content }).content.split('\n')).toEqual([
      '[image: image/png, 6 bytes]',
      '[resource: first, notes://1]',
      '[resource: notes://2, text/plain]',
      'words',
      '[resource: notes://3]',
      '[smell]',
    ]);
    expect(result({}).content).toBe('');
  });
});

it('takes a tool for what it is, whatever is odd about it', () => {
  expect(tool({ name: 'a', inputSchema: 'none', annotations: { title: 'A', readOnlyHint: 'yes', destructiveHint: true } })).toEqual({
    name: 'a',
    title: 'A',
    description: '',
    input_schema: { type: 'object' },
    hints: { destructiveHint: true },
  });
  expect(tool({ name: 'a', annotations: 7 }).hints).toEqual({});
  expect(() => tool({ name: '' })).toThrow();
});
