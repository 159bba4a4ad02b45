import type { Bearer } from '@aps/platform/testing';
import { entitle } from '@aps/billing/testing';
import { aPerson } from '@aps/identity/testing';
import { Readable } from 'node:stream';
import { FilesService, type FileReference } from '@aps/files';
import { OrgScope } from '@aps/guards';
import type { ResolvedModel } from '@aps/inference';
import { Maintenance } from '@aps/platform/maintenance';
import { ObjectStorage } from '@aps/platform/storage';
import { sql, type Answer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import type { TranscriptRow } from '../state/chat.types';
import { chatsService, script, type TestOrg } from '../testing/chats';
import { TurnAttachments, withFiles } from './attachments';
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

const upload = async (content: Buffer | string, filename: string, userId = org.owner.id, orgId = org.id): Promise<string> => {
  const file = await app.get(FilesService).upload(OrgScope.member(orgId, userId, 'MEMBER'), {
    filename,
    bytes: Readable.from([Buffer.from(content as string)]),
    complete: Promise.resolve(),
  });
  return file.id;
};
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
      await upload('%PDF-1.7', 'b.pdf'),
      await upload('\ufeffa,b', 'c.csv'),
      await upload('<p>d', 'd.html'),
    ];
    expect(await replyTo({ content: 'read', attachment_ids: ids })).toBe(
      [
        'You said: read',
        '[Attached file "a.md" (text/markdown, 17 bytes): its content follows.]\n````\n# Hi\n```js\n1\n```\n````',
        '[Attached file "b.pdf" (application/pdf, 8 bytes): it is of a kind that cannot be read here.]',
        '[Attached file "c.csv" (text/csv, 6 bytes): its content follows.]\n```\na,b\n```',
        '[Attached file "d.html" (text/html, 4 bytes): its content follows.]\n```\n<p>d\n```',
      ].join('\n\n'),
    );
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
    const userRow = (attachments: FileReference[]): TranscriptRow => ({
      role: 'user',
      content: 'x',
      tool_calls: null,
      tool_call_id: null,
      tool_name: null,
      provider_state: null,
      finish_reason: null,
      turn_id: null,
      attachments,
    });
    const reference = async (content: Buffer | string, filename: string): Promise<FileReference> => {
      const bytes = Buffer.from(content as string);
      return {
        file_id: await upload(bytes, filename),
        filename,
        media_type: filename.endsWith('.png') ? 'image/png' : 'text/plain',
        size_bytes: bytes.length,
      };
    };
    const readBy = async (to: ResolvedModel, messages: FileReference[][]) => {
      const rows = messages.map(userRow);
      const turn = { rows, claim: { org_id: org.id }, lease: { signal: new AbortController().signal } } as unknown as RunningTurn;
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
