import type { ChildProcess } from 'node:child_process';
import { OrgScope } from '@aps/guards';
import type { Places } from '@aps/platform/children';
import { randomly } from '@aps/platform/testing';
import { docx, paragraph, pdf, pptx, shape, xlsx, zip } from '../testing';
import { ExtractionError } from './extraction-error';
import { WAITING_OF_AN_ORG } from './readers';
import { TextReader } from './text-reader';

const reader = new TextReader();
afterAll(() => reader.onApplicationShutdown());

/** What of a reader is looked at here. */
interface Inside {
  readMs: number;
  waitMs: number;
  places: Places<{ child: { child: ChildProcess } }>;
}

const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;
const ORG = OrgScope.system('0192aaaa-0000-7000-8000-000000000001', 'spec');
const opened = (bytes: string | Buffer) => () => Promise.resolve(Buffer.from(bytes as string));
const read = async (bytes: string | Buffer, filename: string | null = null, media_type: string | null = null) =>
  (await reader.read(ORG, opened(bytes), { filename, media_type }, NEVER))!;
const text = async (bytes: string | Buffer, filename?: string, mediaType?: string) => (await read(bytes, filename, mediaType)).text;
const codeOf = (bytes: string | Buffer, filename?: string) =>
  read(bytes, filename).then(
    () => null,
    (error: ExtractionError) => (error instanceof ExtractionError ? error.code : error),
  );

