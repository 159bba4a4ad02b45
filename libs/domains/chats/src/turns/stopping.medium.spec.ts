import { eventually, sql } from '@aps/platform/testing';
import { chatsService, HELD, script, type StreamReader, type TestOrg } from '../testing/chats';
import { TurnRepository } from './turn.repository';

const WORDS = 'one two three four five six seven eight nine ten';

describe('a turn that is stopped while the model speaks', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await app.org();
  });

  const stop = (chat: string) => app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: {} });
  /** A turn of which the readers have heard something, and that goes on for long. */
  const speaking = async (...steps: Record<string, unknown>[]): Promise<{ chat: string; stream: StreamReader; turnId: string }> => {
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    const sent = await app.send(org, chat, script(...steps, { text: WORDS, chunk_delay_ms: HELD }));
    await stream.until((f) => f.event === 'message_delta' && WORDS.startsWith(f.data.data.text.trim()));
    return { chat, stream, turnId: sent.body.turn_id };
  };
  const rows = (text: string, ...values: unknown[]) => app.db.query(sql<Record<string, unknown>>(text), values);

  it('leaves what was said as a message, once, which the next turn reads', async () => {
    const { chat, stream, turnId } = await speaking({
      tool_calls: [{ name: 'todo_write', arguments: { todos: [{ title: 'first', status: 'pending' }] } }],
    });
    expect((await stop(chat)).body).toMatchObject({ stopped: true });
    const seen = await stream.until((f) => f.event === 'message_completed' && f.data.data.interrupted === true);
    const { id, data } = seen.at(-1)!.data;
    const said: string = data.message.content;
    expect(WORDS.startsWith(said.trim()) && said.trim() !== '' && said.length < WORDS.length).toBe(true);
    expect(data).toMatchObject({ turn_id: turnId, final: true, message: { role: 'assistant', usage: null, interrupted: true } });
    // It is the message whose pieces the readers have.
    expect(seen.filter((f) => f.event === 'message_delta').at(-1)!.data.data.message_id).toBe(data.message.id);

    const { body } = await app.read(org, chat);
    expect(body).toMatchObject({
      status: 'ACTIVE',
      message_count: 4,
      messages: [
        { interrupted: false },
        { interrupted: false },
        { role: 'tool' },
        { id: data.message.id, seq: 4, content: said, usage: null, interrupted: true },
      ],
    });
    expect(await rows('SELECT event_seq::text AS id FROM chats WHERE id = $1', chat)).toEqual([{ id }]);
    expect(
      await rows(`SELECT step_no, kind, status, message_id FROM turn_steps WHERE turn_id = $1 ORDER BY step_no OFFSET 2`, turnId),
    ).toEqual([{ step_no: 3, kind: 'model', status: 'interrupted', message_id: data.message.id }]);
    expect(await rows('SELECT step_no FROM inference_receipts WHERE turn_id = $1', turnId)).toEqual([{ step_no: 1 }]);
    stream.close();

    const next = await app.send(org, chat, 'go on');
    await app.until(org, chat, (c) => c.messages.at(-1).content === 'You said: go on');
    const [{ seq }] = await rows('SELECT seq FROM turns WHERE id = $1', next.body.turn_id);
    const transcript = await app.get(TurnRepository).transcript(app.db, { chat_id: chat, seq: seq as number });
    expect(transcript.slice(-3).map((r) => [r.role, r.content])).toEqual([
      ['assistant', said],
      ['user', 'go on'],
      ['assistant', 'You said: go on'],
    ]);
  });

  it('leaves nothing after something newer, and nothing of another owner or of a turn that was not stopped', async () => {
    const { chat, stream, turnId } = await speaking();
    stream.close();
    const repository = app.get(TurnRepository);
    const [{ fence }] = await rows('SELECT fence FROM turns WHERE id = $1', turnId);
    const keep = (over: { fence?: string; stepNo?: number } = {}) => {
      const messageId = 'b0a7a1f6-3f0e-8b53-ad3c-2f7f0f6f0001';
      const event = { type: 'message_completed' as const, data: { message: { id: messageId, seq: 0 }, interrupted: true } };
      return repository.keepInterrupted(app.db, {
        turnId,
        fence: fence as string,
        stepNo: 1,
        messageId,
        content: 'words',
        model: 'mock',
        detail: {},
        event,
        at: new Date(),
        ...over,
      });
    };
    expect(await keep()).toBeNull();
    await stop(chat);
    await app.until(org, chat, (c) => c.messages.length === 2);
    // As if its owner had not kept it.
    await app.db.execute(sql('DELETE FROM messages WHERE chat_id = $1 AND interrupted'), [chat]);
    await app.db.execute(sql('DELETE FROM turn_steps WHERE turn_id = $1'), [turnId]);
    expect(await keep({ fence: String(Number(fence) - 1) })).toBeNull();
    expect(await keep({ stepNo: 2 })).toBeNull();
    for (const status of ['done', 'failed', 'skipped']) {
      await app.db.execute(sql('UPDATE turns SET status = $2 WHERE id = $1'), [turnId, status]);
      expect(await keep()).toBeNull();
    }
    await app.db.execute(sql(`UPDATE turns SET status = 'stopped' WHERE id = $1`), [turnId]);
    const asked = await Promise.allSettled([keep(), keep(), keep()]);
    expect(asked.filter((a) => a.status === 'fulfilled' && a.value !== null)).toHaveLength(1);
    await app.db.execute(sql('DELETE FROM messages WHERE chat_id = $1 AND interrupted'), [chat]);
    await app.db.execute(sql('DELETE FROM turn_steps WHERE turn_id = $1'), [turnId]);
    await app.send(org, chat, 'newer');
    expect(await keep()).toBeNull();
    await app.until(org, chat, (c) => c.messages.at(-1).content === 'You said: newer');
  });

  it('is ended with its organization, which leaves what waits behind it until it is let in again', async () => {
    const long = { text: `${WORDS} `.repeat(20), chunk_delay_ms: HELD };
    const [alone, before] = [await speaking(long), await speaking(long)];
    const sent = (await app.send(org, before.chat, 'later')).body;
    expect(sent.queued).toBe(true);
    const suspend = (since: string) => app.db.execute(sql(`UPDATE organizations SET suspended_at = ${since} WHERE id = $1`), [org.id]);
    const due = () => app.db.execute(sql('UPDATE outbox SET available_at = now() WHERE id = $1'), [sent.turn_id]);
    const putOff = () =>
      eventually(
        () => rows(`SELECT FROM outbox WHERE id = $1 AND available_at > now() + interval '6 seconds'`, sent.turn_id),
        (found) => found.length === 1,
      );
    await suspend('now()');
    await Promise.all([alone, before].map(({ stream }) => stream.until(({ event }) => event === 'org_suspended')));
    await putOff();
    // However often it is delivered.
    await due();
    await putOff();
    expect(
      await rows('SELECT status, deliveries FROM turns WHERE chat_id = ANY ($1) ORDER BY dispatched_at', [alone.chat, before.chat]),
    ).toMatchObject([{ status: 'stopped' }, { status: 'stopped' }, { status: 'queued', deliveries: 0 }]);
    await suspend('NULL');
    await due();
    const next = (chat: string) => app.until(org, chat, (c) => c.messages.at(-1).content.startsWith('You said: '));
    expect(await next(before.chat)).toMatchObject({ status: 'ACTIVE', stop_reason: null });
    expect((await app.read(org, alone.chat)).body).toMatchObject({ status: 'ACTIVE', stop_reason: 'org_suspended' });
    await app.send(org, alone.chat, 'again');
    await next(alone.chat);
  });

  it('never puts what was said behind what was written next', async () => {
    const chats = await Promise.all(Array.from({ length: 12 }, () => speaking()));
    await Promise.all(
      chats.map(async ({ chat, stream }) => {
        const [stopped, sent] = await Promise.all([stop(chat), app.send(org, chat, 'next')]);
        expect([stopped.status, sent.status]).toEqual([200, 202]);
        stream.close();
      }),
    );
    for (const { chat } of chats) {
      const body = await app.until(org, chat, (c) => c.status !== 'RUNNING' && c.pause === null);
      const order = body.messages.map((m: { role: string; interrupted: boolean }) => (m.interrupted ? 'said' : m.role));
      expect([
        ['user', 'said', 'user'],
        ['user', 'user'],
      ]).toContainEqual(order.slice(0, order.indexOf('user', 1) + 1));
      expect(order.filter((o: string) => o === 'said').length).toBeLessThanOrEqual(1);
    }
  });
});
