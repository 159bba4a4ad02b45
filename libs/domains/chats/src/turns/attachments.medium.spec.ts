import type { ChildProcess } from 'node:child_process';
import type { Bearer } from '@aps/platform/testing';
import { entitle } from '@aps/billing/testing';
import { aPerson } from '@aps/identity/testing';
import { Readable } from 'node:stream';
import { attachmentOf, FilesQueries, FilesService, TextReader, type FileReference, type FileRow } from '@aps/files';
import { docx, paragraph, pdf } from '@aps/files/testing';
import { OrgScope } from '@aps/guards';
import { InferenceError, type ModelCall, type ResolvedModel } from '@aps/inference';
import { ModelCalls } from '@aps/inference/testing';
import type { Places } from '@aps/platform/children';
import { Maintenance } from '@aps/platform/maintenance';
import { ObjectStorage } from '@aps/platform/storage';
import { eventually, sql, type Answer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { transcriptRow } from '../state/chat.types';
import { chatsService, script, type TestOrg } from '../testing/chats';
import { TurnAttachments, withFiles } from './attachments';
import { DocumentTexts } from './document-texts';
import type { RunningTurn } from './running-turn';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 1)]);
const NOBODYS = '0192aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
const app = chatsService();
let org: TestOrg;

beforeAll(async () => {
  await entitle(app, { direct_model_choice: true });
  await app.db.execute(
    sql(`INSERT INTO model_catalog (id, key, route_id, label, provider, supports_vision, input_price_per_1m, output_price_per_1m, context_window)
     SELECT $1, 'mock-vision', route_id, 'Mock with vision', 'mock', true, 1, 2, 128000 FROM model_catalog WHERE key = 'mock'`),
    [uuidv7()],
  );
  org = await app.org();
});

const uploaded = (content: Buffer | string, filename: string, userId = org.owner.id, orgId = org.id): Promise<FileRow> =>
  app.get(FilesService).upload(OrgScope.member(orgId, userId, 'MEMBER'), {
    filename,
    bytes: Readable.from([Buffer.from(content as string)]),
    complete: Promise.resolve(),
  });
const upload = async (...file: Parameters<typeof uploaded>): Promise<string> => (await uploaded(...file)).id;
const send = (chat: string, body: Record<string, unknown>, headers?: Record<string, string>, as: Bearer = org.owner): Promise<Answer> =>
  app.call('POST', `${org.path}/${chat}/messages`, { as, body, headers });
const fileRow = async (id: string) =>
  (
    await app.db.query(
      sql<{ expires_at: Date | null; links: number }>(
        `SELECT expires_at, (SELECT count(*)::int FROM file_links l WHERE l.file_id = files.id) AS links FROM files WHERE id = $1`,
      ),
      [id],
    )
  )[0];
const replyTo = async (body: Record<string, unknown>): Promise<string> => {
  const chat = await app.chat(org);
  expect((await send(chat, body)).status).toBe(202);
  return (await app.settled(org, chat, 1)).messages.at(-1).content as string;
};
const refusal = (...places: number[]) => ({
  code: 'unknown_reference',
  detail: places.map((i) => expect.objectContaining({ loc: ['body', 'attachment_ids', i], type: 'semantic.unknown_reference' })),
});

