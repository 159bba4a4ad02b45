import { randomly } from '@aps/platform/testing';
import { chunksOf } from './chunker';
import { linesOf } from './lines';
import { sectionsOf } from './sections';
import { countTokens } from './tokens';

const chunked = (text: string, pages: number[] = []) => chunksOf(text, sectionsOf(text, pages));
const sentences = (n: number, word = 'lorem') => Array.from({ length: n }, (_, i) => `Sentence ${i} says ${word} and ipsum. `).join('');

/** Markdown of all kinds of blocks, with characters of one to many code units. */
function someMarkdown(seed: number): string {
  const next = randomly(seed);
  const upTo = (n: number) => Math.floor(next() * n);
  const words = ['alpha', 'βήτα', '漢字', '👩‍👩‍👧', 'e\u0301', '|', '`x`', 'delta.', '🇫🇷', 'x'.repeat(40), '#', '\u200b'];
  const some = (n: number) => Array.from({ length: 1 + upTo(n) }, () => words[upTo(words.length)]).join(' ');
  const br = seed % 3 === 0 ? '\r\n' : '\n';
  const lines = (n: number, line: () => string) => Array.from({ length: 1 + upTo(n) }, line).join(br);
  const blocks = [
    () => `${'#'.repeat(1 + upTo(6))} ${some(5)}`,
    () => `${some(4)}${br}=====`,
    () => some(400),
    () => lines(60, () => some(12)),
    () => lines(40, () => `- ${some(20)}`),
    () => ['| a | b |', '|---|---|', lines(60, () => `| ${some(30)} | ${some(4)} |`)].join(br),
    () => `\`\`\`ts${br}${lines(120, () => some(8))}${br}\`\`\``,
    () => `~~~${br}# no heading${br}${some(2000)}`,
    () => br.repeat(upTo(50)),
    () => '字'.repeat(upTo(3000)),
    () => ' '.repeat(upTo(3000)),
  ];
  return Array.from({ length: upTo(30) }, () => blocks[upTo(seed % 7 ? 7 : blocks.length)]()).join(br + br);
}

it.each(Array.from({ length: 60 }, (_, seed) => seed))('divides any Markdown into stretches of it (%i)', (seed) => {
  const text = someMarkdown(seed);
  const chunks = chunked(text);
  const points = Array.from(text);
  let reached = 0;
  for (const [i, { position, content, char_start, char_end, token_count }] of chunks.entries()) {
    expect([position, content]).toEqual([i, points.slice(char_start, char_end).join('')]);
    expect(token_count).toBe(countTokens(content));
    expect(token_count).toBeLessThanOrEqual(1_200);
    expect(char_end).toBeGreaterThan(reached);
    expect(points.slice(reached, char_start).join('').trim()).toBe('');
    expect(countTokens(points.slice(char_start, reached).join(''))).toBeLessThanOrEqual(110);
    reached = char_end;
  }
  expect(points.slice(reached).join('').trim()).toBe('');
  expect(chunked(text)).toEqual(chunks);
});

it('fills chunks up to what they are meant to have, and lets each begin with the end of the one before', () => {
  const chunks = chunked(sentences(1000));
  for (const [i, { token_count, content, char_start }] of chunks.entries()) {
    if (i < chunks.length - 1) expect([token_count > 700, token_count <= 820]).toEqual([true, true]);
    expect(content).toMatch(/^Sentence \d+ says/);
    if (i) expect(countTokens(content.slice(0, chunks[i - 1].char_end - char_start))).toBeGreaterThan(50);
  }
});

it('has no chunk where there is nothing to read', () => {
  for (const text of ['', ' ', '\r\n\r\n', '\n'.repeat(100_000)]) expect(chunked(text)).toEqual([]);
});

it('says under which headings a chunk stands, and puts short sections together', () => {
  const text = `# Book\n\nTo begin.\n\n## One ##\n\n${sentences(130)}\n\nTwo\n---\n\n${sentences(40)}\n### Deep\n\nEnd.\n\n\`\`\`\n# no\n\`\`\`\n`;
  expect(chunked(text).map(({ heading_path, content }) => [heading_path, content.slice(0, 8)])).toEqual([
    [['Book'], '# Book\n\n'],
    [['Book', 'One'], 'Sentence'],
    [['Book', 'Two'], 'Two\n---\n'],
    [['Book', 'Two', 'Deep'], '### Deep'],
  ]);
});

it('leaves no heading behind at the end of a chunk', () => {
  for (let n = 50; n < 70; n++)
    for (const { content } of chunked(`${sentences(n)}\n\n# Heading\n\n${sentences(80)}`)) expect(content).not.toMatch(/# Heading\s*$/);
});

it('says on which page a chunk begins that goes over several', () => {
  const pages = Array.from({ length: 6 }, (_, i) => `${sentences(40, `page${i + 1}`)}\n`);
  const starts = pages.map((_, i) => pages.slice(0, i).join('').length);
  for (const { page, content, char_start } of chunked(pages.join(''), starts).slice(1)) {
    const overlap = chunked(pages.join(''), starts).find(({ char_end }) => char_end > char_start)!.char_end - char_start;
    expect(content.slice(overlap)).toContain(`page${page}`);
  }
});

it('divides neither a fence nor a row of a table that fits', () => {
  const fence = `\`\`\`\n${'let x = 1;\n'.repeat(180)}\`\`\`\n`;
  const rows = Array.from({ length: 12 }, (_, i) => `| ${i} | ${sentences(40)} | end${i} |\n`);
  const text = `${sentences(60)}\n\n${fence}\n\na | b | c\n--|--|--\n${rows.join('')}\n${fence}`;
  const chunks = chunked(text).map(({ content }) => content);
  for (const whole of [fence, ...rows]) expect(chunks.filter((content) => content.includes(whole.trim())).length).toBeGreaterThan(0);
  for (const content of chunks) expect((content.match(/```/g) ?? []).length % 2).toBe(0);
});

it('divides what does not fit: fences by lines, endless words between characters', () => {
  const fence = chunked(`\`\`\`\n${'let x = 1;\n'.repeat(2000)}\`\`\``);
  for (const { content } of fence.slice(1, -1)) expect(content).toMatch(/^let[^]*;\n$/);
  for (const character of ['👩‍👩‍👧', 'e\u0301', '漢'])
    for (const { content } of chunked(character.repeat(3000))) expect(content).toMatch(new RegExp(`^(${character})+$`, 'u'));
  expect(chunked(`e${'\u0301'.repeat(20_000)}`).length).toBeGreaterThan(1);
});

it('comes to the end of rows of blanks that end as no row does', () => {
  const kinds = linesOf(`a | b\n-${' '.repeat(9_990)}|x\n`.repeat(1_000)).map(({ kind }) => kind);
  expect(new Set(kinds)).toEqual(new Set(['text']));
  expect(linesOf('a | b\n :-- | --- | \n').map(({ kind }) => kind)).toEqual(['row', 'row']);
});

it('takes the marks of models for text', () => {
  expect(chunked('a <|endoftext|> b')).toMatchObject([{ content: 'a <|endoftext|> b' }]);
});

it('refuses what comes to too many', () => {
  const text = Array.from({ length: 4 }, (_, i) => `# h${i}\n${sentences(30)}\n`).join('');
  const sections = sectionsOf(text);
  expect(chunksOf(text, sections, 4)).toHaveLength(4);
  expect(() => chunksOf(text, sections, 3)).toThrow(expect.objectContaining({ code: 'too_large' }));
});
