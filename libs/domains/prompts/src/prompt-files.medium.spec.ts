import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { entitle } from '@aps/billing/testing';
import { ExtractionError, FilesService, TextReader } from '@aps/files';
import { docx, paragraph, pdf, zip } from '@aps/files/testing';
import { OrgScope } from '@aps/guards';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { eventually } from '@aps/testing';
import { MAX_FETCHED_BYTES } from './prompt-files';
import { promptsService } from './testing/prompts';

const MiB = 1024 * 1024;
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 1)]);
const INVOICE = 'total: 12.50';
const PDF = pdf([[INVOICE]]);
/** Pages without words, as a scanner makes them. */
const SCAN = pdf([null]);
const FIELDS = [{ name: 'total', type: 'number', required: true }];
const t = promptsService();
let org: TestTeam;
beforeEach(async () => {
  await entitle(t, { direct_model_choice: true, enforces_credits: false });
  org = await aTeam(t);
});

/** @returns its path */
async function aTemplate(body: object): Promise<string> {
  const { id } = await t.make('POST', `${org.path}/prompt-templates`, { as: org.owner, body: { name: 'A', model: 'vision', ...body } });
  return `${org.path}/prompt-templates/${id}`;
}
const inline = (filename: string, bytes: Buffer | string, media_type = 'text/plain') => ({
  filename,
  media_type,
  data_base64: Buffer.from(bytes as string).toString('base64'),
});
const upload = async (scope: OrgScope, filename: string, bytes: Buffer | string): Promise<{ file_id: string }> => {
  const incoming = { filename, bytes: Readable.from([Buffer.from(bytes as string)]), complete: Promise.resolve() };
  return { file_id: (await t.get(FilesService).upload(scope, incoming)).id };
};
const test = async (path: string, body: object) => (await t.frames(path, org.owner.token, body)).at(-1)!;
const output = async (path: string, body: object) => (await test(path, body))[1].output as string;
const refusal = async (path: string, body: object) => {
  const { status, body: said } = await t.call('POST', `${path}/test`, { as: org.owner, body });
  const [{ loc }] = said.detail as { loc: string[] }[];
  return [status, said.code, loc.slice(1).join('.')];
};