describe('attaching', () => {
  it('shows the files on the message and in its event, and keeps them', async () => {
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    const [a, b] = [await upload('hello', 'a.txt'), await upload(PNG, 'b.png')];
    expect((await send(chat, { content: 'look', attachment_ids: [b, a] })).status).toBe(202);
    const attachments = [
      { file_id: b, filename: 'b.png', media_type: 'image/png', size_bytes: PNG.length },
      { file_id: a, filename: 'a.txt', media_type: 'text/plain', size_bytes: 5 },
    ];
    const frames = await stream.until((f) => f.event === 'message_created');
    stream.close();
    expect(frames.at(-1)?.data.data.message.attachments).toEqual(attachments);
    expect((await app.settled(org, chat, 1)).messages.map((m: { attachments: unknown }) => m.attachments)).toEqual([attachments, []]);
    expect([await fileRow(a), await fileRow(b)]).toEqual([
      { expires_at: null, links: 1 },
      { expires_at: null, links: 1 },
    ]);
  });

  it('is refused for what the caller may not see, naming each; nothing is stored then', async () => {
    const chat = await app.chat(org, { title: 'T' });
    const memberId = (
      await app.db.query(sql<{ user_id: string }>(`SELECT user_id FROM memberships WHERE org_id = $1 AND role = 'MEMBER'`), [org.id])
    )[0].user_id;
    const other = await app.org();
    const [mine, members, foreign] = [
      await upload('x', 'x.txt'),
      await upload('x', 'x.txt', memberId),
      await upload('x', 'x.txt', org.owner.id, other.id),
    ];
    const answer = await send(chat, { content: 'x', attachment_ids: [members, mine, NOBODYS, foreign] });
    expect([answer.status, answer.body]).toMatchObject([422, refusal(0, 2, 3)]);
    expect((await app.read(org, chat)).body.messages).toEqual([]);
    expect(await fileRow(mine)).toMatchObject({ expires_at: expect.any(Date), links: 0 });
    expect((await send(chat, { content: 'x', attachment_ids: [mine] }, undefined, org.member)).status).toBe(404);
    expect((await send(NOBODYS, { content: 'x', attachment_ids: [NOBODYS] })).status).toBe(404);
    expect((await send(chat, { content: 'x', attachment_ids: Array.from({ length: 21 }, () => uuidv7()) })).status).toBe(422);
    expect((await send(chat, { content: 'x', attachment_ids: [mine, mine] })).status).toBe(422);
  });

  it('opens a file to whoever may open the chat, and to them alone', async () => {
    const chat = await app.chat(org);
    const id = await upload('secret', 'secret.txt');
    await send(chat, { content: 'x', attachment_ids: [id] });
    const memberChat = await app.chat(org, { title: 'T' }, org.member);
    const attach = () => send(memberChat, { content: 'x', attachment_ids: [id] }, undefined, org.member);
    expect((await attach()).status).toBe(422);
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    expect((await attach()).status).toBe(202);
    await app.db.execute(sql('UPDATE chats SET shared = false WHERE id = $1'), [chat]);
    // It is on a message of their own now.
    expect((await attach()).status).toBe(202);
    await app.db.execute(sql('UPDATE chats SET deleted_at = now() WHERE id = $1'), [memberChat]);
    const third = await app.chat(org, { title: 'T' }, org.member);
    expect((await send(third, { content: 'x', attachment_ids: [id] }, undefined, org.member)).status).toBe(422);
    const outsider = await aPerson(app);
    expect((await send(chat, { content: 'x', attachment_ids: [id] }, undefined, outsider)).status).toBe(403);
  });

  it('is done once when a request is repeated', async () => {
    const chat = await app.chat(org);
    const id = await upload('x', 'x.txt');
    const headers = { 'Idempotency-Key': uuidv7() };
    const answers = [
      await send(chat, { content: 'x', attachment_ids: [id] }, headers),
      await send(chat, { content: 'x', attachment_ids: [id] }, headers),
    ];
    expect(answers[1].body).toEqual(answers[0].body);
    expect((await fileRow(id)).links).toBe(1);
  });

  it('holds in a chat that is closed, too', async () => {
    const chat = await app.chat(org);
    await app.db.execute(sql(`UPDATE chats SET status = 'ARCHIVED', archived_at = now() WHERE id = $1`), [chat]);
    const id = await upload('x', 'x.txt');
    expect((await send(chat, { content: 'x', attachment_ids: [id] })).body).toMatchObject({ dispatched: false });
    expect((await app.read(org, chat)).body.messages[0].attachments).toHaveLength(1);
    expect(await fileRow(id)).toEqual({ expires_at: null, links: 1 });
  });

  it('either keeps a file that expires meanwhile, or stores no message', async () => {
    const chat = await app.chat(org);
    for (let i = 0; i < 20; i++) {
      const id = await upload('x', 'x.txt');
      await app.db.execute(sql(`UPDATE files SET expires_at = now() + make_interval(secs => $2) WHERE id = $1`), [id, (i % 10) / 500]);
      const [sent] = await Promise.all([send(chat, { content: `message ${i}`, attachment_ids: [id] }), app.get(Maintenance).runAll()]);
      const stored = (await app.read(org, chat)).body.messages.some((m: { content: string }) => m.content === `message ${i}`);
      const there = await app.get(ObjectStorage).exists(`${org.id}/${id}`);
      expect([sent.status, stored, (await fileRow(id))?.links ?? 0, stored ? there : null]).toEqual(
        sent.status === 202 ? [202, true, 1, true] : [422, false, 0, null],
      );
    }
  });
});

