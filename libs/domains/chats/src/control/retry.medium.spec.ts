import { entitle } from '@aps/billing/testing';
import type { Bearer } from '@aps/platform/testing';
import { Outbox } from '@aps/platform/outbox';
import { sql } from '@aps/platform/testing';
import { Runs } from '@aps/platform/runs';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';

const contents = (chat: { messages: { role: string; content: string }[] }, role: string) =>
  chat.messages.filter((m) => m.role === role).map((m) => m.content);

describe('a retry', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await app.org({ instruction: 'first' });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await entitle(app, { direct_model_choice: true });
  });

  const retry = (chat: string, options: { as?: Bearer; headers?: Record<string, string> } = {}) =>
    app.call('POST', `${org.path}/${chat}/retry`, { as: org.owner, ...options });
  const rowOf = async (chat: string) => (await app.db.query(sql<Record<string, unknown>>('SELECT * FROM chats WHERE id = $1'), [chat]))[0];
  const events = (chat: string) =>
    app.db.query(sql<{ seq: number; type: string }>(`SELECT seq, type FROM events WHERE topic = 'chat:' || $1 ORDER BY seq`), [chat]);
  const inert = () => jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
  const unreachable = () => jest.spyOn(app.get(Outbox), 'publish').mockRejectedValueOnce(new Error('Redis is away'));

  it('begins with what users wrote before the first answer, on what is live now, and leaves its source alone', async () => {
    const chat = await app.chat(org, { title: 'Source', sandbox_enabled: true });
    await app.db.execute(sql(`UPDATE chats SET enabled_scopes = '{system:web}', max_steps = 30 WHERE id = $1`), [chat]);
    const slow = script({ text: 'slow', delay_ms: HELD });
    await app.send(org, chat, slow);
    await app.send(org, chat, 'one more thing');
    app.letGo(slow);
    await app.settled(org, chat, 2);
    await app.send(org, chat, 'too late');
    const source = await app.settled(org, chat, 3);
    const [{ id: file }] = await app.db.query(
      sql<{ id: string }>(
        `INSERT INTO files (id, org_id, filename, media_type, size_bytes, sha256, storage_key) VALUES (gen_random_uuid(), $1, 'a.bin', 'application/octet-stream', 1, 'x', 'k') RETURNING id`,
      ),
      [org.id],
    );
    const attachment = { file_id: file, filename: 'a.bin', media_type: 'application/octet-stream', size_bytes: 1 };
    await app.db.execute(
      sql(`UPDATE messages SET attachments = jsonb_build_array($2::jsonb) WHERE chat_id = $1 AND content = 'one more thing'`),
      [chat, JSON.stringify(attachment)],
    );
    const before = [await rowOf(chat), await events(chat)];
    await app.db.execute(
      sql(
        `INSERT INTO agent_revisions SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'version', 2))).* FROM agent_revisions r WHERE agent_id = $1 AND version = 1`,
      ),
      [org.agentId],
    );
    await app.db.execute(
      sql(`UPDATE agents SET live_revision_id = (SELECT id FROM agent_revisions WHERE agent_id = $1 AND version = 2) WHERE id = $1`),
      [org.agentId],
    );

    const { status, body } = await retry(chat);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      source_chat_id: chat,
      agent_id: org.agentId,
      title: null,
      sandbox_enabled: true,
      created_by: org.owner.id,
      shared: false,
      parent_chat_id: null,
      root_chat_id: body.id,
      origin: { kind: 'user', ref_id: null },
    });
    expect(body.agent_revision_id).not.toBe(source.agent_revision_id);
    expect(contents(body, 'user')).toEqual([source.messages[0].content, 'one more thing']);
    expect(await rowOf(body.id)).toMatchObject({
      enabled_scopes: ['system:web'],
      max_steps: 30,
      turn_seq: 1,
      message_seq: expect.any(Number) as number,
    });

    const done = await app.settled(org, body.id, 1);
    expect(done.messages.map((m: { seq: number; role: string }) => [m.seq, m.role])).toEqual([
      [1, 'user'],
      [2, 'user'],
      [3, 'assistant'],
    ]);
    expect(done.messages[1].attachments).toEqual([attachment]);
    // The copy keeps the file, whatever becomes of the source.
    expect(await app.db.query(sql(`SELECT target_kind, target_id FROM file_links WHERE file_id = $1`), [file])).toEqual([
      { target_kind: 'message', target_id: done.messages[1].id },
    ]);
    expect(contents(done, 'assistant')).toEqual([expect.stringMatching(/^You said: one more thing/)]);
    expect((await events(body.id)).map((e) => [e.seq, e.type]).slice(0, 4)).toEqual([
      [1, 'message_created'],
      [2, 'message_created'],
      [3, 'status_changed'],
      [4, 'message_completed'],
    ]);
    expect(await app.db.query(sql('SELECT seq, cause, status FROM turns WHERE chat_id = $1'), [body.id])).toEqual([
      { seq: 1, cause: 'retry', status: 'done' },
    ]);
    expect([await rowOf(chat), await events(chat)]).toEqual(before);
  });

  it('belongs to who asked for it, or to nobody where no human began the source', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.settled(org, chat, 1);
    expect((await retry(chat, { as: org.member })).status).toBe(404);
    await app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { shared: true } });
    const theirs = await retry(chat, { as: org.member });
    expect(theirs.status).toBe(201);
    expect((await app.read(org, theirs.body.id)).status).toBe(404);
    expect((await app.read(org, theirs.body.id, org.member)).status).toBe(200);

    await app.db.execute(sql(`UPDATE chats SET created_by = NULL, origin_kind = 'inbox', origin_ref_id = 'm1' WHERE id = $1`), [chat]);
    const nobodys = await retry(chat);
    expect(nobodys.body).toMatchObject({ created_by: null, origin: { kind: 'inbox', ref_id: 'm1' } });
    expect((await app.read(org, nobodys.body.id, org.member)).status).toBe(200);
  });

  it('asks for the model as the first turn did, as far as the plan still allows', async () => {
    inert();
    const chat = await app.chat(org);
    expect(
      (
        await app.call('POST', `${org.path}/${chat}/messages`, {
          as: org.owner,
          body: { content: 'x', model: 'mock', reasoning_effort: 'low' },
        })
      ).status,
    ).toBe(202);
    const choices = async () =>
      app.db.query(sql('SELECT model, model_mode_override, reasoning_effort FROM turns WHERE chat_id = $1'), [(await retry(chat)).body.id]);
    expect(await choices()).toEqual([{ model: 'mock', model_mode_override: null, reasoning_effort: 'low' }]);
    await entitle(app, { direct_model_choice: false });
    expect(await choices()).toEqual([{ model: null, model_mode_override: null, reasoning_effort: null }]);
  });

  it('needs something to begin with', async () => {
    const answer = await retry(await app.chat(org));
    expect(answer).toMatchObject({ status: 422, body: { code: 'nothing_to_retry' } });
    expect((await retry('b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0001')).status).toBe(404);
  });

  it('answers 503 when no worker can be reached; a repeat goes on with the same chat', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.settled(org, chat, 1);
    const headers = { 'Idempotency-Key': `retry-${chat}` };
    unreachable();
    const first = await retry(chat, { headers });
    expect(first).toMatchObject({ status: 503, body: { code: 'dispatch_failed' } });
    const made = first.body.context.chat_id as string;
    expect((await app.read(org, made)).body).toMatchObject({ status: 'ERRORED', error: { code: 'dispatch_failed' }, source_chat_id: chat });
    expect(await app.db.query(sql(`SELECT id FROM outbox WHERE payload->>'chat_id' = $1`), [made])).toEqual([]);

    const second = await retry(chat, { headers });
    expect(second).toMatchObject({ status: 201, body: { id: made } });
    expect(contents(await app.settled(org, made, 1), 'assistant')).toEqual(['You said: hello']);
    const third = await retry(chat, { headers });
    expect([third.status, third.body.id, third.headers.get('idempotency-replayed')]).toEqual([201, made, 'true']);
    expect(await app.db.query(sql('SELECT id FROM chats WHERE source_chat_id = $1'), [chat])).toEqual([{ id: made }]);
  });

  it.each([
    ['very many', 600, ''],
    ['long', 60, 'x'.repeat(5_000)],
  ])('carries %s messages, at most the last five hundred, and is repeated although so long an answer is not kept', async (_, n, text) => {
    inert();
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.db.execute(
      sql(`WITH c AS (UPDATE chats SET message_seq = $2, message_count = $2 WHERE id = $1 RETURNING id, org_id)
        INSERT INTO messages (id, org_id, chat_id, seq, role, content, turn_no) SELECT gen_random_uuid(), c.org_id, c.id, n, 'user', n || $3, 1 FROM c, generate_series(2, $2) n`),
      [chat, n, text],
    );
    const written = ['hello', ...Array.from({ length: n - 1 }, (__, i) => `${i + 2}${text}`)];
    expect(contents((await app.read(org, chat)).body, 'user')).toEqual(written);
    const headers = { 'Idempotency-Key': `long-${chat}` };
    const [first, second] = [await retry(chat, { headers }), await retry(chat, { headers })];
    expect([first.status, contents(first.body, 'user')]).toEqual([201, written.slice(-500)]);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(await app.db.query(sql('SELECT id FROM chats WHERE source_chat_id = $1'), [chat])).toEqual([{ id: first.body.id }]);
    expect(await app.db.query(sql('SELECT body FROM idempotency_keys WHERE key = $1'), [headers['Idempotency-Key']])).toEqual([
      { body: null },
    ]);
  });

  it('with one key makes one chat when many ask at once', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.settled(org, chat, 1);
    const answers = await Promise.all(Array.from({ length: 10 }, () => retry(chat, { headers: { 'Idempotency-Key': `many-${chat}` } })));
    expect(answers.every((a) => a.status === 201 || a.body.code === 'idempotency_in_progress')).toBe(true);
    expect(await app.db.query(sql('SELECT id FROM chats WHERE source_chat_id = $1'), [chat])).toHaveLength(1);
  });
});
