import { entitle } from '@aps/billing/testing';
import { OrgScope } from '@aps/guards';
import { ModelCalls } from '@aps/inference/testing';
import { batchesOf } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { ChatsService } from './chats.service';
import { ChatsQueries } from './reading/chats.queries';
import { chatsService, HELD, script, type TestOrg } from './testing/chats';
import { TitleRepository } from './turns/title.repository';

describe('chats', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await app.org();
  });

  it('answers a message, streamed and stored, with its cost', async () => {
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    await stream.until((f) => f.event === 'snapshot');
    const sent = await app.send(org, chat, 'hello there');
    expect(sent).toMatchObject({ status: 202, body: { chat_id: chat, dispatched: true, queued: false, reason: null } });

    const frames = await stream.until((f) => f.event === 'status_changed' && f.data.data.to === 'ACTIVE');
    const numbered = frames.filter((f) => f.id && f.event !== 'snapshot');
    expect(numbered.map((f) => [f.id, f.event])).toEqual([
      ['1', 'message_created'],
      ['2', 'status_changed'],
      ['3', 'message_completed'],
      ['4', 'status_changed'],
    ]);
    const text = frames.filter((f) => f.event === 'message_delta').map((f) => f.data.data.text as string);
    expect(text.join('')).toBe('You said: hello there');
    stream.close();

    const { body } = await app.read(org, chat);
    expect(body).toMatchObject({ status: 'ACTIVE', title: 'Test', message_count: 2, error: null });
    expect(body.messages.map((m: { role: string; content: string; seq: number }) => [m.seq, m.role, m.content])).toEqual([
      [1, 'user', 'hello there'],
      [2, 'assistant', 'You said: hello there'],
    ]);
    expect(body.messages[0].id).toBe(sent.body.message_id);
    expect(Number(body.cost_usd)).toBeGreaterThan(0);
    const receipts = await app.db.query(sql('SELECT usd_cost, model_key, feature FROM inference_receipts WHERE chat_id = $1'), [chat]);
    expect(receipts).toMatchObject([{ model_key: 'mock', feature: 'turn' }]);
    expect(Number(receipts[0].usd_cost)).toBe(Number(body.cost_usd));
    expect(await app.db.query(sql('SELECT id FROM outbox'))).toEqual([]);
  });

  it('are opened once under a key, also where nobody heard of the first time', async () => {
    const service = app.get(ChatsService);
    const creating = service.create.bind(service);
    jest.spyOn(service, 'create').mockImplementationOnce(async (...args) => {
      await creating(...args);
      throw new Error('connection lost');
    });
    const headers = { 'Idempotency-Key': `open-${org.id}` };
    const title = 'Opened once';
    const open = () => app.call('POST', org.path, { as: org.owner, headers, body: { title } });
    expect((await open()).status).toBe(500);
    const { status, body } = await open();
    expect([status, body.title, body.messages]).toEqual([201, title, []]);
    const { items } = (await app.call('GET', org.path, { as: org.owner })).body;
    expect(items.filter((c: { title: string }) => c.title === title)).toMatchObject([{ id: body.id }]);
  });

  it('resumes a stream from any id', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, 'one');
    await app.settled(org, chat, 1);
    const stream = await app.stream(org, chat, { lastEventId: '2' });
    const frames = await stream.until((f) => f.id === '4');
    expect(frames.map((f) => [f.event, f.id])).toEqual([
      ['snapshot', undefined],
      ['message_completed', '3'],
      ['status_changed', '4'],
    ]);
    stream.close();
  });

  it('runs tools and answers after them', async () => {
    const chat = await app.chat(org);
    const plan = script(
      {
        text: 'Planning.',
        tool_calls: [
          { name: 'todo_write', arguments: { todos: [{ title: 'first', status: 'in_progress' }] } },
          { name: 'no_such_tool', arguments: {} },
        ],
      },
      { text: 'Planned.' },
    );
    await app.send(org, chat, plan);
    const body = await app.settled(org, chat, 1);
    expect(body.messages.map((m: { role: string; tool_name: string | null }) => [m.role, m.tool_name])).toEqual([
      ['user', null],
      ['assistant', null],
      ['tool', 'todo_write'],
      ['tool', 'no_such_tool'],
      ['assistant', null],
    ]);
    expect(body.messages[3].content).toContain('no tool no_such_tool');
    expect(body.messages[4].content).toBe('Planned.');
    const todos = await app.call('GET', `${org.path}/${chat}/todos`, { as: org.owner });
    expect(todos.body.items).toMatchObject([{ title: 'first', status: 'in_progress', position: 0 }]);
  });

  it('takes messages for many chats at once, however their ids are spelled, and keeps them apart', async () => {
    const chats = await Promise.all(Array.from({ length: 40 }, () => app.chat(org)));
    const sent = await Promise.all(chats.map((chat, i) => app.send(org, i % 2 ? chat.toUpperCase() : chat, `hello ${i}`)));
    expect(sent.map((s) => s.status)).toEqual(chats.map(() => 202));
    const ended = await Promise.all(chats.map((chat) => app.settled(org, chat, 1)));
    expect(ended.map((chat) => chat.messages.map((m: { content: string }) => m.content))).toEqual(
      chats.map((_, i) => [`hello ${i}`, `You said: hello ${i}`]),
    );
  });

  it('keeps a message that comes during a turn as its own next turn', async () => {
    const chat = await app.chat(org);
    const slow = script({ text: 'slow', delay_ms: HELD });
    await app.send(org, chat, slow);
    const second = await app.send(org, chat, 'and then?');
    expect(second).toMatchObject({ status: 202, body: { dispatched: false, queued: true, reason: 'turn_running' } });
    app.letGo(slow);
    const body = await app.settled(org, chat, 2);
    const answers = body.messages.filter((m: { role: string }) => m.role === 'assistant').map((m: { content: string }) => m.content);
    expect(answers).toEqual(['slow', 'You said: and then?']);
  });

  it('waits for a time without holding a slot, and goes on', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, script({ tool_calls: [{ name: 'wait_until', arguments: { for_s: 2 } }] }, { text: 'awake' }));
    const waiting = await app.until(org, chat, (c) => c.pause?.kind === 'timer');
    expect(waiting.status).toBe('ACTIVE');
    expect(await app.db.query(sql(`SELECT status, lease_owner FROM turns WHERE chat_id = $1`), [chat])).toEqual([
      { status: 'waiting', lease_owner: null },
    ]);
    const body = await app.settled(org, chat, 1);
    expect(body.pause).toBeNull();
    expect(body.messages.at(-1).content).toBe('awake');
    expect(JSON.parse(body.messages.at(-2).content)).toMatchObject({ status: 'elapsed' });
  });

  it('lets a message end a wait', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, script({ tool_calls: [{ name: 'wait_until', arguments: { for_s: 3600 } }] }));
    await app.until(org, chat, (c) => c.pause?.kind === 'timer');
    const stream = await app.stream(org, chat);
    await app.send(org, chat, 'never mind');
    const body = await app.settled(org, chat, 1);
    const [result, ...others] = body.messages.filter((m: { role: string }) => m.role === 'tool');
    expect(others).toEqual([]);
    expect(JSON.parse(result.content)).toEqual({ status: 'interrupted_by_message' });
    expect(body.messages.at(-1).content).toBe('You said: never mind');
    const frames = await stream.until((f) => f.event === 'message_completed');
    expect(frames.filter((f) => f.id && f.event !== 'snapshot').map((f) => f.event)).toEqual([
      'tool_result',
      'status_changed',
      'message_created',
      'status_changed',
      'message_completed',
    ]);
    const { id: message_id, tool_call_id, content } = result;
    expect(frames.find((f) => f.event === 'tool_result')?.data.data).toEqual({
      message_id,
      tool_call_id,
      name: 'wait_until',
      status: 'failed',
      content,
      turn_id: expect.any(String),
    });
    const { body: timeline } = await app.call('GET', `${org.path}/${chat}/timeline`, { as: org.owner });
    expect(timeline.items.filter((e: { metadata: { tool_call_id?: string } }) => e.metadata.tool_call_id === tool_call_id)).toMatchObject([
      { type: 'tool_result' },
      { type: 'agent_step', metadata: { kind: 'tool', status: 'failed', message_id } },
      { type: 'tool_call' },
    ]);
    stream.close();
  });

  it('stops a running turn', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, script({ text: 'one two three four', chunk_delay_ms: HELD }));
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    const stopped = await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: {} });
    expect(stopped).toMatchObject({ status: 200, body: { stopped: true, status: 'ACTIVE', cleared_pause: null } });
    const again = await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner });
    expect(again).toMatchObject({ status: 200, body: { stopped: false, status: 'ACTIVE' } });
    await app.send(org, chat, 'still there?');
    await app.until(org, chat, (c) => c.status !== 'RUNNING' && c.messages.at(-1).content === 'You said: still there?');
  });

  it('names a chat that has no title after its first answer', async () => {
    const chat = await app.chat(org, {});
    await app.send(org, chat, 'Where do the invoices of March go?');
    const body = await app.until(org, chat, (c) => c.title !== null);
    expect(body.title.length).toBeLessThanOrEqual(81);
    expect(await app.db.query(sql(`SELECT feature FROM inference_receipts WHERE chat_id = $1 ORDER BY feature`), [chat])).toEqual([
      { feature: 'title' },
      { feature: 'turn' },
    ]);
  });

  it('writes down a title that its database could not take at once, without another call', async () => {
    const asked = jest.spyOn(app.get(ModelCalls), 'streamChat');
    jest.spyOn(app.get(TitleRepository), 'lockUntitled').mockRejectedValueOnce(new Error('Connection terminated unexpectedly'));
    const chat = await app.chat(org, {});
    await app.send(org, chat, 'Where do the invoices of April go?');
    await app.until(org, chat, (c) => c.title !== null);
    expect(asked.mock.calls.filter(([, call]) => call.feature === 'title')).toHaveLength(1);
    jest.restoreAllMocks();
    expect(await app.db.query(sql(`SELECT 1 FROM inference_receipts WHERE chat_id = $1 AND feature = 'title'`), [chat])).toHaveLength(1);
  });

  it('has no name where neither its model nor its opening words have one', async () => {
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    const spy = jest.spyOn(models, 'streamChat').mockImplementation(async (model, call, options) => {
      const answer = await real(model, call, options);
      return call.feature === 'title' ? { ...answer, text: '""' } : answer;
    });
    const chat = await app.chat(org, {});
    await app.send(org, chat, '***');
    await app.settled(org, chat, 1);
    const titled = sql(`SELECT 1 FROM inference_receipts WHERE chat_id = $1 AND feature = 'title'`);
    await eventually(
      () => app.db.query(titled, [chat]),
      (receipts) => receipts.length > 0,
    );
    spy.mockRestore();
    expect((await app.read(org, chat)).body.title).toBeNull();
    expect(await app.db.query(sql(`SELECT 1 FROM events WHERE topic = $1 AND type = 'title_changed'`), [`chat:${chat}`])).toEqual([]);
  });

  it('is named once, however many turns end before it has its name', async () => {
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    let name = () => {};
    const named = new Promise<void>((resolve) => (name = resolve));
    const spy = jest.spyOn(models, 'streamChat').mockImplementation(async (model, call, options) => {
      if (call.feature === 'title') await named;
      return real(model, call, options);
    });
    const chat = await app.chat(org, {});
    for (const replies of [1, 2, 3]) {
      await app.send(org, chat, `hello ${replies}`);
      await app.settled(org, chat, replies);
    }
    name();
    await eventually(
      () => app.db.query(sql(`SELECT id FROM outbox WHERE payload->>'chat_id' = $1`), [chat]),
      (jobs) => jobs.length === 0,
    );
    spy.mockRestore();
    expect((await app.read(org, chat)).body.title).not.toBeNull();
    expect(await app.db.query(sql(`SELECT 1 FROM inference_receipts WHERE chat_id = $1 AND feature = 'title'`), [chat])).toHaveLength(1);
  });

  it('says with which effort a model was called, where it takes none that was asked for', async () => {
    const chat = await app.chat(org);
    const body = { content: 'hello', model: 'mock', reasoning_effort: 'high' };
    await app.make('POST', `${org.path}/${chat}/messages`, { as: org.owner, body });
    await app.settled(org, chat, 1);
    await app.send(org, chat, 'hello');
    const efforts = (clamped: boolean, asked: string | null) => ({
      usage: { reasoning_effort: null, requested_reasoning_effort: asked, effort_clamped: clamped },
    });
    expect((await app.settled(org, chat, 2)).messages).toMatchObject([{}, efforts(true, 'high'), {}, efforts(false, null)]);
  });

  it('becomes ERRORED when the provider refuses, and goes on with the next message', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, script({ error: { status: 400, message: 'no such thing' } }));
    const failed = await app.until(org, chat, (c) => c.status === 'ERRORED');
    expect(failed.error).toMatchObject({ code: 'provider_rejected', retryable: false });
    await app.send(org, chat, 'better');
    expect((await app.settled(org, chat, 1)).error).toBeNull();
  });

  it('shows a chat to its creator alone', async () => {
    const chat = await app.chat(org);
    expect((await app.read(org, chat, org.member)).status).toBe(404);
    expect((await app.call('POST', `${org.path}/${chat}/messages`, { as: org.member, body: { content: 'x' } })).status).toBe(404);
    expect((await app.stream(org, chat, { as: org.member })).status).toBe(404);
    const list = await app.call('GET', `${org.path}?limit=100`, { as: org.member });
    expect(list.body).toEqual({ items: [], total: 0, next_offset: null });
  });

  it('breaks off its messages for who may not open it any more', async () => {
    const chat = await app.chat(org);
    const share = (shared: boolean) => app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { shared } });
    await share(true);
    await app.db.execute(
      sql(`WITH c AS (UPDATE chats SET message_seq = 151, message_count = 151 WHERE id = $1 RETURNING id, org_id)
        INSERT INTO messages (id, org_id, chat_id, seq, role, content, turn_no) SELECT gen_random_uuid(), c.org_id, c.id, n, 'user', 'hello', 1 FROM c, generate_series(1, 151) n`),
      [chat],
    );
    const read = async (hidden: boolean) => {
      const { messages } = await app.get(ChatsQueries).withMessages(OrgScope.member(org.id, org.member.id, 'MEMBER'), org.agentId, chat);
      let n = 0;
      for await (const some of batchesOf(messages)) if ((n += some.length) === 100 && hidden) await share(false);
      return n;
    };
    expect(await read(false)).toBe(151);
    await expect(read(true)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is listed with its agent, newest first', async () => {
    const mine = await app.org();
    const made = [await app.chat(mine), await app.chat(mine), await app.chat(mine)];
    const agents = `/api/orgs/${mine.id}/agents`;
    const other = (await app.call('POST', agents, { as: mine.owner, body: { name: 'Other' } })).body.id;
    const ofOther = (await app.call('POST', `${agents}/${other}/chats`, { as: mine.owner, body: {} })).body.id;
    const list = async (agent: string, query = '') => {
      const { body } = await app.call('GET', `${agents}/${agent}/chats${query}`, { as: mine.owner });
      return [body.items.map((c: { id: string }) => c.id), body.total, body.next_offset];
    };
    expect(await list(mine.agentId)).toEqual([[...made].reverse(), 3, null]);
    expect(await list(mine.agentId, '?limit=2')).toEqual([[made[2], made[1]], 3, 2]);
    expect(await list(mine.agentId, '?limit=2&offset=7')).toEqual([[], 3, null]);
    expect(await list(other)).toEqual([[ofOther], 1, null]);
  });

  it('shows no dollars where the organization pays in credits, not in a stream either', async () => {
    await entitle(app, { enforces_credits: true });
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    await app.send(org, chat, 'what does it cost?');
    const frames = await stream.until((f) => f.event === 'status_changed' && f.data.data.to === 'ACTIVE');
    const [completed] = frames.filter((f) => f.event === 'message_completed');
    expect(completed.data.data.message.usage).toMatchObject({ cost_usd: null, input: expect.any(Number) });
    const { body } = await app.read(org, chat);
    expect(body).toMatchObject({ cost_usd: null, messages: [{}, { usage: { cost_usd: null } }] });
    stream.close();
    await entitle(app, { enforces_credits: false });
    const again = await app.stream(org, chat, { path: '?after=0' });
    const shown = await again.until((f) => f.event === 'message_completed');
    expect(shown.at(-1)?.data.data.message.usage.cost_usd).toEqual(expect.any(String));
    again.close();
  });

  it('parks turns over the cap and runs them as slots come free', async () => {
    await entitle(app, { max_concurrent_chats: 2 });
    const other = await app.org();
    const chats = await Promise.all(Array.from({ length: 8 }, () => app.chat(other)));
    await Promise.all(chats.map((c) => app.send(other, c, script({ text: 'done', delay_ms: 150 }))));
    await app.until(other, chats[0], () => true);
    let most = 0;
    for (const chat of chats) {
      const [{ n }] = await app.db.query(
        sql<{ n: number }>(`SELECT count(*)::int AS n FROM turns WHERE org_id = $1 AND status = 'running'`),
        [other.id],
      );
      most = Math.max(most, n);
      await app.settled(other, chat, 1);
    }
    expect(most).toBeLessThanOrEqual(2);
    await entitle(app, { max_concurrent_chats: 2_000 });
  });
});