describe('what the model gets', () => {
  it('is no image of an earlier message where all together are too many bytes', async () => {
    const chat = await app.chat(org);
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    const refused = new InferenceError('provider_rejected', 'too large', { status: 413 });
    const imagesIn = ({ messages }: ModelCall) =>
      messages.flatMap((m) => (m.role === 'user' && Array.isArray(m.content) ? m.content.filter(({ type }) => type === 'image') : []))
        .length;
    let taken = 1;
    const asked = jest.spyOn(models, 'streamChat').mockImplementation(async (model, call, options) => {
      if (imagesIn(call) > taken) throw refused;
      return real(model, call, options);
    });
    for (const content of ['first', 'second']) {
      await send(chat, { content, attachment_ids: [await upload(PNG, `${content}.png`)], model: 'mock-vision' });
      await app.settled(org, chat, content === 'first' ? 1 : 2);
    }
    // The next has none of its own, and not even the newest is taken any more.
    taken = 0;
    await send(chat, { content: 'third', model: 'mock-vision' });
    await app.settled(org, chat, 3);
    // Other chats of this file may still ask.
    const calls = asked.mock.calls.map(([, call]) => call).filter((call) => imagesIn(call) > 0);
    expect(calls.map(imagesIn)).toEqual([1, 2, 1, 2]);
    const told = JSON.stringify(calls[2].messages);
    expect(told).toContain('bytes): it was left out, since there is no room for more.');
    expect(told).toMatch(/second\.png.{0,60}it is shown here/);
    asked.mockRestore();
  });

  it('is an image where it can see, and a note where it cannot', async () => {
    const id = await upload(PNG, 'b.png');
    expect(await replyTo({ content: 'look', attachment_ids: [id], model: 'mock-vision' })).toBe(
      `You said: look\n\n[Attached file "b.png" (image/png, ${PNG.length} bytes): it is shown here.] [1 image]`,
    );
    expect(await replyTo({ content: 'look', attachment_ids: [id], model: 'mock' })).toBe(
      `You said: look\n\n[Attached file "b.png" (image/png, ${PNG.length} bytes): this model cannot see images.]`,
    );
  });

  it('is the text of text files, between fences that they do not hold, and a note for all else', async () => {
    const ids = [
      await upload('# Hi\n```js\n1\n```\n', 'a.md'),
      await upload(Buffer.from([1, 2, 3, 0]), 'b.bin'),
      await upload('\ufeffa,b', 'c.csv'),
    ];
    expect(await replyTo({ content: 'read', attachment_ids: ids })).toBe(
      [
        'You said: read',
        '[Attached file "a.md" (text/markdown, 17 bytes): its content follows.]\n````\n# Hi\n```js\n1\n```\n````',
        '[Attached file "b.bin" (application/octet-stream, 4 bytes): it is none of the formats that can be read.]',
        '[Attached file "c.csv" (text/csv, 6 bytes): its content follows.]\n```\na,b\n```',
      ].join('\n\n'),
    );
  });

  it('is the text of PDFs, office files, mails and pages, and why where one has none that can be read', async () => {
    const files: [string, Buffer][] = [
      ['a.pdf', pdf([['Total: 12.50'], ['Thank you']])],
      ['b.docx', docx(paragraph('Terms', '<w:outlineLvl w:val="0"/>') + paragraph('Pay soon.'))],
      ['c.eml', Buffer.from('From: a@a.example\r\nSubject: Hi\r\nContent-Type: text/html\r\n\r\n<p>See <b>you</b>')],
      ['d.html', Buffer.from('<p>One <b>two</b>')],
      ['e.pdf', pdf([null])],
      ['f.pdf', Buffer.from('%PDF-1.7')],
    ];
    const ids: string[] = [];
    for (const [name, bytes] of files) ids.push(await upload(bytes, name));
    const said = (type: string, i: number, what: string) =>
      `[Attached file "${files[i][0]}" (${type}, ${files[i][1].length} bytes): ${what}.]`;
    const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    const parts = [
      `${said('application/pdf', 0, 'its text follows')}\n\`\`\`\nTotal: 12.50\n\nThank you\n`,
      `${said(word, 1, 'its text follows')}\n\`\`\`\n# Terms\n\nPay soon.\n\`\`\``,
      said('message/rfc822', 2, 'its text follows'),
      'See **you**',
      `${said('text/html', 3, 'its text follows')}\n\`\`\`\nOne **two**\n\`\`\``,
      said('application/pdf', 4, 'it has no text that can be read'),
      said('application/pdf', 5, 'it is damaged, or nothing like what it says that it is'),
    ];
    // To see a PDF, too, is not for every model, and the chat may go on with another.
    for (const model of ['mock', 'mock-vision']) {
      const reply = await replyTo({ content: 'read', attachment_ids: ids, model });
      for (const part of parts) expect(reply).toContain(part);
    }
  });

  it('is read once, whatever comes of it, and the same in each turn', async () => {
    const read = jest.spyOn(app.get(TextReader), 'read');
    const ids = [await upload(pdf([['First words']]), 'a.pdf'), await upload('%PDF-1.7 broken', 'b.pdf')];
    const chat = await app.chat(org);
    await send(chat, { content: 'read', attachment_ids: ids });
    const said = (await app.settled(org, chat, 1)).messages.at(-1).content as string;
    await send(chat, { content: script({ text: 'again' }) });
    const usage = (await app.settled(org, chat, 2)).messages.at(-1).usage as { input: number };
    expect(usage.input).toBeGreaterThan(said.length / 4);
    const retried = await app.make('POST', `${org.path}/${chat}/retry`, { as: org.owner });
    expect((await app.settled(org, retried.id as string, 1)).messages.at(-1).content).toBe(said);
    expect(read).toHaveBeenCalledTimes(2);
    // Another process finds what was read, and reads again only what could not be.
    const elsewhere = new DocumentTexts(app.get(FilesQueries), app.get(FilesService), app.get(TextReader));
    const scope = OrgScope.system(org.id, 'spec');
    const rows = await app.get(FilesQueries).visible(scope, ids);
    const [readable, broken] = ids.map((id) =>
      elsewhere.of(
        scope,
        rows.find((row) => row.id === id)!,
        new AbortController().signal,
      ),
    );
    expect(await readable).toContain('First words');
    await expect(broken).rejects.toThrow();
    expect(read).toHaveBeenCalledTimes(3);
    read.mockRestore();
  });

  it('is a note for a file whose bytes are lost, and later turns still have the others', async () => {
    const [lost, kept] = [await upload('lost', 'lost.txt'), await upload('kept words', 'kept.txt')];
    const chat = await app.chat(org);
    await app.get(ObjectStorage).delete(`${org.id}/${lost}`);
    await send(chat, { content: 'read', attachment_ids: [lost, kept] });
    const said = (await app.settled(org, chat, 1)).messages.at(-1).content as string;
    expect(said).toContain('[Attached file "lost.txt" (text/plain, 4 bytes): it is no longer there.]');
    expect(said).toContain('kept words');
    // The mock counts what it reads.
    await send(chat, { content: script({ text: 'again' }) });
    const usage = (await app.settled(org, chat, 2)).messages.at(-1).usage as { input: number };
    expect(usage.input).toBeGreaterThan(said.length / 4 + said.length / 4);
  });

  describe('has its bounds', () => {
    const model = (supports_vision: boolean, context_window: number | null) =>
      ({ entry: { supports_vision }, context_window }) as ResolvedModel;
    const userRow = (attachments: FileReference[]) => transcriptRow({ role: 'user', content: 'x', attachments });
    const reference = async (content: Buffer | string, filename: string): Promise<FileReference> =>
      attachmentOf(await uploaded(content, filename));
    const readBy = async (to: ResolvedModel, messages: FileReference[][], readingMs?: number) => {
      const rows = messages.map(userRow);
      const turn = {
        rows,
        claim: { org_id: org.id },
        lease: { signal: new AbortController().signal },
        readingMs,
      } as unknown as RunningTurn;
      const files = await app.get(TurnAttachments).of(turn, to);
      return rows.map((row) => withFiles(row, files));
    };

    it('for one text', async () => {
      const [read] = await readBy(model(false, 1_000_000), [[await reference(`${'é'.repeat(150_000)}`, 'long.txt')]]);
      expect(read).toContain(
        '[Attached file "long.txt" (text/plain, 300000 bytes): its first 100000 characters follow, and the rest was left out.]\n```\né',
      );
      expect((read as string).match(/é/g)).toHaveLength(100_000);
    });

    it('for one document, too', async () => {
      const [read] = await readBy(model(false, 1_000_000), [[await reference(docx(paragraph('é'.repeat(150_000))), 'long.docx')]]);
      expect(read).toContain('its first 100000 characters follow, and the rest was left out.]\n```\né');
      expect((read as string).match(/é/g)).toHaveLength(100_000);
    });

    it('for the time that documents take', async () => {
      const two = [await reference('<p>Words', 'a.html'), await reference('<p>Behind', 'b.html')];
      const [said] = await readBy(model(false, null), [two], 1);
      expect((said as string).match(/it could not be read in time/g)).toHaveLength(2);
      expect((await readBy(model(false, null), [two]))[0]).toMatch(/Words[^]*Behind/);
    });

    it('and what has begun to be read is there for a later turn, but for what nobody waited for any more when its bytes came', async () => {
      const read = jest.spyOn(app.get(TextReader), 'read');
      const files = app.get(FilesQueries);
      const head = files.head.bind(files);
      let letGo = () => undefined as void;
      const gate = new Promise<void>((resolve) => (letGo = resolve));
      const opened = jest.spyOn(files, 'head').mockImplementationOnce((...args) => gate.then(() => head(...args)));
      const file = await uploaded(`<p>Words${'<table><tr><td>'.repeat(2_000)}`, 'slow.html');
      const scope = OrgScope.system(org.id, 'spec');
      const texts = app.get(DocumentTexts);
      for (const isBegun of [false, true]) {
        opened.mockClear();
        const gone = new AbortController();
        const first = texts.of(scope, file, gone.signal);
        await eventually(() => Promise.resolve(opened.mock.results), ({ length }) => length === 1); // prettier-ignore
        if (isBegun) await opened.mock.results[0].value;
        gone.abort(new Error('gone'));
        await expect(first).rejects.toThrow('gone');
        letGo();
        if (!isBegun) await expect(read.mock.results[0].value).rejects.toThrow('aborted');
      }
      expect(await texts.of(scope, file, new AbortController().signal)).toContain('Words');
      expect(read).toHaveBeenCalledTimes(2);
      read.mockRestore();
      opened.mockRestore();
    });

    it('for a file that what reads it ends over, and no other file or turn ends with it', async () => {
      interface Inside {
        readers: { places: Places<{ isRunning: boolean; child: { child: ChildProcess } }> };
      }
      const { places } = (app.get(TextReader) as unknown as Inside).readers;
      const running = () => places.all.flatMap(({ holds }) => holds?.child.child ?? []);
      const killed = new Set<number | undefined>();
      const end = (child: ReturnType<typeof running>[number]) => child.kill('SIGKILL') && killed.add(child.pid);
      running().forEach(end);
      await eventually(() => Promise.resolve(places.all.filter(({ holds }) => holds?.isRunning)), ({ length }) => length === 0); // prettier-ignore
      const reading = readBy(model(false, null), [[await reference('<table><tr><td>'.repeat(100_000), 'hostile.html')]]);
      for (let times = 0; times < 2; times++) {
        const [next] = await eventually(() => Promise.resolve(running().filter(({ pid }) => !killed.has(pid))), ({ length }) => length > 0); // prettier-ignore
        end(next);
      }
      expect((await reading)[0]).toContain('what was reading it has ended, again and again.]');
    });

    it('for all texts by the window of the model, the newest first', async () => {
      const text = 'a'.repeat(60_000);
      const [old, young] = await readBy(model(false, 80_000), [[await reference(text, 'old.txt')], [await reference(text, 'young.txt')]]);
      expect(young).toContain('its content follows');
      expect(old).toContain('its first 20000 characters follow');
      const [none] = await readBy(model(false, 80_000), [
        [await reference('b', 'none.txt')],
        [await reference(text, '1.txt'), await reference(text, '2.txt')],
      ]);
      expect(none).toContain('"none.txt" (text/plain, 1 bytes): it was left out');
      const [japanese] = await readBy(model(false, 80_000), [[await reference('返金'.repeat(30_000), 'japanese.txt')]]);
      expect(japanese).toContain('its first 26666 characters follow');
    });

    it('for images, each and together', async () => {
      const png = (bytes: number) => reference(Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)]), 'i.png');
      const [tooLarge] = await readBy(model(true, null), [[await png(4 * 1024 * 1024)]]);
      expect(tooLarge).toContain('it is too large to be shown');
      const large = await png(3.5 * 1024 * 1024);
      const [read] = await readBy(model(true, null), [[large, large, large, large, large]]);
      expect((read as { type: string }[]).map((part) => part.type)).toEqual(['text', 'image', 'image', 'image', 'image']);
      const small = await png(200);
      const [oldest, newest] = await readBy(model(true, null), [[small], Array.from({ length: 20 }, () => small)]);
      expect((newest as { type: string }[]).filter((part) => part.type === 'image')).toHaveLength(20);
      expect(oldest).toContain('it was left out');
    });
  });
});