describe('a file is read as Markdown', () => {
  it('a Word document, with headings, lists, tables and notes', async () => {
    const styles = `<w:styles><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
      <w:style w:styleId="Mine"><w:basedOn w:val="berschrift2"/></w:style></w:styles>`;
    const numbering = `<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
      <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num></w:numbering>`;
    const item = (said: string, level: number) => paragraph(said, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="3"/></w:numPr>`);
    const cell = (said: string) => `<w:tc>${paragraph(said)}</w:tc>`;
    const body = [
      paragraph('Book', '<w:outlineLvl w:val="0"/>'),
      paragraph('Chapter', '<w:pStyle w:val="Mine"/>'),
      '<w:p><w:r><w:t>One</w:t><w:tab/><w:t>&amp; two</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>',
      item('first', 0) + item('deeper', 1),
      `<w:tbl><w:tr>${cell('a')}${cell('b|c')}</w:tr><w:tr>${cell('1')}<w:tc><w:tbl><w:tr>${cell('in')}${cell('ner')}</w:tr></w:tbl></w:tc></w:tr></w:tbl>`,
      paragraph('# no heading'),
    ].join('');
    expect(await read(docx(body, { 'word/styles.xml': styles, 'word/numbering.xml': numbering, 'word/media/a.zip': zip({}) }))).toEqual({
      text: '# Book\n\n## Chapter\n\nOne\t& two\n\n1. first\n  - deeper\n\n| a | b\\|c |\n| --- | --- |\n| 1 | in ner |\n\n\\# no heading\n',
      ...{ title: 'The title', pages: [], hasHeadings: true },
      media_type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    });
  });

  it('slides, each a page under its title, with tables and notes', async () => {
    const rows = '<a:tbl><a:tr><a:tc><a:p><a:t>x</a:t></a:p></a:tc><a:tc><a:p><a:t>y</a:t></a:p></a:tc></a:tr></a:tbl>';
    const { text: said, pages } = await read(
      pptx([
        { shapes: shape('body', 'one', 'two') + shape('ctrTitle', 'Hello') + shape('sldNum', '1'), notes: shape('body', 'Say it') },
        { shapes: `${shape(null, 'Free')}<p:graphicFrame>${rows}</p:graphicFrame>` },
      ]),
    );
    expect(said).toBe('# Hello\n\n- one\n- two\n\nSay it\n\n# Slide 2\n\nFree\n\n| x | y |\n| --- | --- |\n\n\n');
    expect(pages).toEqual([0, said.indexOf('# Slide 2')]);
  });

  it('sheets, each a table of the columns that it uses, with dates as such', async () => {
    const rows = `<row><c r="B1" t="s"><v>0</v></c><c r="XFD1" t="inlineStr"><is><t>b</t></is></c></row><row/>
      <row><c r="B3" s="1"><v>45000.5</v></c><c r="XFD3"><f>1+1</f><v>2</v></c></row>`;
    const styles =
      '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>';
    expect(await text(xlsx({ Sales: rows, Empty: '' }, ['day'], { 'xl/styles.xml': styles }))).toBe(
      '# Sales\n\n| day | b |\n| --- | --- |\n| 2023-03-15 12:00:00 | 2 |\n\n',
    );
  });

  it('a PDF, page by page', async () => {
    expect(await read(pdf([['First page', 'goes on'], null, ['# Third']]))).toEqual({
      text: 'First page\ngoes on\n\n\n\n# Third\n\n',
      ...{ title: 'The title', media_type: 'application/pdf', pages: [0, 20, 22], hasHeadings: false },
    });
  });

  it('a page of the web, without what is around its article unless the whole is wanted', async () => {
    const paragraphs = Array.from(
      { length: 8 },
      (_, i) => `<p>Paragraph ${i} says a lot, and then, with commas, some more of it.</p>`,
    ).join('');
    const html = `<!doctype html><title> A page </title><nav><a href="/x">Menu</a></nav><article><h1>Head</h1>${paragraphs}
      <script>alert(1)</script><ul><li>a <a href="https://x.example/y">link</a></li></ul><pre><code>let x;\nlet y;</code></pre>
      <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table></article>`;
    const extracted = await read(html);
    expect(extracted).toMatchObject({ title: 'A page', media_type: 'text/html' });
    for (const part of [
      'Paragraph 7 says',
      '[link](https://x.example/y)',
      '```\nlet x;\nlet y;\n```',
      '| k | v |\n| --- | --- |\n| 1 | 2 |',
    ])
      expect(extracted.text).toContain(part);
    expect(extracted.text).not.toMatch(/alert|Menu/);
    const all = await reader.read(ORG, opened(html), { filename: null, media_type: null, whole: true }, NEVER);
    expect(all!.text).toMatch(/Menu[^]*Paragraph 7 says/);
    expect(await text('<h2>Short</h2><p>snake_case', 'a.html')).toBe('## Short\n\nsnake_case');
  });

  it('a mail, without what is attached', async () => {
    const mail =
      `From: Ada <ada@x.example>\r\nTo: b@x.example\r\nSubject: =?utf-8?q?H=C3=A9?=\r\nDate: Thu, 1 Jan 2026 10:00:00 +0100\r\nMIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>Hello <b>you</b></p>\r\n--x\r\nContent-Type: text/plain
Content-Disposition: attachment; filename=a.txt\r\n\r\nsecret\r\n--x--`.replace(/\r?\n/g, '\r\n');
    const extracted = await read(mail);
    expect(extracted.title).toBe('Hé');
    expect(extracted.text).toBe('# Hé\n\nFrom: "Ada" <ada@x.example>\nTo: b@x.example\nDate: 2026-01-01T09:00:00.000Z\n\nHello **you**');
  });

  it('tables of text, and JSON with its numbers as they are', async () => {
    expect(await text('a;b\r\n"x; ""y""";1\r\n', 'A.CSV')).toBe('| a | b |\n| --- | --- |\n| x; "y" | 1 |\n');
    const json = `{"id":12345678901234567890,"list":[1,{}],"text":"${'x,'.repeat(200)}"}`;
    expect(await text(json, null!, 'application/json')).toContain(
      '```json\n{\n  "id": 12345678901234567890,\n  "list": [\n    1,\n    {}\n  ],',
    );
    expect(await text('{"a": }', 'a.json')).toBe('{"a": }');
  });

  it.each([
    ['UTF-8 with its mark', Buffer.from('\ufeffHé 😀'), null, 'Hé 😀'],
    ['UTF-16', Buffer.from('\ufeffHé 😀', 'utf16le'), null, 'Hé 😀'],
    ['UTF-16, the other way round', Buffer.from('\ufeffHé 😀', 'utf16le').swap16(), null, 'Hé 😀'],
    ['windows-1252', Buffer.from([0x80, 0x20, 0xe9]), null, '€ é'],
    ['what is declared', Buffer.from([0xcf, 0xf0]), 'text/plain; charset=windows-1251', 'Пр'],
    ['a charset that is none', Buffer.from('é'), 'text/plain; charset=nonsense', 'é'],
    ['a page that declares it', Buffer.from('<meta charset="iso-8859-2"><p>\xb1', 'latin1'), 'text/html', 'ą'],
  ])('in %s', async (_, bytes, mediaType, expected) => {
    expect(await text(bytes, undefined, mediaType ?? undefined)).toBe(expected);
  });

  it('tells texts apart by their name, then by their type, and takes out what cannot be stored', async () => {
    const kinds = await Promise.all([
      read('# a', 'a.md'),
      read('# a', 'a.txt', 'text/markdown'),
      read('# a', 'x', 'text/markdown'),
      read('# a'),
    ]);
    expect(kinds.map(({ media_type, hasHeadings }) => [media_type, hasHeadings])).toEqual([
      ['text/markdown', true],
      ['text/plain', false],
      ['text/markdown', true],
      ['text/plain', false],
    ]);
    expect(await text(`a\0b\r\nc\rd${' '.repeat(20)}`)).toBe(`ab\nc\nd${' '.repeat(20)}`);
    expect(await text(Buffer.from([0xff, 0xfe, 0x3d, 0xd8, 0x61, 0]))).toBe('a');
  });
});

describe('the kind of a file', () => {
  const page = '<!doctype html><title>Guide</title><p>Be kind.';
  it.each([
    ['a page whose path ends otherwise', page, 'guide.md', 'text/html; charset=utf-8', 'text/html'],
    ['a page that begins as none, as its server says', '<p>Be kind.', 'guide.txt', 'text/html', 'text/html'],
    ['a text of comments', `${'<!---->'.repeat(500)}x`, 'a.txt', null, 'text/plain'],
    ['a page after comments', `<!--a-->\n<!-- b -->${page}`, 'a.txt', null, 'text/html'],
    ['a page by its bytes', page, 'guide.json', null, 'text/html'],
    ['a text of a company', 'MZ Holding AG', 'a.txt', null, 'text/plain'],
    ['a table whose first column is a tag', 'ID3,name\n1,x', 'a.csv', null, 'text/csv'],
    ['a text about files', 'RIFF files begin like this.', 'a.md', null, 'text/markdown'],
    ['a text that names PDF', '# Formats\n\nA file begins with %PDF-1.7 there.', 'a.md', null, 'text/markdown'],
    ['a PDF behind other things', Buffer.concat([Buffer.from([1, 2, 3, 4, 0, 1, 2]), pdf([['One']])]), 'a.txt', null, 'application/pdf'],
  ])('is told from its bytes: %s', async (_, bytes, filename, mediaType, kind) => {
    expect((await read(bytes, filename, mediaType)).media_type).toBe(kind);
  });

  it('is text where a table ends within a quote', async () => expect(await text('a,b\n1,"x\n2,y', 'a.csv')).toBe('a,b\n1,"x\n2,y'));
});

describe('a file is refused', () => {
  it.each([
    ['unsupported_type', 'a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'a.txt'],
    ['unsupported_type', 'a program', Buffer.from('MZ\x90\0\x03\0\0\0', 'latin1'), 'a.txt'],
    ['unsupported_type', 'a sound', Buffer.from('ID3\x03\0\0\0\0\x0fTIT2', 'latin1'), 'a.txt'],
    ['unsupported_type', 'an archive of other things', zip({ 'a.txt': 'x' }), 'a.docx'],
    ['unsupported_type', 'what is no text', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256)), 'a.txt'],
    [
      'encrypted',
      'an office document with a password',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
      'a.docx',
    ],
    ['unsupported_type', 'an old office document', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), 'a.doc'],
    ['encrypted', 'an archive with a password', docx(paragraph('x'), {}, { encrypted: true }), 'a'],
    [
      'encrypted',
      'a PDF with a password',
      pdf([['x']], `/Encrypt<</Filter/Standard/V 1/R 2/O(${'o'.repeat(32)})/U(${'u'.repeat(32)})/P -4>>/ID[(a)(a)]`),
      'a',
    ],
    ['no_text', 'nothing', '', 'a.txt'],
    ['no_text', 'blank lines', ' \r\n\0\r\n', 'a.txt'],
    ['no_text', 'a PDF of pictures', pdf([null, null]), 'a'],
    ['no_text', 'a document without words', docx(''), 'a'],
    ['extract_failed', 'half an archive', docx(paragraph('x')).subarray(0, 300), 'a'],
    ['extract_failed', 'XML that breaks off', zip({ 'word/document.xml': '<w:document><w:p>' }), 'a'],
    ['extract_failed', 'a PDF that is none', '%PDF-1.4 nothing', 'a'],
    ['too_large', 'a text of more than 10 MiB', 'word '.repeat(2 * MIB + 210_000), 'a.txt'],
    ['too_large', 'a table that grows to more', xlsx({ a: '<row><c t="s"><v>0</v></c></row>'.repeat(20_000) }, ['x'.repeat(1000)]), 'a'],
    ['too_large', 'a PDF of more than 5,000 pages', pdf(Array.from({ length: 5_001 }, () => null)), 'a'],
  ])('as %s: %s', async (code, _, bytes, filename) => {
    expect(await codeOf(bytes, filename)).toBe(code);
  });

  it.each([
    ['a file that unpacks to more than 100 times its bytes', () => docx(' '.repeat(3 * MIB))],
    ['one of more than 200 MiB', () => docx('', { a: Buffer.alloc(201 * MIB) })],
    [
      'files that share their bytes',
      () =>
        zip(
          { 'word/document.xml': 'x'.repeat(MIB), ...Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`f${i}`, ''])) },
          { overlapping: true },
        ),
    ],
    ['more than 10,000 files', () => docx('', Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`${i}`, ''])))],
    ['entities that name entities', () => zip({ 'word/document.xml': '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>' })],
    [
      'entities of files',
      () => xlsx({ a: '' }, [], { 'xl/styles.xml': '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>' }),
    ],
    ['XML that nests without end', () => docx('<w:sdt>'.repeat(100_000))],
  ])('as a bomb: %s', async (_, bytes) => {
    expect(await codeOf(bytes())).toBe('bomb');
  });

  it('where it unpacks to more than it says', async () => {
    expect(await codeOf(docx(paragraph('x'.repeat(10_000)), {}, { claimed: 100 }))).toBe('extract_failed');
  });
});

