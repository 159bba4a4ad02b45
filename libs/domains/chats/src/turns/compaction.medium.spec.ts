import { Readable } from 'node:stream';
import { FilesService } from '@aps/files';
import { OrgScope } from '@aps/guards';
import { InferenceError } from '@aps/inference';
import { ModelCalls } from '@aps/inference/testing';
import { sql } from '@aps/platform/testing';
import { chatsService, script, type TestOrg } from '../testing/chats';
import { Compaction } from './compaction';
import { TurnRepository } from './turn.repository';

const RECEIPTS = `SELECT (count(*) FILTER (WHERE feature = 'compaction'))::int AS n, sum(usd_cost) FROM inference_receipts WHERE chat_id = $1`;
/** Tokens that the test's model can read. */
const WINDOW = 4_000;

describe('compaction', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    await app.addUnpricedModel('chosen');
    await app.db.execute(sql(`UPDATE model_catalog SET context_window = $1`), [WINDOW]);
    org = await app.org();
  });
  afterEach(() => jest.restoreAllMocks());

  /** About so many tokens. */
  const words = (tokens: number, of = 'word') => `${of} `.repeat(Math.ceil((tokens * 4) / (of.length + 1)));
  const events = (chat: string) =>
    app.db.query(sql<{ data: Record<string, number> }>(`SELECT data FROM events WHERE topic = $1 AND type = 'compaction' ORDER BY seq`), [
      `chat:${chat}`,
    ]);
  const turnInputs = async (chat: string) =>
    (
      await app.db.query(
        sql<{ input_tokens: number }>(
          `SELECT input_tokens FROM inference_receipts WHERE chat_id = $1 AND feature = 'turn' ORDER BY created_at`,
        ),
        [chat],
      )
    ).map((r) => r.input_tokens);

  const file = async (content: string, filename: string) => {
    const bytes = Readable.from([Buffer.from(content)]);
    const member = OrgScope.member(org.id, org.owner.id, 'MEMBER');
    return (await app.get(FilesService).upload(member, { filename, bytes, complete: Promise.resolve() })).id;
  };

  it('shortens what the model reads, and nothing else', async () => {
    const chat = await app.chat(org);
    // Question and echoed answer: about 1,200 tokens a turn.
    for (let i = 1; i <= 4; i++) {
      await app.send(org, chat, `${i}: ${words(600)}`);
      await app.settled(org, chat, i);
    }
    const [compacted] = await events(chat);
    expect(compacted.data.tokens_before).toBeGreaterThan(WINDOW * 0.8);
    expect(compacted.data.tokens_after).toBeLessThan(WINDOW * 0.5);
    const inputs = await turnInputs(chat);
    expect(Math.max(...inputs)).toBeLessThan(WINDOW);
    expect(inputs[3]).toBeLessThan(inputs[2]);

    const { body } = await app.read(org, chat);
    expect(body.messages.map((m: { role: string; content: string }) => `${m.role} ${m.content.slice(0, 13)}`)).toEqual(
      [1, 2, 3, 4].flatMap((i) =>
        [`user ${i}: word word `.slice(0, 18), `assistant You said: ${i}: `.slice(0, 23)].map((t) =>
          expect.stringContaining(t.slice(0, 12)),
        ),
      ),
    );
    const receipts = await app.db.query(sql<{ sum: string }>('SELECT sum(usd_cost) FROM inference_receipts WHERE chat_id = $1'), [chat]);
    expect(Number(body.cost_usd)).toBe(Number(receipts[0].sum));
    expect(await app.db.query(sql(`SELECT 1 FROM inference_receipts WHERE chat_id = $1 AND feature = 'compaction'`), [chat])).not.toEqual(
      [],
    );
  });

  it.each([
    ['its agent', { model: 'chosen' }, {}],
    ['its first message', {}, { model: 'chosen' }],
  ])('is done by the model that %s names for the chat, as its title is', async (_, agent, message) => {
    const own = await app.org(agent);
    const chat = await app.chat(own, {});
    for (let i = 1; i <= 4; i++) {
      const body = { content: `${i}: ${words(600)}`, ...message };
      await app.make('POST', `${own.path}/${chat}/messages`, { as: own.owner, body });
      await app.settled(own, chat, i);
    }
    await app.until(own, chat, (c) => c.title !== null);
    const used = sql<{ feature: string; model_key: string }>(
      'SELECT DISTINCT feature, model_key FROM inference_receipts WHERE chat_id = $1 ORDER BY 1',
    );
    expect(await app.db.query(used, [chat])).toEqual(['compaction', 'title', 'turn'].map((feature) => ({ feature, model_key: 'chosen' })));
  });

  it('goes on from the summary in later turns, and summarizes again when they grow', async () => {
    const chat = await app.chat(org);
    for (let i = 1; i <= 8; i++) {
      await app.send(org, chat, `${i}: ${words(500)}`);
      await app.settled(org, chat, i);
    }
    const made = await events(chat);
    expect(made.length).toBeGreaterThan(1);
    expect(Math.max(...(await turnInputs(chat)))).toBeLessThan(WINDOW);
    const through = made.map((e) => e.data.through_seq);
    expect([...through].sort((a, b) => a - b)).toEqual(through);
  });

  it('compacts in the middle of a turn of many tool calls', async () => {
    const chat = await app.chat(org);
    const step = {
      tool_calls: [
        {
          name: 'todo_write',
          arguments: { todos: Array.from({ length: 20 }, (_, i) => ({ title: `${i} ${words(20)}`, status: 'pending' })) },
        },
      ],
    };
    await app.send(org, chat, script(step, step, step, step));
    // The script stands in the question: that it plays on shows that the model still reads what it answers.
    const body = await app.until(org, chat, (c) => {
      const answers = c.messages.filter((m: { role: string }) => m.role === 'assistant');
      return answers.length >= 5;
    });
    await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner });
    const [compacted] = await events(chat);
    expect(compacted.data.through_seq).toBeLessThan(body.messages.at(-1).seq);
    expect(
      body.messages
        .filter((m: { role: string }) => m.role === 'assistant')
        .every((m: { tool_calls: unknown[] }) => m.tool_calls.length === 1),
    ).toBe(true);
    expect(Math.max(...(await turnInputs(chat)))).toBeLessThan(WINDOW * 1.5);
  });

  it('tells of files that were attached, also once it is summarized itself, and reads short ones', async () => {
    const asked = jest.spyOn(app.get(ModelCalls), 'streamChat');
    const told = (feature: string) =>
      asked.mock.calls.flatMap(([, call]) => (call.feature === feature ? [JSON.stringify(call.messages)] : []));
    const chat = await app.chat(org);
    const attachment_ids = [await file('Clause 7: thirty days.', 'contract.txt'), await file('long '.repeat(2_000), 'annex.txt')];
    await app.make('POST', `${org.path}/${chat}/messages`, {
      as: org.owner,
      body: { content: `${words(400)}\n${script({ text: 'noted' })}`, attachment_ids },
    });
    await app.settled(org, chat, 1);
    let sent = 1;
    for (const compactions of [1, 2]) {
      while ((await events(chat)).length < compactions) {
        await app.send(org, chat, `${++sent}: ${words(500)}`);
        await app.settled(org, chat, sent);
      }
      expect(told('turn').at(-1)).toMatch(/Files that were attached.*contract\.txt.*annex\.txt/);
    }
    // The chat of a test before may still ask.
    const first = told('compaction').find((asked) => asked.includes('contract.txt'))!;
    expect([
      first.includes('Clause 7'),
      first.includes('[Attached file \\"annex.txt\\" (text/plain)]'),
      first.includes('long long'),
    ]).toEqual([true, true, false]);
  });

  it('makes a part of what a provider finds too long, however little it was counted to be, and twice at most', async () => {
    const chat = await app.chat(org);
    for (let i = 1; i <= 4; i++) {
      await app.send(org, chat, `${i}: ${words(250)}`);
      await app.settled(org, chat, i);
    }
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    const asked: number[] = [];
    let refused = 1;
    jest.spyOn(models, 'streamChat').mockImplementation((model, call, options) => {
      if (call.feature !== 'turn') return real(model, call, options);
      asked.push(call.messages.length);
      if (refused-- > 0) throw new InferenceError('context_overflow', 'The prompt is too long.');
      return real(model, call, options);
    });
    await app.send(org, chat, 'and now?');
    const answered = await app.settled(org, chat, 5);
    expect([answered.status, answered.messages.at(-1).content]).toEqual(['ACTIVE', 'You said: and now?']);
    const [compacted] = await events(chat);
    expect(compacted.data.tokens_before).toBeLessThan(WINDOW * 0.6);
    expect(compacted.data.tokens_after).toBeLessThan(compacted.data.tokens_before / 2);
    expect(asked).toEqual([9, 3]);
    // What is never short enough ends the turn.
    refused = 9;
    await app.send(org, chat, words(200));
    const ended = await app.until(org, chat, (c) => c.status === 'ERRORED');
    expect(ended.error).toMatchObject({ code: 'context_overflow' });
    expect(asked.length).toBeLessThanOrEqual(5);
  });

  it('gives nothing of a chat that is not what makes a request too long', async () => {
    const instructed = await app.org({ instruction: words(6_000) });
    const chat = await app.chat(instructed);
    for (let i = 1; i <= 4; i++) {
      await app.send(instructed, chat, `${i}: ${words(250)}`);
      await app.settled(instructed, chat, i);
    }
    const refusing = new InferenceError('context_overflow', 'The prompt is too long.');
    const asked = jest.spyOn(app.get(ModelCalls), 'streamChat').mockRejectedValue(refusing);
    await app.send(instructed, chat, 'and now?');
    expect((await app.until(instructed, chat, (c) => c.status === 'ERRORED')).error).toMatchObject({ code: 'context_overflow' });
    expect([asked.mock.calls.map(([, call]) => call.feature), await events(chat)]).toEqual([['turn'], []]);
  });

  it('shortens a chat that stands behind much else where the request then fits', async () => {
    const instructed = await app.org({ instruction: words(1_650) });
    const chat = await app.chat(instructed);
    for (let i = 1; i <= 3; i++) {
      await app.send(instructed, chat, `${i}: ${words(200)}`);
      await app.settled(instructed, chat, i);
    }
    jest.spyOn(app.get(ModelCalls), 'streamChat').mockRejectedValueOnce(new InferenceError('context_overflow', 'The prompt is too long.'));
    await app.send(instructed, chat, 'and now?');
    await app.settled(instructed, chat, 4);
    expect(await events(chat)).toHaveLength(1);
  });

  it('counts files with the messages that a provider finds too long, and summarizes both in few calls', async () => {
    const chat = await app.chat(org);
    const attachment_ids = [await file('long '.repeat(380), 'one.txt'), await file('text '.repeat(380), 'two.txt')];
    await app.make('POST', `${org.path}/${chat}/messages`, { as: org.owner, body: { content: script({ text: 'noted' }), attachment_ids } });
    await app.settled(org, chat, 1);
    for (let i = 2; i <= 3; i++) {
      await app.send(org, chat, `${i}: ${words(100)}`);
      await app.settled(org, chat, i);
    }
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    const asked: (string | undefined)[] = [];
    jest.spyOn(models, 'streamChat').mockImplementation((model, call, options) => {
      asked.push(call.feature);
      if (asked.length === 1) throw new InferenceError('context_overflow', 'The prompt is too long.');
      return real(model, call, options);
    });
    await app.send(org, chat, 'and now?');
    await app.settled(org, chat, 4);
    expect(asked).toEqual(['turn', 'compaction', 'turn']);
  });

  it('covers what is too far back to be read', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.settled(org, chat, 1);
    // 10 MB, of which 8 are read, in the next turn, as messages are that a closed chat has kept.
    const keep100 = () =>
      app.db.execute(
        sql(`WITH c AS (UPDATE chats SET message_seq = message_seq + 100, message_count = message_count + 100 WHERE id = $1 RETURNING id, org_id, message_seq)
        INSERT INTO messages (id, org_id, chat_id, seq, role, content, turn_no) SELECT gen_random_uuid(), c.org_id, c.id, c.message_seq - n, 'user', repeat('long ', 20000), 2 FROM c, generate_series(0, 99) n`),
        [chat],
      );
    await keep100();
    const [first, ...read] = await app.get(TurnRepository).transcript(app.db, { chat_id: chat, seq: 2 });
    expect(first).toMatchObject({ role: 'summary', content: '', left_out: 102 - read.length });
    expect(read).toHaveLength(80);
    const asked = jest.spyOn(app.get(Compaction) as unknown as { summarize(): Promise<string> }, 'summarize').mockResolvedValue('short');
    await app.send(org, chat, 'and now?');
    expect((await app.until(org, chat, (c) => c.messages.at(-1).role === 'assistant')).messages.at(-1).content).toBe('You said: and now?');
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await events(chat)).toMatchObject([{ data: { messages: 102, through_seq: 102 } }]);
    expect(await app.get(TurnRepository).transcript(app.db, { chat_id: chat, seq: 2 })).toMatchObject([
      { role: 'summary', content: 'short', left_out: null },
      { role: 'user', content: 'and now?' },
      { role: 'assistant' },
    ]);
    // The message that the turn answers is read wherever it stands.
    await keep100();
    const [summary, answered, ...newest] = await app.get(TurnRepository).transcript(app.db, { chat_id: chat, seq: 2 });
    expect([summary, answered]).toMatchObject([
      { role: 'summary', content: 'short', left_out: 102 - newest.length },
      { content: 'and now?', covered: true },
    ]);
    expect(newest).toHaveLength(80);
  });

  describe('that fails', () => {
    const says = (text: string) => text;
    const saysNothing = () => ' \n';

    it.each([
      ['says nothing', [saysNothing], 1],
      ['says nothing of the second piece', [says, saysNothing], 2],
      ['cannot be asked', [], 0],
    ])('because the model %s leaves all as it is, and is tried once a turn', async (_, answers, paid) => {
      const chat = await app.chat(org);
      for (let i = 1; i <= 3; i++) {
        await app.send(org, chat, `${i}: ${words(600)}`);
        await app.settled(org, chat, i);
      }
      const models = app.get(ModelCalls);
      const real = models.streamChat.bind(models);
      let asked = 0;
      jest.spyOn(models, 'streamChat').mockImplementation(async (model, call, options) => {
        if (call.feature !== 'compaction') return real(model, call, options);
        const answer = answers[asked++];
        if (!answer) throw new InferenceError('provider_unavailable', 'Away');
        const result = await real(model, call, options);
        return { ...result, text: answer(result.text) };
      });
      const todos = { tool_calls: [{ name: 'todo_write', arguments: { todos: [{ title: 'one', status: 'pending' }] } }] };
      await app.send(org, chat, `${words(300)}\n${script(todos, todos, { text: 'done' })}`);
      const body = await app.settled(org, chat, 4);
      expect(body.messages.at(-1).content).toBe('done');
      expect(asked).toBe(paid || 1);
      expect(await events(chat)).toEqual([]);
      expect((await app.get(TurnRepository).transcript(app.db, { chat_id: chat, seq: 4 }))[0].role).toBe('user');
      const receipts = await app.db.query(sql<{ n: number; sum: string }>(RECEIPTS), [chat]);
      expect(receipts[0].n).toBe(paid);
      expect(Number(body.cost_usd)).toBe(Number(receipts[0].sum));
    });
  });

  it('leaves a chat alone where compaction is off', async () => {
    const other = await app.org();
    await app.db.execute(
      sql(
        `INSERT INTO org_ai_settings (org_id, compaction_enabled) VALUES ($1, false) ON CONFLICT (org_id) DO UPDATE SET compaction_enabled = false`,
      ),
      [other.id],
    );
    const chat = await app.chat(other);
    for (let i = 1; i <= 4; i++) {
      await app.send(other, chat, `${i}: ${words(600)}`);
      await app.settled(other, chat, i);
    }
    expect(await events(chat)).toEqual([]);
  });
});
