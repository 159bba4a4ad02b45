import type { Bearer } from '@aps/platform/testing';
import { entitle } from '@aps/billing/testing';
import { aMember } from '@aps/orgs/testing';
import { aPerson } from '@aps/identity/testing';
import { AgentsService } from '@aps/agents';
import { TimelineQueries } from '../reading/timeline.queries';
import { OrgScope } from '@aps/guards';
import { RunLeases } from '@aps/platform/runs';
import { sql, type Answer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';
import { addAgent, childrenOf, delegate, delegating } from '../testing/delegations';

interface Event {
  id: string;
  seq: number;
  type: string;
  created_at: string;
  actor: { kind: string; id: string | null; name: string | null };
  message: string | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of many shapes
  metadata: any;
  usage: Record<string, number> | null;
  cost: { cost_usd: string | null; credits: string } | null;
}

describe('timeline', () => {
  const app = chatsService();
  let org: TestOrg;
  let talk: string;

  const timeline = (chat: string, query = '', as: Bearer = org.owner): Promise<Answer> =>
    app.call('GET', `${org.path}/${chat}/timeline${query}`, { as });
  const items = async (chat: string, query = ''): Promise<Event[]> => (await timeline(chat, query)).body.items as Event[];
  const append = async (chat: string, type: string, data: Record<string, unknown>): Promise<void> => {
    await app.db.execute(
      sql(`WITH c AS (UPDATE chats SET event_seq = event_seq + 1 WHERE id = $1 RETURNING org_id, event_seq)
       INSERT INTO events (topic, seq, org_id, type, data) SELECT 'chat:' || $1::uuid, c.event_seq, c.org_id, $2, $3 FROM c`),
      [chat, type, JSON.stringify(data)],
    );
  };

  beforeAll(async () => {
    org = await app.org({ name: 'Planner' });
    talk = await app.chat(org);
    const plan = script(
      {
        text: 'Planning.',
        tool_calls: [
          { name: 'todo_write', arguments: { todos: [{ title: 'first', status: 'in_progress' }] } },
          { name: 'no_such_tool', arguments: {} },
        ],
      },
      { text: 'Planned.', usage: { input: 1000, cached_input: 200, cache_write: 30, output: 40, reasoning: 5 } },
    );
    await app.send(org, talk, plan);
    await app.settled(org, talk, 1);
  });
  afterEach(() => entitle(app, { enforces_credits: false }));

  it('tells what happened, newest first, each event once', async () => {
    const { status, body } = await timeline(talk);
    expect(status).toBe(200);
    const events = body.items as Event[];
    expect([...events].reverse().map((e) => [e.seq, e.type, e.actor.kind, e.message?.replace(/^run .*/, 'run …') ?? null])).toEqual([
      [1, 'user_message_received', 'user', 'run …'],
      [2, 'status_changed', 'system', 'ACTIVE → RUNNING'],
      [3, 'agent_step', 'agent', 'Asked mock'],
      [4, 'assistant_message', 'agent', 'Planning.'],
      [5, 'tool_call', 'agent', 'todo_write'],
      [6, 'tool_call', 'agent', 'no_such_tool'],
      [7, 'agent_step', 'agent', 'Called todo_write'],
      [8, 'tool_result', 'tool', 'todo_write'],
      [9, 'todo_updated', 'agent', null],
      [10, 'agent_step', 'agent', 'Called no_such_tool'],
      [11, 'tool_result', 'tool', 'no_such_tool'],
      [12, 'agent_step', 'agent', 'Asked mock'],
      [13, 'assistant_message', 'agent', 'Planned.'],
      [14, 'status_changed', 'system', 'RUNNING → ACTIVE'],
    ]);
    expect(body).toMatchObject({ total: 14, next_offset: null });
    expect(new Set(events.map((e) => e.id)).size).toBe(14);
    const stored = await app.db.query(
      sql<{ seq: number; type: string }>('SELECT seq, type FROM events WHERE topic = $1 ORDER BY seq DESC'),
      [`chat:${talk}`],
    );
    expect(events.filter((e) => /^\d+$/.test(e.id)).map((e) => e.id)).toEqual(stored.map((e) => String(e.seq)));
  });

  it('has the total of a long one, wherever its thousands end', async () => {
    const chat = await app.chat(org);
    const types = ['status_changed', 'tool_result', 'title_changed', 'message_completed', 'message_restarted', 'todo_updated'];
    let total = 0;
    for (const [from, to] of [
      [1, 999],
      [1000, 1000],
      [1001, 3456],
      [3457, 4000],
    ]) {
      await app.db.execute(
        sql(`INSERT INTO events (topic, seq, org_id, type, data)
          SELECT 'chat:' || $1::uuid, n, $2, ($5::text[])[1 + n % 6], '{"message_id": null, "message": {}}' FROM generate_series($3::int, $4::int) n`),
        [chat, org.id, from, to, types],
      );
      // Each sixth ends a step, twice; two in six are of the stream alone.
      for (let n = from; n <= to; n++) total += [1, 2, 0, 2, 0, 1][n % 6];
      expect([to, (await timeline(chat, '?limit=1')).body.total]).toEqual([to, total]);
    }
  });

  it('tells who wrote what, with its attachments', async () => {
    const file = { file_id: uuidv7(), filename: 'a.txt' };
    const chat = await app.chat(org);
    const sent = await app.send(org, chat, 'look at this');
    await app.settled(org, chat, 1);
    await app.db.execute(sql('UPDATE messages SET attachments = $2 WHERE id = $1'), [sent.body.message_id, JSON.stringify([file])]);
    const received = (await items(chat)).at(-1);
    expect(received).toMatchObject({
      type: 'user_message_received',
      actor: { kind: 'user', id: org.owner.id, name: org.owner.name },
      metadata: { message_id: sent.body.message_id, content: 'look at this', attachments: [file], turn_id: sent.body.turn_id },
      usage: null,
      cost: null,
    });
  });

  it('tells of each step what it took', async () => {
    const events = await items(talk);
    const steps = events.filter((e) => e.type === 'agent_step').reverse();
    expect(steps.map((s) => [s.metadata.kind, s.metadata.step_no, s.metadata.status, s.metadata.name ?? s.metadata.finish_reason])).toEqual(
      [
        ['llm', 1, 'done', 'tool_calls'],
        ['tool', 2, 'done', 'todo_write'],
        ['tool', 3, 'failed', 'no_such_tool'],
        ['llm', 4, 'done', 'stop'],
      ],
    );
    expect(steps[3]).toMatchObject({
      usage: { input: 1000, cached_input: 200, cache_write: 30, output: 40, reasoning: 5 },
      cost: { cost_usd: '0.00132', credits: '0' },
      actor: { id: org.agentId, name: 'Planner' },
    });
    expect(steps[1]).toMatchObject({ usage: null, cost: null });
    for (const { metadata } of steps) expect(metadata.duration_ms).toBeGreaterThanOrEqual(0);
    // Costs stand once: they can be added up.
    const { body } = await app.read(org, talk);
    expect(events.reduce((sum, e) => sum + Number(e.cost?.cost_usd ?? 0), 0)).toBeCloseTo(Number(body.cost_usd), 9);
  });

  it('tells the opening of a retry', async () => {
    const { body: copy } = await app.call('POST', `${org.path}/${talk}/retry`, { as: org.owner });
    await app.settled(org, copy.id as string, 1);
    const [original, first] = [(await items(talk)).at(-1), (await items(copy.id as string)).at(-1)];
    expect(first).toMatchObject({
      seq: 1,
      type: 'user_message_received',
      actor: { kind: 'user', id: org.owner.id },
      metadata: { content: original?.metadata.content as string },
    });
    expect((await items(copy.id as string)).filter((e) => e.type === 'user_message_received')).toHaveLength(1);
  });

  it('cuts pages out of the whole', async () => {
    const whole = await items(talk);
    const pages: Event[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const { body } = await timeline(talk, `?limit=3&offset=${offset}`);
      expect(body.total).toBe(14);
      pages.push(...(body.items as Event[]));
      offset = body.next_offset as number | null;
    }
    expect(pages).toEqual(whole);
    expect(await items(talk, '?offset=5')).toEqual(whole.slice(5));
    expect((await timeline(talk, '?limit=3&offset=14')).body).toEqual({ items: [], total: 14, next_offset: null });
    for (const [query, field] of [
      ['?limit=0', 'limit'],
      ['?limit=101', 'limit'],
      ['?offset=-1', 'offset'],
      ['?limit=x', 'limit'],
    ]) {
      expect(await timeline(talk, query)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', field] }] } });
    }
  });

  it('tells a long story whole, also while it goes on', async () => {
    const chat = await app.chat(org);
    // Every third one ends a step, which stands beside it: somewhere a batch ends between the two.
    await app.db.execute(
      sql(`INSERT INTO events (topic, seq, org_id, type, data)
       SELECT 'chat:' || $1::uuid, n, $2, CASE WHEN n % 3 = 0 THEN 'tool_result' ELSE 'todo_updated' END, '{"name": "search"}' FROM generate_series(1, 251) n`),
      [chat, org.id],
    );
    await app.db.execute(sql('UPDATE chats SET event_seq = 251 WHERE id = $1'), [chat]);
    const total = 251 + 83;
    const pages: Event[] = [];
    for (let offset = 0; offset < total; offset += 100) pages.push(...(await items(chat, `?limit=100&offset=${offset}`)));
    expect(pages.map((event) => event.seq)).toEqual(Array.from({ length: total }, (_, i) => total - i));
    expect((await timeline(chat)).body).toEqual({ items: pages, total, next_offset: null });
    expect((await timeline(chat, '?offset=101')).body).toEqual({ items: pages.slice(101), total, next_offset: null });

    const scope = OrgScope.system(org.id, 'spec');
    const list = await app.get(TimelineQueries).ofChat(scope, org.agentId, chat, {});
    await append(chat, 'tool_result', { name: 'search' });
    const places = list.items.map(({ seq, row }) => [seq, row.place]);
    for await (const entries of list.rest!) places.push(...entries.map(({ seq, row }) => [seq, row.place]));
    expect(places).toEqual(pages.map((event) => [event.seq, parseInt(event.id)]));

    const cut = await app.get(TimelineQueries).ofChat(scope, org.agentId, chat, {});
    await app.call('DELETE', `${org.path}/${chat}`, { as: org.owner });
    await expect(async () => {
      for await (const _ of cut.rest!);
    }).rejects.toThrow('Chat not found.');
  });

  it('passes on what it has never heard of, and leaves out what only a stream has to know', async () => {
    const chat = await app.chat(org);
    expect((await timeline(chat)).body).toEqual({ items: [], total: 0, next_offset: null });
    const member = await aMember(app, org, 'MEMBER');
    const stranger = await aPerson(app);
    await append(chat, 'decision_recorded', { decision_id: 'd', summary: 'Refunded.', cost_usd: '1.5', parts: [{ usd_cost: 2 }] });
    await append(chat, 'message_restarted', { message_id: 'm' });
    await append(chat, 'title_changed', { title: 'A name' });
    await append(chat, 'never_heard_of', { nested: { deep: [1, 'two', null] } });
    await append(chat, 'hitl_resolved', { status: 'answered', answered_by: member.id, message: '  Yes,\n do it. ' });
    await append(chat, 'hitl_resolved', { status: 'answered', answered_by: stranger.id });
    await append(chat, 'hitl_resolved', { status: 'expired', answered_by: null });
    await append(chat, 'message_created', { message: { id: uuidv7(), role: 'system', content: 'The child is done.' } });
    const events = (await items(chat)).reverse();
    expect(events.map((e) => [e.type, e.actor.kind, e.actor.name, e.message])).toEqual([
      ['decision_recorded', 'agent', 'Planner', 'Refunded.'],
      ['never_heard_of', 'agent', 'Planner', null],
      ['hitl_resolved', 'user', member.name, 'Yes, do it.'],
      ['hitl_resolved', 'user', null, null],
      ['hitl_resolved', 'system', null, null],
      ['message_created', 'system', null, 'The child is done.'],
    ]);
    expect(events[1].metadata).toEqual({ nested: { deep: [1, 'two', null] } });
    expect(events[0].metadata).toMatchObject({ cost_usd: '1.5', parts: [{ usd_cost: 2 }] });
  });

  it('shows no dollars where the organization pays in credits', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.settled(org, chat, 1);
    await append(chat, 'delegation_finished', {
      cost_usd: '1.5',
      child: { usd_cost: '1.25', total_cost_usd: 3 },
      calls: [{ cost_usd: '0.75' }],
    });
    expect((await timeline(chat)).text).toMatch(/"1\.5".*"0\.0000/);
    await entitle(app, { enforces_credits: true });
    const { body, text } = await timeline(chat);
    expect(body.items[0].metadata).toEqual({
      cost_usd: null,
      child: { usd_cost: null, total_cost_usd: null },
      calls: [{ cost_usd: null }],
    });
    expect((body.items as Event[]).find((e) => e.cost)).toMatchObject({ cost: { cost_usd: null, credits: '0' } });
    expect(text).not.toMatch(/"\d+\.\d+"/);
  });

  it('leaves alone what users and tools name like dollars, in the stream, too', async () => {
    await entitle(app, { enforces_credits: true });
    const chat = await app.chat(org);
    const said = [
      { tool_call: { tool_slug: 'con_shop.order', arguments: { cost_usd: '12', lines: [{ usd_cost: 6 }] } } },
      { schema: { type: 'object', properties: { total_cost_usd: { type: 'number' } } } },
      { answer: { values: { total_cost_usd: 12 } } },
    ];
    for (const data of said) await append(chat, 'hitl_requested', { ...data, cost_usd: '1' });
    const shown = said.map((data) => ({ ...data, cost_usd: null }));
    expect((await items(chat)).reverse().map((e) => e.metadata as unknown)).toEqual(shown);
    const stream = await app.stream(org, chat, { path: '?after=0' });
    const frames = await stream.until((f) => f.id === '3');
    expect(frames.filter((f) => f.event === 'hitl_requested').map((f) => f.data.data as unknown)).toEqual(shown);
    stream.close();
  });

  it('leaves dollars out of streams that are open when their organization begins to pay in credits', async () => {
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    const costs = async (shown: string | null): Promise<void> => {
      for (let cost: unknown; cost !== shown;) {
        await append(chat, 'hitl_requested', { cost_usd: '1' });
        const frames = await stream.until((f) => f.event === 'hitl_requested');
        cost = frames.at(-1)!.data.data.cost_usd;
      }
    };
    await costs('1');
    await entitle(app, { enforces_credits: true });
    await costs(null);
    stream.close();
  });

  it('names the agent that has delegated as who wrote the task', async () => {
    const boss = await addAgent(app, org, { name: 'Boss', child_agent_ids: [org.agentId] });
    const chat = await app.chat(boss);
    await app.send(boss, chat, delegating([delegate({ slug: org.agentId }, 'see to it')]));
    await app.settled(boss, chat, 1);
    const [child] = await childrenOf(app, chat);
    const actor = async (of: string) => (await items(of)).at(-1)?.actor;
    expect(await actor(child.id)).toEqual({ kind: 'agent', id: boss.agentId, name: 'Boss' });
    const { body: copy } = await app.call('POST', `${org.path}/${child.id}/retry`, { as: org.owner });
    await app.settled(org, copy.id as string, 1);
    await app.db.execute(sql('UPDATE messages SET author_id = NULL WHERE chat_id = $1'), [copy.id]);
    expect(await actor(copy.id as string)).toEqual({ kind: 'agent', id: null, name: null });
  });

  it('tells of a reply that was cut off, without a price', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, script({ text: 'one two three four', chunk_delay_ms: HELD }));
    const stream = await app.stream(org, chat, { lastEventId: '0' });
    await stream.until((f) => f.event === 'message_delta');
    await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: {} });
    await app.until(org, chat, (c) => c.messages.at(-1).interrupted);
    stream.close();
    const [said, step] = await items(chat);
    expect(said).toMatchObject({
      type: 'assistant_message',
      metadata: { interrupted: true, content: expect.stringContaining('one') as string },
    });
    expect(step).toMatchObject({
      type: 'agent_step',
      usage: null,
      cost: null,
      metadata: { kind: 'llm', status: 'interrupted', model: 'mock' },
    });
  });

  it('tells that a model call was begun anew by another worker, and of a stopped one, too', async () => {
    const restarts = async (chat: string) =>
      (await items(chat)).filter((e) => e.metadata.kind === 'llm').map((e) => [e.metadata.restarted, e.message, e.metadata.status]);
    const handedBack = async (message: string): Promise<string> => {
      const chat = await app.chat(org);
      const stream = await app.stream(org, chat);
      await app.send(org, chat, message);
      await stream.until((f) => f.event === 'message_delta');
      const leases = app.get(RunLeases) as unknown as { held: Map<string, object>; end(lease: object, reason: string): void };
      const [{ id }] = await app.db.query(sql<{ id: string }>('SELECT current_turn_id AS id FROM chats WHERE id = $1'), [chat]);
      leases.end(leases.held.get(id)!, 'shutdown');
      await stream.until((f) => f.event === 'message_restarted');
      await stream.until((f) => f.event === 'message_delta');
      stream.close();
      return chat;
    };
    const todo = { name: 'todo_write', arguments: { todos: [{ title: 'x', status: 'pending' }] } };
    const held = script({ text: 'one two three', chunk_delay_ms: HELD, tool_calls: [todo] }, { text: 'done' });
    const ended = await handedBack(held);
    app.letGo(held);
    await app.settled(org, ended, 1);
    expect(await restarts(ended)).toEqual([
      [false, 'Asked mock', 'done'],
      [true, 'Asked mock anew', 'done'],
    ]);
    const stopped = await handedBack(script({ text: 'one two three four five', chunk_delay_ms: HELD }));
    await app.call('POST', `${org.path}/${stopped}/stop`, { as: org.owner, body: {} });
    await app.until(org, stopped, (c) => c.messages.at(-1).interrupted);
    expect(await restarts(stopped)).toEqual([[true, 'Asked mock anew', 'interrupted']]);
  });

  it('is open to whoever may open the chat, by its own agent', async () => {
    expect((await timeline(talk, '', org.member)).status).toBe(404);
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [talk]);
    expect((await timeline(talk, '', org.member)).body.total).toBe(14);
    await app.db.execute(sql('UPDATE chats SET shared = false WHERE id = $1'), [talk]);
    const other = await app.get(AgentsService).create(OrgScope.member(org.id, org.owner.id, 'OWNER'), { name: 'Other' });
    expect(await app.call('GET', `/api/orgs/${org.id}/agents/${other.id}/chats/${talk}/timeline`, { as: org.owner })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect((await app.call('GET', `${org.path}/${talk.toUpperCase()}/timeline`, { as: org.owner })).body.total).toBe(14);
    const gone = await app.chat(org);
    await app.db.execute(sql('UPDATE chats SET deleted_at = now() WHERE id = $1'), [gone]);
    expect((await timeline(gone)).status).toBe(404);
  });
});