describe('a hostile file', () => {
  it.each([
    ['HTML that nests', () => '<div>'.repeat(100_000), 'a.html'],
    ['tables that nest', () => '<table><tr><td>'.repeat(5_000), 'a.html'],
    ['attributes without end', () => `<p ${'a=b '.repeat(100_000)}>x`, 'a.html'],
    ['lists of JSON that nest', () => '['.repeat(50_000) + ']'.repeat(50_000), 'a.json'],
    ['quotes that do not end', () => '"a,'.repeat(100_000), 'a.csv'],
    ['hashes', () => `${'#'.repeat(100_000)} ${'`'.repeat(100_000)}`, 'a.md'],
    ['bars', () => '| - '.repeat(100_000), 'a.md'],
    [
      'parts of mail that nest',
      () => `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n'.repeat(5_000)}`,
      'a.eml',
    ],
    [
      'a PDF whose pages are their own parent',
      () =>
        pdf([['x']])
          .toString('latin1')
          .replace('/Kids[5 0 R]', '/Kids[2 0 R]'),
      'a.pdf',
    ],
  ])('ends alone: %s', async (_, bytes, filename) => {
    const code = await codeOf(bytes(), filename);
    expect([null, 'bomb', 'too_large', 'extract_failed', 'no_text', 'timeout']).toContain(code);
    expect(await text('Hello')).toBe('Hello');
  });

  it('ends alone, whatever its bytes are', async () => {
    const next = randomly(3);
    const files = [
      docx(paragraph('Hello')),
      xlsx({ a: '<row><c><v>1</v></c></row>' }),
      pptx([{ shapes: shape(null, 'x') }]),
      pdf([['Hello']]),
    ];
    for (let i = 0; i < 60; i++) {
      const bytes = Buffer.from(files[i % files.length]);
      for (let n = 0; n < 5; n++) bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
      expect(await codeOf(bytes)).not.toBeInstanceOf(Error);
    }
  });

  /** A reader of its own for one spec. */
  async function withReader(use: (own: TextReader, inside: Inside) => Promise<void>): Promise<void> {
    const own = new TextReader();
    try {
      await use(own, (own as unknown as { readers: Inside }).readers);
    } finally {
      own.onApplicationShutdown();
    }
  }
  const HTML = { filename: 'a.html', media_type: null };
  const slow = opened('<table><tr><td>'.repeat(20_000));
  const hello = (own: TextReader, scope = ORG) => own.read(scope, opened('Hello'), HTML, NEVER);

  it('is given up when its time is over, or nobody waits for it any more', () =>
    withReader(async (own, inside) => {
      inside.readMs = 300;
      await expect(own.read(ORG, slow, HTML, NEVER)).rejects.toMatchObject({ code: 'timeout' });
      inside.readMs = 60_000;
      const given = new AbortController();
      const reading = own.read(ORG, slow, HTML, given.signal);
      setImmediate(() => given.abort(new Error('Nobody waits')));
      await expect(reading).rejects.toThrow('Nobody waits');
      expect(await hello(own)).toMatchObject({ text: 'Hello' });
      const late = own.read(ORG, slow, HTML, NEVER);
      setImmediate(() => own.onApplicationShutdown());
      await expect(late).rejects.toMatchObject({ code: 'service_unavailable' });
    }));

  it('has its time from when a process is ready to read it, and no verdict of one that ends by itself', () =>
    withReader(async (own, inside) => {
      // Less than it takes to load what reads.
      inside.readMs = 300;
      expect(await hello(own)).toMatchObject({ text: 'Hello' });
      inside.readMs = 60_000;
      const reading = own.read(ORG, slow, HTML, NEVER);
      setImmediate(() => inside.places.all.find(({ holds }) => holds)!.holds!.child.child.kill('SIGKILL'));
      await expect(reading).rejects.toMatchObject({ code: 'service_unavailable' });
      expect(await hello(own)).toMatchObject({ text: 'Hello' });
    }));

  it('keeps others waiting with none of their bytes, until nobody waits for them any more', () =>
    withReader(async (own) => {
      const [first, waits] = [new AbortController(), new AbortController()];
      const busy = Promise.allSettled([1, 2].map(() => own.read(ORG, slow, HTML, first.signal)));
      const open = jest.fn(opened('Hello'));
      const left = own.read(ORG, open, HTML, waits.signal);
      waits.abort(new Error('Nobody waits'));
      await expect(left).rejects.toThrow('Nobody waits');
      const next = own.read(ORG, open, HTML, NEVER);
      await new Promise(setImmediate);
      expect(open).not.toHaveBeenCalled();
      first.abort(new Error('Enough'));
      expect(await next).toMatchObject({ text: 'Hello' });
      expect((await busy).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    }));

  it('that is gone is none', () =>
    withReader(async (own) => expect(await own.read(ORG, () => Promise.resolve(null), HTML, NEVER)).toBeNull()));

  describe('of one organization', () => {
    const [ours, theirs] = [1, 2].map((n) => OrgScope.member(`0192aaaa-0000-7000-8000-00000000000${n}`, 'a user', 'MEMBER'));
    const BUSY = { code: 'service_unavailable', retryAfterS: 5 };

    it('keeps none of another waiting, and is refused where too many wait; what is left is read when they have gone', () =>
      withReader(async (own, { places }) => {
        const leave = new AbortController();
        const readSlow = () => own.read(ours, slow, HTML, leave.signal);
        const busy = Promise.allSettled(Array.from({ length: 11 }, readSlow));
        expect(await hello(own, theirs)).toMatchObject({ text: 'Hello' });
        const others = Promise.allSettled(Array.from({ length: WAITING_OF_AN_ORG - 10 }, readSlow));
        await expect(readSlow()).rejects.toMatchObject(BUSY);
        expect(await hello(own, theirs)).toMatchObject({ text: 'Hello' });
        leave.abort(new Error('Enough'));
        const ends = [...(await busy), ...(await others)];
        expect(new Set(ends.map((end) => (end as PromiseRejectedResult).reason.message))).toEqual(new Set(['Enough']));
        expect(places.waitingOf(ours.orgId)).toBe(0);
        expect(await Promise.all([ours, theirs, ours, theirs].map((scope) => hello(own, scope)))).toHaveLength(4);
      }));

    it('is waited for so long by a request, and on by all else', () =>
      withReader(async (own, inside) => {
        inside.waitMs = 50;
        const leave = new AbortController();
        const busy = own.read(ORG, slow, HTML, leave.signal);
        const later = hello(own);
        await expect(hello(own, ours)).rejects.toMatchObject({ ...BUSY, ofOne: true });
        leave.abort(new Error('Enough'));
        await expect(busy).rejects.toThrow('Enough');
        expect(await later).toMatchObject({ text: 'Hello' });
        expect(await hello(own, ours)).toMatchObject({ text: 'Hello' });
      }));

    it('is told from what all wait for, however many of it wait', () =>
      withReader(async (own, inside) => {
        inside.waitMs = 50;
        const leave = new AbortController();
        const others = ['0192aaaa-0000-7000-8000-000000000002', '0192aaaa-0000-7000-8000-000000000003'];
        const busy = Promise.allSettled(others.map((id) => own.read(OrgScope.system(id, 'spec'), slow, HTML, leave.signal)));
        const refused = await Promise.allSettled([1, 2].map(() => hello(own, ours)));
        expect(refused).toMatchObject([1, 2].map(() => ({ reason: { ...BUSY, ofOne: false } })));
        leave.abort(new Error('Enough'));
        await busy;
      }));
  });
});
