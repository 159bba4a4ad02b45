import type { ChatResult, Dialect, ResolvedModel } from '@aps/inference';
import { ModelCalls } from '@aps/inference/testing';
import { sql } from '@aps/platform/testing';
import { chatsService, script, type TestOrg } from '../testing/chats';
import { refuseLong } from './answer-size';
import { StepAnswers } from './step-answers';

interface Message {
  role: string;
  content: string;
  tool_calls: { id: string }[];
}

const DIALECTS: Dialect[] = ['dialect_1', 'dialect_2', 'dialect_3'];

/** Models answer what they should not, and providers report what cannot be. */
describe('odd answers of a model', () => {
  const app = chatsService();

  beforeAll(async () => {
    for (const dialect of DIALECTS) await app.addDialect(dialect);
  });

  const note = (title: string) => ({ name: 'todo_write', arguments: { todos: [{ title, status: 'pending' }] } });
  const ended = (org: TestOrg, chat: string, answers = 1) =>
    app.until(
      org,
      chat,
      (c) =>
        c.status !== 'RUNNING' && (c.status === 'ERRORED' || c.messages.filter((m: Message) => m.role === 'assistant').length >= answers),
    );

  const called = (count: number, args: string) =>
    Array.from({ length: count }, (_, i) => ({ id: `${i}`, name: 'todo_write', arguments: args }));
  it.each<[string, Partial<ChatResult>]>([
    ['arguments without an end', { toolCalls: called(1, 'x'.repeat(1_000_000)) }],
    ['calls without an end', { toolCalls: called(1_000, '{}') }],
    [
      'what a provider wants back without an end',
      { providerState: { dialect: 'dialect_2', model: 'm', parts: [{ type: 'redacted_thinking', data: 'x'.repeat(1_000_000) }] } },
    ],
  ])('may be %s: they are paid for, and not kept', async (_, odd) => {
    const org = await app.org();
    const chat = await app.chat(org);
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    const asked = jest.spyOn(models, 'streamChat').mockImplementation(async (...call) => ({ ...(await real(...call)), ...odd }));
    await app.send(org, chat, 'hello');
    const body = await app.until(org, chat, (c) => c.status !== 'RUNNING' && (c.status === 'ERRORED' || c.messages.length > 1));
    asked.mockRestore();
    expect([body.error?.code, body.messages.length]).toEqual(['provider_bad_response', 1]);
    const receipts = await app.db.query(sql<{ usd: string }>('SELECT usd_cost::text AS usd FROM inference_receipts WHERE chat_id = $1'), [
      chat,
    ]);
    expect(receipts.map(({ usd }) => Number(usd))).toEqual([Number(body.cost_usd)]);
    expect(Number(body.cost_usd)).toBeGreaterThan(0);
  });

  it.each([true, false])('are the matter of who has chosen the address, where they are too long (%s)', (tenantAddress) => {
    const model = { endpoint: { tenantAddress } } as ResolvedModel;
    refuseLong(model, 1_000_000);
    expect(() => refuseLong(model, 1_000_001)).toThrow(expect.objectContaining({ isOfOrganization: tenantAddress }));
  });

  describe.each(DIALECTS)('in %s', (dialect) => {
    let org: TestOrg;
    beforeAll(async () => {
      org = await app.org({ model: dialect });
    });

    it('may give calls one id, or one that no provider takes back, beside thinking; the chat goes on', async () => {
      const chat = await app.chat(org);
      const twice = (...titles: string[]) => ({ reasoning: 'hm hm', tool_calls: titles.map((title) => ({ ...note(title), id: 'same' })) });
      const bad = {
        reasoning: 'hm',
        tool_calls: [
          { ...note('long'), id: 'x'.repeat(60) },
          { ...note('odd'), id: 'a b/ü' },
          { ...note('called wrongly'), name: 'no such.tool' },
        ],
      };
      await app.send(org, chat, script(twice('one', 'two'), twice('three'), bad, { text: 'noted' }));
      const body = await ended(org, chat, 4);
      expect(body.error).toBeNull();
      const results = (body.messages as Message[]).filter((m) => m.role === 'tool').map((m) => m.content);
      expect(results.map((r) => /"title":"(\w+)"/.exec(r)?.[1])).toEqual(['one', 'two', 'three', 'long', 'odd', undefined]);
      const ids = (body.messages as Message[]).flatMap((m) => m.tool_calls.map((call) => call.id));
      expect(new Set(ids).size).toBe(6);
      // With another provider's model, too.
      for (const model of DIALECTS) {
        expect(
          (await app.call('POST', `${org.path}/${chat}/messages`, { as: org.owner, body: { content: `hello ${model}`, model } })).status,
        ).toBe(202);
        const after = await app.until(
          org,
          chat,
          (c) => c.status !== 'RUNNING' && (c.status === 'ERRORED' || c.messages.at(-1).content === `You said: hello ${model}`),
        );
        expect(after.error).toBeNull();
      }
    });

    it.each([
      ['more tokens than a column holds', { output: 1e15 }],
      ['more tokens than a number holds exactly', { input: 1e300, reasoning: 1e300 }],
      ['less than nothing', { input: -5, output: -1e12 }],
      ['parts of tokens', { input: 10.4, output: 2.6, cached_input: 0, cache_write: 0, reasoning: 0 }],
    ])('may cost %s, and are counted as far as that can be', async (_, usage) => {
      const chats = await Promise.all(Array.from({ length: 6 }, () => app.chat(org)));
      // At the same moment, so that they are committed together.
      await Promise.all(chats.map((chat, i) => app.send(org, chat, i % 2 ? `neighbour ${i}` : script({ text: 'twelve chars', usage }))));
      for (const [i, chat] of chats.entries()) {
        const body = await ended(org, chat);
        expect([body.error, body.messages.at(-1).content]).toEqual([null, i % 2 ? `You said: neighbour ${i}` : 'twelve chars']);
      }
      const receipts = await app.db.query(
        sql<{ chat_id: string; input_tokens: number; output_tokens: number; reasoning_tokens: number }>(
          'SELECT chat_id, input_tokens, output_tokens, reasoning_tokens FROM inference_receipts WHERE chat_id = ANY($1)',
        ),
        [chats],
      );
      expect(receipts).toHaveLength(chats.length);
      for (const receipt of receipts.filter((r) => chats.indexOf(r.chat_id) % 2 === 0)) {
        expect(receipt.output_tokens).toBe(3);
        expect([receipt.input_tokens > 0 && receipt.input_tokens < 10_000, receipt.reasoning_tokens]).toEqual([true, 0]);
      }
    });

    it('may hold what PostgreSQL does not, in every place; the chat goes on', async () => {
      const chat = await app.chat(org);
      const odd = 'a\0b\ud83d';
      const step = {
        reasoning: `${'x'.repeat(19_999)}🌍${odd}`,
        text: odd,
        tool_calls: [note(`c${odd}`), { name: `n${odd}`, arguments: `{"x": "\0` }],
      };
      await app.send(org, chat, script(step, { text: 'done' }));
      const body = await ended(org, chat, 2);
      expect([body.error, ...(body.messages as Message[]).filter((m) => m.role === 'assistant').map((m) => m.content)]).toEqual([
        null,
        'ab\ufffd',
        'done',
      ]);
      await app.send(org, chat, 'and now?');
      expect((await ended(org, chat, 3)).error).toBeNull();
      await app.send(org, chat, script({ error: { status: 400, message: `no${odd} ${'y'.repeat(487)}🌍` } }));
      expect((await app.until(org, chat, (c) => c.status === 'ERRORED')).error).toMatchObject({
        code: 'provider_rejected',
        message: expect.stringContaining('noab'),
      });
    });

    /** Sends a script and tells how the turn ended: what its messages are, in every place that says so, and how often a model was asked. */
    async function ending(...steps: object[]) {
      const chat = await app.chat(org);
      const sent = await app.send(org, chat, script(...(steps as Record<string, unknown>[])));
      const body = await app.until(
        org,
        chat,
        (c) => c.status !== 'RUNNING' && (c.status === 'ERRORED' || c.messages.some((m: Message) => m.role === 'assistant')),
      );
      expect([body.status, body.error]).toEqual(['ACTIVE', null]);
      const said = (body.messages as (Message & { id: string; finish_reason: string | null; usage: Record<string, number> })[]).filter(
        (m) => m.role === 'assistant',
      );
      const events = await app.db.query(
        sql<{ data: { message: { id: string; finish_reason: string }; finish_reason: string } }>(
          `SELECT data FROM events WHERE topic = 'chat:' || $1::text AND type = 'message_completed' ORDER BY seq`,
        ),
        [chat],
      );
      expect(events.map((e) => [e.data.message.id, e.data.message.finish_reason, e.data.finish_reason])).toEqual(
        said.map((m) => [m.id, m.finish_reason, m.finish_reason]),
      );
      expect(
        (body.messages as { role: string; finish_reason: string | null }[])
          .filter((m) => m.role !== 'assistant')
          .every((m) => m.finish_reason === null),
      ).toBe(true);
      const diagnosis = (await app.call('GET', `${org.path}/${chat}/diagnosis`, { as: org.owner })).body;
      expect(diagnosis.last_turn).toEqual({ turn_id: sent.body.turn_id, finish_reason: said.at(-1)!.finish_reason, error: null });
      const [{ asked }] = await app.db.query(
        sql<{ asked: number }>(
          `SELECT sum((detail->>'attempts')::int)::int AS asked FROM turn_steps WHERE chat_id = $1 AND kind = 'model'`,
        ),
        [chat],
      );
      return {
        chat,
        messages: body.messages as (Message & { finish_reason: string | null })[],
        said: said.map((m) => [m.content, m.finish_reason]),
        asked,
        usage: said[0].usage,
      };
    }
    const inWords = (refusal: string, filtered: string, other: string) =>
      ({ dialect_1: refusal, dialect_2: filtered, dialect_3: other })[dialect as 'dialect_1'];

    it('end for a reason, which message, event and diagnosis tell', async () => {
      expect((await ending({ text: 'all of it' })).said).toEqual([['all of it', 'stop']]);
      expect((await ending({ text: 'as far as', finish: 'length' })).said).toEqual([['as far as', 'length']]);
      expect((await ending({ tool_calls: [note('x')] }, { text: 'done' })).said).toEqual([
        ['', 'tool_calls'],
        ['done', 'stop'],
      ]);
      expect((await ending({ text: 'so far', finish: 'malformed_call' })).said).toEqual([['so far', 'stop']]);
    });

    it('may be filtered or refused, with or without words; what was called then is not run', async () => {
      const filtered = inWords('content_filter', 'refusal', 'content_filter');
      const refused = inWords('refusal', 'refusal', 'content_filter');
      expect(await ending({ finish: 'content_filter' })).toMatchObject({ said: [['', filtered]], asked: 1 });
      expect(await ending({ text: 'I can not do that.', finish: 'refusal' })).toMatchObject({
        said: [['I can not do that.', refused]],
        asked: 1,
      });
      const called = await ending({ text: 'first I', tool_calls: [note('bad')], finish: 'content_filter' });
      expect([called.said, await app.db.query(sql('SELECT 1 FROM todos WHERE chat_id = $1'), [called.chat])]).toEqual([
        [['first I', filtered]],
        [],
      ]);
    });

    it.each([
      ['words', { type: 'text', text: 'x'.repeat(600_000) }],
      ['thoughts', { type: 'reasoning', text: 'x'.repeat(600_000) }],
    ] as const)('may be %s without an end, and are heard no further than a million characters', async (_, event) => {
      const models = app.get(ModelCalls);
      const real = models.streamChat.bind(models);
      const heard = jest.fn();
      const asked = jest.spyOn(models, 'streamChat').mockImplementation((model, call, options) =>
        real(model, call, {
          ...options,
          onEvent: () => {
            options?.onEvent?.(event);
            heard();
          },
        }),
      );
      const chat = await app.chat(org);
      await app.send(org, chat, 'one two three four');
      const body = await app.until(org, chat, (c) => c.status === 'ERRORED');
      asked.mockRestore();
      expect([body.error.code, body.messages.length, heard.mock.calls.length]).toEqual(['provider_bad_response', 1, 1]);
      await app.send(org, chat, 'and now?');
      expect((await ended(org, chat)).error).toBeNull();
    });

    it('may be blanks: readers are told to forget these before the model is asked once more', async () => {
      const steps = app.get(StepAnswers);
      const announce = steps.announceRestart.bind(steps);
      const done: string[] = [];
      jest.spyOn(steps, 'announceRestart').mockImplementation(async (...args) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await announce(...args);
        done.push('told');
      });
      const models = app.get(ModelCalls);
      const real = models.streamChat.bind(models);
      jest.spyOn(models, 'streamChat').mockImplementation((model, call, options) => {
        if (call.feature === 'turn') done.push('asked');
        return real(model, call, options);
      });
      await ending([{ text: ' \n' }, { text: 'now' }]);
      jest.restoreAllMocks();
      expect(done).toEqual(['asked', 'told', 'asked']);
    });

    it('may be nothing: they are asked for once more, and both are paid for', async () => {
      const usage = { input: 100, output: 10, reasoning: 0 };
      const said = await ending([
        { text: '', usage },
        { text: 'now', usage },
      ]);
      expect(said).toMatchObject({ said: [['now', 'stop']], asked: 2, usage: { input: 200, output: 20, cost_usd: '0.00024' } });
      expect(await ending({ text: '', usage })).toMatchObject({ said: [['', 'empty']], asked: 2, usage: { input: 200, output: 20 } });
      const paid = sql<{ step_no: number | null; input: number; usd: number }>(
        `SELECT step_no, input_tokens AS input, usd_cost::float8 AS usd FROM inference_receipts WHERE chat_id = $1 ORDER BY id`,
      );
      expect(await app.db.query(paid, [said.chat])).toEqual([null, 1].map((step_no) => ({ step_no, input: 100, usd: 0.00012 })));
      expect(await ending({ text: ' \n' })).toMatchObject({ said: [[' \n', 'empty']], asked: 2 });
      expect(await ending({ finish: 'malformed_call' })).toMatchObject({ said: [['', 'empty']], asked: 2 });
      expect(await ending({ reasoning: 'too long', finish: 'length' })).toMatchObject({ said: [['', 'empty']], asked: 2 });
      // Where the second asking fails, the first stands, since it is paid for.
      expect(await ending([{ text: '', usage }, { error: { status: 400 } }])).toMatchObject({
        said: [['', 'empty']],
        asked: 1,
        usage: { input: 100, output: 10 },
      });
      const chat = (await ending({ text: '' })).chat;
      await app.send(org, chat, 'are you there?');
      expect((await ended(org, chat, 2)).messages.at(-1).content).toBe('You said: are you there?');
    });

    // Calls come whole in dialect 3.
    if (dialect !== 'dialect_3') {
      it.each([
        ['in its arguments', '{"todos":[{"title":"cu'],
        ['before them', ''],
      ])('may reach their length inside a call, %s, which is not run; the turn goes on', async (_, args) => {
        const cut = await ending(
          { tool_calls: [note('whole'), { name: 'todo_write', arguments: args }], finish: 'length' },
          { tool_calls: [{ name: 'wait_until', arguments: args }], finish: 'length' },
          { text: 'shorter' },
        );
        expect(cut.said).toEqual([
          ['', 'length'],
          ['', 'length'],
          ['shorter', 'stop'],
        ]);
        const results = cut.messages.filter((m) => m.role === 'tool').map((m) => (JSON.parse(m.content) as { status?: string }).status);
        expect(results).toEqual([undefined, 'cut_off', 'cut_off']);
        expect(await app.db.query(sql('SELECT title FROM todos WHERE chat_id = $1'), [cut.chat])).toEqual([{ title: 'whole' }]);
      });
    }
  });
});