describe('attachments', () => {
  it('come behind the text: uploads and bytes in the request, in their order, as what they are', async () => {
    const path = await aTemplate({ text: 'Look.' });
    const attachments = [inline('a.txt', 'hello', 'image/png'), await upload(org.scope, 'b.png', PNG), inline('../c.pdf', SCAN)];
    expect(await output(path, { attachments })).toBe(
      [
        'You said: Look.',
        '[Attached file "a.txt" (text/plain, 5 bytes): its content follows.]\n```\nhello\n```',
        `[Attached file "b.png" (image/png, ${PNG.length} bytes): it is shown here.]`,
        `[Attached file "c.pdf" (application/pdf, ${SCAN.length} bytes): it is shown here.] [1 image] [1 document]`,
      ].join('\n\n'),
    );
  });

  it('are read with what a structured template reads', async () => {
    const path = await aTemplate({ fields: FIELDS });
    const [event, { data }] = await test(path, { input_text: 'See the file.', attachments: [inline('a.txt', INVOICE)] });
    expect([event, data]).toEqual(['done', { total: 12.5 }]);
    expect(await refusal(path, { attachments: [inline('a.txt', INVOICE)] })).toEqual([422, 'input_missing', 'input_text']);
  });

  it.each(['dialect_2', 'dialect_3'])('reach models of %s as text, too', async (model) => {
    expect(await output(await aTemplate({ text: 'Look.', model }), { attachments: [inline('a.txt', 'hello')] })).toContain('hello');
  });

  it('are refused where the model cannot be given them, or not in the way that was asked for', async () => {
    const [text, image, pdf, other] = [inline('a.txt', 'a'), inline('b.png', PNG), inline('c.pdf', PDF), inline('d.zip', 'PK\x03\x04')];
    const refused = async (model: string, file_input_mode: string | null) => {
      const path = await aTemplate({ text: 'Look.', model, file_input_mode });
      const answers = await Promise.all(
        [text, image, pdf, other].map((file) => t.call('POST', `${path}/test`, { as: org.owner, body: { attachments: [file] } })),
      );
      return answers.map(({ status, body }) => (status === 200 ? 'taken' : `${status} ${body.code}`));
    };
    const no = '422 unsupported_media';
    for (const mode of ['auto', 'both', null]) expect(await refused('vision', mode)).toEqual(['taken', 'taken', 'taken', no]);
    expect(await refused('vision', 'image')).toEqual([no, 'taken', 'taken', no]);
    expect(await refused('vision', 'text')).toEqual(['taken', no, 'taken', no]);
    for (const mode of ['auto', 'both']) expect(await refused('mock', mode)).toEqual(['taken', no, 'taken', no]);
    expect(await refused('mock', 'image')).toEqual([no, no, no, no]);
    const path = await aTemplate({ text: 'Look.', file_input_mode: 'image' });
    expect(await output(path, { attachments: [text], file_input_mode: 'auto' })).toContain('its content follows');
    expect(await refusal(path, { attachments: [image, text] })).toEqual([422, 'unsupported_media', 'attachments.1']);
  });

  const said = (name: string, type: string, bytes: Buffer | string, what: string) =>
    `You said: Look.\n\n[Attached file "${name}" (${type}, ${Buffer.byteLength(bytes)} bytes): ${what}`;

  it.each([
    ['auto', 'vision', PDF, 'its text follows.]\n```\ntotal: 12.50\n\n```'],
    ['auto', 'mock', PDF, 'its text follows.]\n```\ntotal: 12.50\n\n```'],
    ['text', 'vision', PDF, 'its text follows.]\n```\ntotal: 12.50\n\n```'],
    ['image', 'vision', PDF, 'it is shown here.] [1 document]'],
    ['both', 'vision', PDF, 'it is shown here, and its text follows.]\n```\ntotal: 12.50\n\n``` [1 document]'],
    ['both', 'mock', PDF, 'its text follows.]\n```\ntotal: 12.50\n\n```'],
    ['auto', 'vision', SCAN, 'it is shown here.] [1 document]'],
    ['image', 'vision', SCAN, 'it is shown here.] [1 document]'],
    ['both', 'vision', SCAN, 'it is shown here.] [1 document]'],
  ])('are PDFs that by `%s` a model `%s` is given in its way', async (file_input_mode, model, bytes, expected) => {
    const path = await aTemplate({ text: 'Look.', model, file_input_mode });
    expect(await output(path, { attachments: [inline('a.pdf', bytes)] })).toBe(said('a.pdf', 'application/pdf', bytes, expected));
  });

  it('are office files, mails and pages by their text, all of it, and other texts as they stand', async () => {
    const path = await aTemplate({ text: 'Look.' });
    const page = `<!doctype html><title>T</title><nav><a href="/x">Menu</a></nav><article>${'<p>A word, and one more of them.'.repeat(20)}</article>`;
    const [word, mail] = [docx(paragraph('Hello')), 'Subject: Hi\nFrom: a@x.example\nTo: b@x.example\n\nBye'];
    const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    for (const attachment of [inline('a.docx', word), await upload(org.scope, 'a.docx', word)])
      expect(await output(path, { attachments: [attachment] })).toBe(said('a.docx', type, word, 'its text follows.]\n```\nHello\n```'));
    expect(await output(path, { attachments: [inline('a.eml', mail)] })).toContain('# Hi\n\nFrom: a@x.example\nTo: b@x.example\n\nBye');
    expect(await output(path, { attachments: [inline('a.html', page)] })).toMatch(
      /its text follows[^<]*Menu[^<]*A word, and one more of them[^<]*$/,
    );
    expect(await output(path, { attachments: [inline('a.csv', 'a;b')] })).toBe(
      said('a.csv', 'text/csv', 'a;b', 'its content follows.]\n```\na;b\n```'),
    );
    expect(await refusal(path, { attachments: [inline('a.docx', word)], file_input_mode: 'image' })).toEqual([
      422,
      'unsupported_media',
      'attachments.0',
    ]);
  });

  const LOCKED = pdf([['x']], `/Encrypt<</Filter/Standard/V 1/R 2/O(${'o'.repeat(32)})/U(${'u'.repeat(32)})/P -4>>/ID[(a)(a)]`);
  it.each([
    ['is encrypted', LOCKED, 'it is encrypted with a password'],
    ['is damaged', '%PDF-1.7 nothing more', 'it is damaged, or nothing like what it says that it is'],
    ['grows', docx(' '.repeat(3 * MiB)), 'unpacked it has more than 100 times its bytes'],
    ['brings entities', zip({ 'word/document.xml': '<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>' }), 'its XML declares a document type'],
    ['is an archive of other things', zip({ 'a.txt': 'x' }), 'it is an archive of none of the formats that can be read'],
    ['is none of what is read', Buffer.from('ID3\x03\0'), 'it is of a kind that cannot be read here'],
  ])('are refused where one %s, and it is said why', async (_, bytes, why) => {
    const path = await aTemplate({ text: 'Look.', file_input_mode: 'both' });
    const { status, body } = await t.call('POST', `${path}/test`, { as: org.owner, body: { attachments: [inline('a', bytes)] } });
    expect([status, body.code, body.detail]).toMatchObject([
      422,
      'unsupported_media',
      [{ loc: ['body', 'attachments', 0], msg: `The model cannot be given this file: ${why}.` }],
    ]);
  });

  it('are refused without a word where the model does not see, or is to have texts alone', async () => {
    for (const [model, file_input_mode] of [
      ['mock', 'auto'],
      ['mock', 'both'],
      ['vision', 'text'],
    ]) {
      const { body } = await t.call('POST', `${await aTemplate({ text: 'Look.', model, file_input_mode })}/test`, {
        as: org.owner,
        body: { attachments: [inline('a.pdf', SCAN)] },
      });
      expect([body.code, body.detail[0].msg]).toEqual([
        'unsupported_media',
        'The model cannot be given this file: it has no text that can be read.',
      ]);
    }
  });

  it('count by their text, and not by their bytes', async () => {
    const path = await aTemplate({ text: 'Look.' });
    const long = inline('a.docx', docx(paragraph(Array.from({ length: 150_000 }, (_, i) => i).join(' '))));
    expect(await output(path, { attachments: [long] })).toContain('149999');
    expect(await refusal(path, { attachments: [long, long] })).toEqual([422, 'prompt_too_long', 'attachments.1']);
  });

  it('are read no further when the client has gone', async () => {
    const path = await aTemplate({ text: 'Look.' });
    const read = jest.spyOn(t.get(TextReader), 'read');
    const leave = new AbortController();
    const headers = { Authorization: `Bearer ${org.owner.token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ attachments: [inline('a.html', '<table><tr><td>'.repeat(100_000))] });
    const asked = fetch(`${t.url}${path}/test`, { method: 'POST', headers, body, signal: leave.signal });
    await Promise.all([
      expect(asked).rejects.toThrow('aborted'),
      eventually(() => Promise.resolve(read.mock.results), ({ length }) => length === 1).then(() => leave.abort()), // prettier-ignore
    ]);
    await expect(read.mock.results[0].value).rejects.not.toBeInstanceOf(ExtractionError);
    read.mockRestore();
    expect(await t.make('GET', `${path}/runs`, { as: org.owner })).toEqual([]);
  });

  it('of one organization keep none of another waiting, and are 503 where too many wait', async () => {
    const leave = new AbortController();
    const open = () => Promise.resolve(Buffer.from('<table><tr><td>'.repeat(100_000)));
    const hints = { filename: 'a.html', media_type: 'text/html' };
    const busy = Array.from({ length: 17 }, () => t.get(TextReader).read(org.scope, open, hints, leave.signal));
    const ended = Promise.allSettled(busy);
    const body = { attachments: [inline('a.html', '<p>small')] };
    const path = await aTemplate({ text: 'Look.' });
    const refused = await t.call('POST', `${path}/test`, { as: org.owner, body });
    expect([refused.status, refused.headers.get('retry-after'), refused.body.code]).toEqual([503, '5', 'service_unavailable']);
    const ours = org;
    org = await aTeam(t);
    expect(await output(await aTemplate({ text: 'Look.' }), body)).toContain('small');
    leave.abort(new Error('Enough'));
    expect((await ended).filter(({ status }) => status === 'fulfilled')).toEqual([]);
    org = ours;
    expect(await output(path, body)).toContain('small');
  });

  it('are those that the caller may see', async () => {
    const path = await aTemplate({ text: 'Look.' });
    const other = await aTeam(t);
    const mine = await upload(org.scope, 'a.txt', 'mine');
    const [foreign, colleagues] = [
      await upload(other.scope, 'a.txt', 'foreign'),
      await upload(OrgScope.member(org.id, org.member.id, 'MEMBER'), 'a.txt', 'theirs'),
    ];
    for (const file of [foreign, colleagues])
      expect(await refusal(path, { attachments: [mine, file] })).toEqual([422, 'unknown_reference', 'attachments.1.file_id']);
    expect(await output(path, { attachments: [{ file_id: mine.file_id.toUpperCase() }] })).toContain('mine');
  });

  it('that are text only where they begin are refused, and not garbled', async () => {
    const path = await aTemplate({ text: 'Look.' });
    const head = 'plain '.repeat(1_000);
    for (const tail of [Buffer.from('caf\xe9', 'latin1'), Buffer.alloc(4)])
      expect(await refusal(path, { attachments: [inline('a.txt', Buffer.concat([Buffer.from(head), tail]))] })).toEqual([
        422,
        'unsupported_media',
        'attachments.0',
      ]);
    const long = await t.call('POST', `${path}/test`, { as: org.owner, body: { attachments: [inline('a.txt', 'x'.repeat(1_000_001))] } });
    expect(long.body.detail[0].msg).toBe('The model cannot be given this file: it has more than 1000000 characters.');
  });

  it('are looked at before anything else is', async () => {
    const { status, body } = await t.call('POST', `${org.path}/prompt-templates/none/test`, { as: org.owner, body: { attachments: [{}] } });
    expect([status, body.code]).toEqual([422, 'validation_error']);
  });

  it.each<[string, object[], string[]]>([
    ['nothing', [{}], ['attachments.0.filename', 'attachments.0.media_type', 'attachments.0.data_base64']],
    ['both ways at once', [{ ...inline('a', 'a'), file_id: '0192aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee' }], ['attachments.0.file_id']],
    [
      'no base64',
      [
        { ...inline('a', 'a'), data_base64: 'a-_=' },
        { ...inline('a', 'a'), data_base64: 'YWE' },
      ],
      ['attachments.0.data_base64', 'attachments.1.data_base64'],
    ],
    ['no bytes', [{ ...inline('a', 'a'), data_base64: '' }], ['attachments.0.data_base64']],
    ['too many bytes', [inline('a', Buffer.alloc(3 * MiB)), inline('b', Buffer.alloc(2 * MiB + 1))], ['attachments']],
    ['too many files', Array.from({ length: 21 }, () => inline('a', 'a')), ['attachments']],
  ])('that are %s are told what is wrong with them', async (_, attachments, places) => {
    const { status, body } = await t.call('POST', `${await aTemplate({ text: 'a' })}/test`, { as: org.owner, body: { attachments } });
    const found = (body.detail as { loc: string[] }[]).map(({ loc }) => loc.slice(1).join('.'));
    expect([status, body.code, found]).toEqual([422, 'validation_error', places]);
  });

  it('may be 5 MiB in a body of 8, here and nowhere else', async () => {
    const path = await aTemplate({ text: 'a' });
    const image = inline('a.png', Buffer.concat([PNG, Buffer.alloc(3.5 * MiB)]));
    expect(await output(path, { attachments: [image, inline('b.txt', 'x'.repeat(900_000))] })).toContain('[1 image]');
    const large = inline('a.png', Buffer.concat([PNG, Buffer.alloc(5 * MiB - PNG.length)]));
    expect(await refusal(path, { attachments: [large] })).toEqual([422, 'prompt_too_long', 'attachments.0']);
    const grown = gzipSync(JSON.stringify({ input_text: 'x'.repeat(2 * MiB) }));
    const headers = { Authorization: `Bearer ${org.owner.token}`, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    expect((await fetch(`${t.url}${path}/test`, { method: 'POST', headers, body: grown })).status).toBe(413);
    const tooLarge = { as: org.owner, body: { input_text: 'x'.repeat(8 * MiB) } };
    expect((await t.call('POST', `${path}/test`, tooLarge)).status).toBe(413);
    expect((await t.call('POST', `${org.path}/prompt-templates`, { as: org.owner, body: { name: 'x'.repeat(MiB) } })).status).toBe(413);
  });
});

describe('an address', () => {
  const extract = async (url: string, body: object = {}) => test(await aTemplate({ fields: FIELDS }), { input_url: url, ...body });

  it('is read in the place of a text, or beside one', async () => {
    t.pages['/invoice'] = { body: INVOICE };
    t.pages['/moved'] = { status: 302, headers: { location: '/invoice' } };
    const path = await aTemplate({ fields: FIELDS });
    expect(await test(path, { input_url: `${t.siteUrl}/moved` })).toMatchObject(['done', { data: { total: 12.5 } }]);
    expect(await t.make('GET', `${path}/runs`, { as: org.owner })).toMatchObject([{ input_preview: INVOICE }]);
    expect(await test(path, { input_url: `${t.siteUrl}/invoice`, input_text: 'Last month’s.' })).toMatchObject([
      'done',
      { data: { total: 12.5 } },
    ]);
  });

  it('may be of a PDF, which is read as its text', async () => {
    t.pages['/invoice.pdf'] = { body: PDF };
    const path = await aTemplate({ fields: FIELDS });
    expect(await test(path, { input_url: `${t.siteUrl}/invoice.pdf` })).toMatchObject(['done', { data: { total: 12.5 } }]);
    expect(await t.make('GET', `${path}/runs`, { as: org.owner })).toMatchObject([{ input_preview: `${INVOICE}\n\n` }]);
  });

  it('may be of an image, which models see', async () => {
    t.pages['/a%ZZ.png'] = { body: PNG };
    expect(await extract(`${t.siteUrl}/a%ZZ.png`)).toMatchObject(['done', {}]);
    expect(await refusal(await aTemplate({ fields: FIELDS, model: 'mock' }), { input_url: `${t.siteUrl}/a%ZZ.png` })).toEqual([
      422,
      'unsupported_media',
      'input_url',
    ]);
  });

  it.each([
    'ftp://a.example/',
    'https://u:p@a.example/',
    'https://127.0.0.1/',
    'https://169.254.169.254/latest',
    'https://localhost/',
    'http://a.example/',
    'no url',
    'https://a.example:22/',
  ])('%s is refused', async (input_url) =>
    expect(await refusal(await aTemplate({ fields: FIELDS }), { input_url })).toEqual([422, 'address_refused', 'input_url']),
  );

  it('that leads inside is refused', async () => {
    t.pages['/inside'] = { status: 302, headers: { location: 'https://169.254.169.254/' } };
    expect(await refusal(await aTemplate({ fields: FIELDS }), { input_url: `${t.siteUrl}/inside` })).toEqual([
      422,
      'address_refused',
      'input_url',
    ]);
  });

  it.each<[string, { status?: number; headers?: Record<string, string>; body?: string | Buffer }]>([
    ['nobody', { status: 404 }],
    ['a failure', { status: 500, body: INVOICE }],
    ['nothing', { body: '' }],
    ['too much', { body: Buffer.alloc(MAX_FETCHED_BYTES + 1, 'a') }],
    ['what cannot be decompressed', { headers: { 'content-encoding': 'gzip' }, body: INVOICE }],
    ['a circle', { status: 302, headers: { location: '/page' } }],
  ])('where there is %s is said to have failed', async (_, page) => {
    t.pages['/page'] = page;
    const path = await aTemplate({ fields: FIELDS });
    expect(await refusal(path, { input_url: `${t.siteUrl}/page` })).toEqual([422, 'input_url_failed', 'input_url']);
    expect(await t.make('GET', `${path}/runs`, { as: org.owner })).toEqual([]);
  });

  it('is nothing to a plain template', async () => {
    expect(await output(await aTemplate({ text: 'Hello.' }), { input_url: 'no url', input_text: 'x' })).toBe('You said: Hello.');
  });

  it('is not waited for when the client has gone', async () => {
    const path = await aTemplate({ fields: FIELDS });
    const leave = new AbortController();
    t.pages['/slow'] = 'silence';
    const headers = { Authorization: `Bearer ${org.owner.token}`, 'Content-Type': 'application/json' };
    const asked = fetch(`${t.url}${path}/test`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ input_url: `${t.siteUrl}/slow` }),
      signal: leave.signal,
    });
    const waiting = (n: number) =>
      eventually(
        () => Promise.resolve(t.waiting),
        (found) => found === n,
      );
    await Promise.all([expect(asked).rejects.toThrow('aborted'), waiting(1).then(() => leave.abort())]);
    await waiting(0);
    expect(await t.make('GET', `${path}/runs`, { as: org.owner })).toEqual([]);
  });
});
