import { blocksOf, isAsDocumented, stepsOf } from './blocks';

const MARKDOWN = [
  '# A',
  '```bash',
  'echo 1',
  '',
  'echo 2',
  '```',
  '```text',
  '1',
  '…',
  '```',
  'between',
  '````',
  '```',
  'inner',
  '````',
  '```bash',
  'true',
  '```',
].join('\n');

describe('blocks of a Markdown text', () => {
  it('are found with their kind and place', () => {
    expect(blocksOf(MARKDOWN)).toEqual([
      { info: 'bash', text: 'echo 1\n\necho 2', line: 2 },
      { info: 'text', text: '1\n…', line: 7 },
      { info: '', text: '```\ninner', line: 12 },
      { info: 'bash', text: 'true', line: 16 },
    ]);
  });

  it('become steps with the output that follows them', () => {
    expect(stepsOf(MARKDOWN)).toEqual([
      { script: 'echo 1\n\necho 2', output: '1\n…', line: 2 },
      { script: 'true', output: null, line: 16 },
    ]);
  });
});

describe('a documented output', () => {
  it.each([
    ['a', 'a', true],
    ['a\n', 'a', true],
    ['a b\nc', 'a …c', true],
    ['a.b', 'a…', true],
    ['axb', 'a.b', false],
    ['ab', 'a', false],
    ['', 'a', false],
  ])('%j is %j: %p', (printed, documented, same) => {
    expect(isAsDocumented(printed, documented)).toBe(same);
  });
});
