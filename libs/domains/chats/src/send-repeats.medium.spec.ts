import { entitle } from '@aps/billing/testing';
import { Outbox } from '@aps/platform/outbox';
import type { Answer } from '@aps/platform/testing';
import { sql } from '@aps/platform/testing';
import { Runs } from '@aps/platform/runs';
import { chatsService, script, type TestOrg } from './testing/chats';

describe('messages that were answered 503 and are repeated', () => {
  const app = chatsService();
  let org: TestOrg;
  let chat: string;

  beforeAll(async () => {
    org = await app.org();
  });
  beforeEach(async () => {
    chat = await app.chat(org);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await entitle(app, { max_queue_depth: -1 });
  });

  const outbox = () => app.get(Outbox);
  const send = (content: string) => app.send(org, chat, content, { 'Idempotency-Key': `${content}-${chat}` });
  /** Sends while no worker can be reached. */
  const refused = async (...contents: string[]) => {
    for (const content of contents) {
      const publish = jest.spyOn(outbox(), 'publish').mockRejectedValueOnce(new Error('Redis is away'));
      expect(await send(content)).toMatchObject({ status: 503, body: { code: 'dispatch_failed' } });
      publish.mockRestore();
    }
  };
  const turnsOf = () =>
    app.db.query(sql<{ id: string; status: string }>('SELECT id, status FROM turns WHERE chat_id = $1 ORDER BY seq'), [chat]);
  const replies = async (n: number) =>
    (await app.settled(org, chat, n)).messages.flatMap((m: { role: string; content: string }) =>
      m.role === 'assistant' ? [m.content] : [],
    );
  const dispatched = { status: 202, body: { dispatched: true, queued: false, reason: null } };
  const refs = (answers: Answer[]) => answers.map((a) => a.body.turn_id as string);

  it('are answered by one turn, which every repeat names', async () => {
    await refused('one', 'two', 'three');
    const answers = [await send('one'), await send('two'), await send('three')];
    for (const answer of answers) expect(answer).toMatchObject(dispatched);
    expect(await replies(1)).toEqual(['You said: three']);
    const turns = await turnsOf();
    expect(turns.map((t) => t.status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'done']);
    expect(refs(answers)).toEqual([turns[3].id, turns[3].id, turns[3].id]);
    // Later repeats bring the same answers.
    expect((await send('two')).body).toEqual(answers[1].body);
  });

  it('are answered by one turn when all repeats come at once', async () => {
    await refused('one', 'two', 'three', 'four');
    const answers = await Promise.all(['four', 'two', 'one', 'three'].map(send));
    for (const answer of answers) expect(answer).toMatchObject(dispatched);
    expect(await replies(1)).toHaveLength(1);
    const turns = await turnsOf();
    expect(turns.map((t) => t.status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled', 'done']);
    expect(new Set(refs(answers))).toEqual(new Set([turns[4].id]));
  });

  it('are not taken back with the turn of another repeat, which cannot reach a worker either', async () => {
    await refused('one', 'two');
    let fail = () => {};
    jest
      .spyOn(outbox(), 'publish')
      .mockImplementationOnce(() => new Promise((_, reject) => (fail = () => reject(new Error('Redis is away')))));
    const one = send('one');
    await app.until(org, chat, (c) => c.status === 'ACTIVE');
    const two = await send('two');
    expect(two).toMatchObject(dispatched);
    fail();
    expect(await one).toMatchObject(dispatched);
    // The relay runs it.
    expect(await replies(1)).toEqual(['You said: two']);
    expect(refs([await one, two])).toEqual(Array(2).fill((await turnsOf())[2].id));
  });

  it('are taken back when nobody else was told of their turn', async () => {
    await refused('one', 'two');
    await refused('one');
    expect((await app.read(org, chat)).body).toMatchObject({ status: 'ERRORED', error: { code: 'dispatch_failed' } });
    expect(await send('two')).toMatchObject(dispatched);
    expect(await replies(1)).toEqual(['You said: two']);
    expect((await turnsOf()).map((t) => t.status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'done']);
  });

  it('are not taken back once a worker has had them, though they are in the queue again', async () => {
    jest.spyOn(outbox(), 'publish').mockImplementationOnce(async () => {
      // It may be on its way while its turn is still being committed.
      while ((await app.db.execute(sql('UPDATE turns SET started_at = now() WHERE chat_id = $1'), [chat])) === 0);
      throw new Error('Redis is away');
    });
    expect(await send('one')).toMatchObject(dispatched);
    expect((await turnsOf()).map((t) => t.status)).not.toContain('cancelled');
    expect(await replies(1)).toEqual(['You said: one']);
  });

  it('name the turn of a later message that has read them, whatever it has come to', async () => {
    await refused('one');
    await app.send(org, chat, 'next');
    await replies(1);
    expect(await send('one')).toMatchObject({ ...dispatched, body: { ...dispatched.body, turn_id: (await turnsOf())[1].id } });

    await refused('two');
    await app.send(org, chat, script({ error: { status: 400, message: 'no' } }));
    await app.until(org, chat, (c) => c.error?.code === 'provider_rejected');
    const failed = (await turnsOf()).at(-1)!;
    expect(await send('two')).toMatchObject({ ...dispatched, body: { ...dispatched.body, turn_id: failed.id } });
    expect(await turnsOf()).toContainEqual({ id: failed.id, status: 'failed' });
  });

  it('say so when the chat has been stopped or closed since', async () => {
    await refused('one', 'two');
    jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
    await app.send(org, chat, 'next');
    await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: {} });
    expect(await send('one')).toMatchObject({
      status: 202,
      body: { turn_id: null, dispatched: false, queued: false, reason: 'turn_stopped' },
    });
    await app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { archived: true } });
    expect(await send('two')).toMatchObject({
      status: 202,
      body: { turn_id: null, dispatched: false, queued: false, reason: 'chat_archived' },
    });
    expect((await turnsOf()).map((t) => t.status)).toEqual(['cancelled', 'cancelled', 'skipped']);
  });

  it('wait for room in the queue like any message', async () => {
    await refused('one');
    await entitle(app, { max_queue_depth: 0 });
    expect(await send('one')).toMatchObject({ status: 429, body: { code: 'queue_full' } });
    await entitle(app, { max_queue_depth: -1 });
    expect(await send('one')).toMatchObject(dispatched);
    expect(await replies(1)).toEqual(['You said: one']);
  });
});
