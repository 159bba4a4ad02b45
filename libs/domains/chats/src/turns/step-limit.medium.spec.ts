import type { Dialect } from '@aps/inference';
import { sql } from '@aps/platform/testing';
import { LeaseEnded } from '@aps/platform/runs';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';
import { ModelStepRunner } from './model-step';

interface Message {
  role: string;
  content: string;
  tool_calls: { id: string }[];
  tool_call_id: string | null;
}

/** A model that calls tools whatever it is told, and providers that refuse what real ones refuse. */
describe('the last step of a turn', () => {
  const app = chatsService();

  beforeAll(async () => {
    for (const dialect of ['dialect_1', 'dialect_2', 'dialect_3'] as const) await app.addDialect(dialect);
  });
  afterEach(() => jest.restoreAllMocks());

  const note = (title: string) => ({ name: 'todo_write', arguments: { todos: [{ title, status: 'pending' }] } });
  const forever = script(
    ...Array.from({ length: 30 }, (_, i) => ({ text: `step ${i + 1}`, tool_calls: [note(`note ${i + 1}`), note(`again ${i + 1}`)] })),
  );
  const orgWith = (dialect: Dialect, agent: Record<string, unknown>) => app.org({ model: dialect, ...agent });
  const over = (org: TestOrg, chat: string, answers: number) =>
    app.until(org, chat, (c) => c.status !== 'RUNNING' && c.messages.filter((m: Message) => m.role === 'assistant').length >= answers);
  const rows = <T>(text: string, chat: string) => app.db.query(sql<T>(text), [chat]);

  describe.each<Dialect>(['dialect_1', 'dialect_2', 'dialect_3'])('in %s', (dialect) => {
    it.each([1, 2, 3])('is the last call of a model that may make %i, and what it calls there is not run', async (steps) => {
      const org = await orgWith(dialect, { max_steps: steps });
      const chat = await app.chat(org);
      await app.send(org, chat, forever);
      const { status, error, messages } = await over(org, chat, steps);
      expect([status, error]).toEqual(['ACTIVE', null]);
      const said = (messages as Message[]).filter((m) => m.role === 'assistant');
      expect(said.map((m) => m.content)).toEqual(Array.from({ length: steps }, (_, i) => `step ${i + 1}`));
      const results = (messages as Message[]).slice(-2);
      expect(results.map((m) => [m.role, m.tool_call_id, (JSON.parse(m.content) as { status: string }).status])).toEqual(
        said.at(-1)!.tool_calls.map((call) => ['tool', call.id, 'step_limit']),
      );
      const titles = await rows<{ title: string }>('SELECT title FROM todos WHERE chat_id = $1', chat);
      expect(titles.map((t) => t.title)).toEqual(steps === 1 ? [] : [`again ${steps - 1}`]);
      expect(await rows('SELECT status, model_steps, steps_done FROM turns WHERE chat_id = $1', chat)).toEqual([
        { status: 'done', model_steps: steps, steps_done: steps * 3 },
      ]);
      expect(
        await rows(`SELECT DISTINCT status FROM turn_steps WHERE chat_id = $1 AND kind = 'tool' AND step_no > ${steps * 3 - 2}`, chat),
      ).toEqual([{ status: 'failed' }]);

      await app.until(org, chat, (c) => c.title !== null);

      // What is in the chat now is a conversation that the provider takes.
      await app.send(org, chat, 'and now?');
      expect(
        (await app.until(org, chat, (c) => c.status !== 'RUNNING' && c.messages.at(-1).content === 'You said: and now?')).error,
      ).toBeNull();
    });

    it('may be an answer, for which the tools are sent', async () => {
      const org = await orgWith(dialect, { max_steps: 2 });
      const chat = await app.chat(org);
      await app.send(org, chat, script({ tool_calls: [note('once')] }, { text: 'an answer' }));
      expect(await over(org, chat, 2)).toMatchObject({
        status: 'ACTIVE',
        error: null,
        messages: [{}, {}, { role: 'tool' }, { content: 'an answer' }],
      });
    });

    it('goes through in a chat whose agent has no tools left', async () => {
      const org = await orgWith(dialect, {});
      const chat = await app.chat(org);
      await app.send(org, chat, script({ tool_calls: [note('once')] }, { text: 'an answer' }));
      await over(org, chat, 2);
      await app.db.execute(sql(`UPDATE agent_revisions SET config = jsonb_set(config, '{denied_tools}', '["core"]') WHERE agent_id = $1`), [
        org.agentId,
      ]);
      const fresh = await app.chat(org);
      await app.db.execute(sql('UPDATE chats SET agent_revision_id = $1 WHERE id = $2'), [await withoutTools(org), chat]);
      for (const one of [chat, fresh]) {
        await app.send(org, one, 'still there?');
        expect(await app.until(org, one, (c) => c.status !== 'RUNNING' && c.messages.at(-1).role === 'assistant')).toMatchObject({
          status: 'ACTIVE',
          error: null,
        });
      }
    });
  });

  /** A revision of the agent that denies every tool; configurations are held in memory by their revision. */
  async function withoutTools(org: TestOrg): Promise<string> {
    const [{ id }] = await app.db.query(
      sql<{ id: string }>(
        `INSERT INTO agent_revisions SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'version', r.version + 1))).* FROM agent_revisions r WHERE r.agent_id = $1 RETURNING id`,
      ),
      [org.agentId],
    );
    return id;
  }

  it('is told to the readers as the end of the turn, the refusals before it', async () => {
    const org = await orgWith('dialect_1', { max_steps: 1 });
    const chat = await app.chat(org);
    await app.send(org, chat, forever);
    await over(org, chat, 1);
    const events = await rows<{ type: string; data: Record<string, unknown> }>(
      `SELECT type, data FROM events WHERE topic = 'chat:' || $1::text ORDER BY seq`,
      chat,
    );
    expect(events.map((e) => e.type)).toEqual([
      'message_created',
      'status_changed',
      'message_completed',
      'tool_call',
      'tool_call',
      'tool_result',
      'tool_result',
      'status_changed',
    ]);
    expect(events[2].data).toMatchObject({ final: true, finish_reason: 'step_limit' });
    const messages = await rows<{ id: string }>(`SELECT id FROM messages WHERE chat_id = $1 AND role = 'tool' ORDER BY seq`, chat);
    expect(events.slice(5, 7).map((e) => e.data)).toEqual(
      messages.map(({ id }) =>
        expect.objectContaining({ message_id: id, status: 'failed', content: expect.stringContaining('step_limit') }),
      ),
    );
  });

  it('lets the message that waited behind its turn go on', async () => {
    const org = await orgWith('dialect_1', { max_steps: 1 });
    const chat = await app.chat(org);
    const held = script({ tool_calls: [note('never')], delay_ms: HELD });
    await app.send(org, chat, held);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    expect((await app.send(org, chat, 'next')).body).toMatchObject({ queued: true });
    app.letGo(held);
    expect(await over(org, chat, 2)).toMatchObject({
      status: 'ACTIVE',
      messages: [{}, { content: 'next' }, {}, { role: 'tool' }, { content: 'You said: next' }],
    });
  });

  it('does not come later because a worker died, or the turn was summarized', async () => {
    const org = await orgWith('dialect_1', { max_steps: 2 });
    const chat = await app.chat(org);
    const models = app.get(ModelStepRunner);
    const run = models.run.bind(models);
    const died = new Promise<void>((resolve) => {
      jest
        .spyOn(models, 'run')
        .mockImplementationOnce(run)
        .mockImplementationOnce(() => {
          resolve();
          throw new LeaseEnded('lost');
        });
    });
    await app.send(org, chat, forever);
    await died;
    // The summary has taken the place of all that the turn has said.
    await app.db.execute(
      sql(`INSERT INTO chat_compactions (id, org_id, chat_id, turn_id, through_turn_no, through_seq, summary, tokens_before, tokens_after)
       SELECT gen_random_uuid(), t.org_id, t.chat_id, t.id, t.seq, 4, 'so far', 10, 5 FROM turns t WHERE t.chat_id = $1`),
      [chat],
    );
    await app.db.execute(sql(`UPDATE chats c SET compaction_id = k.id FROM chat_compactions k WHERE k.chat_id = c.id AND c.id = $1`), [
      chat,
    ]);
    await app.expireLease(chat);
    await over(org, chat, 2);
    expect(await rows('SELECT status, model_steps FROM turns WHERE chat_id = $1', chat)).toEqual([{ status: 'done', model_steps: 2 }]);
  });
});
