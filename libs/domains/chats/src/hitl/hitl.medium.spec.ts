import { entitle } from '@aps/billing/testing';
import { aMember } from '@aps/orgs/testing';
import { aPerson } from '@aps/identity/testing';
import type { Bearer } from '@aps/platform/testing';
import { sql, type Answer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { chatsService, script, type TestOrg } from '../testing/chats';
import { HitlService } from './hitl.service';

const ask = (question: Record<string, unknown>) => ({ name: 'ask_human', arguments: question });
const toolResults = (chat: Answer['body']) =>
  chat.messages.filter((m: { role: string }) => m.role === 'tool').map((m: { content: string }) => m.content);
const FORM = {
  type: 'object',
  properties: { name: { type: 'string', maxLength: 10 }, seats: { type: 'integer', minimum: 1 } },
  required: ['name', 'seats'],
  additionalProperties: false,
};

describe('questions to humans', () => {
  const app = chatsService();
  let org: TestOrg;
  let path: string;

  beforeAll(async () => {
    org = await app.org();
    path = `/api/orgs/${org.id}/hitl-requests`;
  });

  const list = async (query: string, as: Bearer = org.owner) => (await app.call('GET', `${path}?${query}`, { as })).body;
  const answer = (id: string, body: unknown, options: { as?: Bearer; headers?: Record<string, string> } = {}) =>
    app.call('POST', `${path}/${id}/answer`, { as: org.owner, body, ...options });
  const rows = <R = Record<string, unknown>>(text: string, ...values: unknown[]) => app.db.query(sql<R>(text), values);
  /** A chat whose agent has asked these questions in one step. Requests come in the order in which they were asked. */
  const asked = async (
    questions: Record<string, unknown>[],
    options: { as?: Bearer; shared?: boolean; then?: Record<string, unknown>[] } = {},
  ) => {
    const chat = await app.chat(org, { title: 'Test' }, options.as);
    if (options.shared) await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    await app.call('POST', `${org.path}/${chat}/messages`, {
      as: options.as ?? org.owner,
      body: { content: script({ tool_calls: questions.map(ask) }, ...(options.then ?? []), { text: 'thanks' }) },
    });
    const body = await app.until(org, chat, (c) => c.status === 'PAUSED', options.as);
    const { items } = await list(`chat_id=${chat}`, options.as);
    return { chat, body, requests: (items as Answer['body'][]).reverse(), id: (items as Answer['body'][]).at(-1)?.id as string };
  };
  const events = (chat: string) =>
    rows<{ type: string; data: Record<string, unknown> }>(
      `SELECT type, data FROM events WHERE topic = 'chat:' || $1 AND type LIKE 'hitl%' ORDER BY seq`,
      chat,
    );

  it('are answered once under a key, also where nobody heard of the first time', async () => {
    const { chat, id } = await asked([{ kind: 'question', prompt: 'Which?' }]);
    const hitl = app.get(HitlService);
    const answering = hitl.answer.bind(hitl);
    jest.spyOn(hitl, 'answer').mockImplementationOnce(async (...args) => {
      await answering(...args);
      throw new Error('connection lost');
    });
    const again = (text = 'this') => answer(id, { answer: text }, { headers: { 'Idempotency-Key': `answer-${id}` } });
    expect((await again()).status).toBe(500);
    expect(await again()).toMatchObject({ status: 200, body: { id, status: 'answered', resumed: true } });
    expect((await again('that')).status).toBe(422);
    expect(await answer(id, { answer: 'this' })).toMatchObject({ status: 409, body: { code: 'already_resolved' } });
    expect((await app.until(org, chat, (c) => c.status === 'ACTIVE')).messages.at(-1)).toMatchObject({ content: 'thanks' });
  });

  it('say again of an answer that changed nothing that it did not', async () => {
    const { chat, id } = await asked([{ kind: 'question', prompt: 'Which?' }]);
    await app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { archived: true } });
    const hitl = app.get(HitlService);
    const answering = hitl.answer.bind(hitl);
    jest.spyOn(hitl, 'answer').mockImplementationOnce(async (...args) => {
      await answering(...args);
      throw new Error('connection lost');
    });
    const again = () => answer(id, { answer: 'this' }, { headers: { 'Idempotency-Key': `answer-${id}` } });
    expect((await again()).status).toBe(500);
    expect(await again()).toMatchObject({ status: 200, body: { id, status: 'answered', resumed: false } });
  });

  it('pause the chat, and the answer is the result of the call', async () => {
    const { chat, body, requests, id } = await asked([
      { kind: 'question', prompt: 'Which one?', options: ['Train', { id: '1', label: 'Bus' }, { label: 'Car' }] },
    ]);
    expect(body).toMatchObject({ status: 'PAUSED', pause: { kind: 'human', request_id: id }, pending_hitl_count: 1 });
    const request = {
      id,
      chat_id: chat,
      run_id: null,
      agent_id: org.agentId,
      kind: 'question',
      prompt: 'Which one?',
      schema: null,
      tool_call: null,
      status: 'pending',
      assignee_user_id: null,
      answered_by: null,
      answered_at: null,
      answer: null,
    };
    expect(requests).toMatchObject([
      {
        ...request,
        step_id: '2',
        options: [
          { id: '2', label: 'Train' },
          { id: '1', label: 'Bus' },
          { id: '3', label: 'Car' },
        ],
      },
    ]);
    const days = (Date.parse(requests[0].expires_at) - Date.parse(requests[0].created_at)) / 86_400_000;
    expect(days).toBe(30);
    expect((await app.call('GET', org.path, { as: org.owner })).body.items.find((c: { id: string }) => c.id === chat)).toMatchObject({
      pending_hitl_count: 1,
    });
    // Nothing waits in the queue meanwhile, and no slot is held.
    expect(
      await rows(
        `SELECT status, lease_owner, (SELECT count(*)::int FROM outbox WHERE id = t.id) AS jobs FROM turns t WHERE chat_id = $1`,
        chat,
      ),
    ).toEqual([{ status: 'waiting', lease_owner: null, jobs: 0 }]);

    const answered = await answer(id, { option_id: '1', note: 'please' });
    expect(answered).toMatchObject({
      status: 200,
      body: {
        ...request,
        options: expect.anything(),
        status: 'answered',
        answered_by: org.owner.id,
        answered_at: expect.any(String),
        answer: { option_id: '1', note: 'please' },
        resumed: true,
      },
    });
    const after = await app.settled(org, chat, 1);
    expect(after).toMatchObject({ status: 'ACTIVE', pause: null, pending_hitl_count: 0 });
    expect(toolResults(after).map((c: string) => JSON.parse(c))).toEqual([
      { status: 'answered', option: { id: '1', label: 'Bus' }, note: 'please' },
    ]);
    const { resumed: _, ...stored } = answered.body;
    expect((await app.call('GET', `${path}/${id}`, { as: org.owner })).body).toEqual(stored);
    expect((await events(chat)).map(({ type, data }) => [type, data.request_id, data.status])).toEqual([
      ['hitl_requested', id, undefined],
      ['hitl_resolved', id, 'answered'],
    ]);
    expect(await rows(`SELECT id FROM outbox`)).toEqual([]);
  });

  it('can be forms, whose values are checked', async () => {
    const { chat, id } = await asked([{ kind: 'form', prompt: 'Book', schema: FORM }]);
    const refused = await answer(id, { values: { name: 'much too long a name', seats: 0, more: 1 }, answer: 'no' });
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation_error' } });
    expect(refused.body.detail.map((p: { loc: unknown[]; type: string }) => [p.loc.join('.'), p.type])).toEqual([
      ['body.answer', 'value_error'],
      ['body.values.name', 'string_too_long'],
      ['body.values.seats', 'greater_than_equal'],
      ['body.values.more', 'extra_forbidden'],
    ]);
    expect(await answer(id, { values: { name: 'Ada', seats: 2 } })).toMatchObject({ status: 200, body: { resumed: true } });
    expect(toolResults(await app.settled(org, chat, 1)).map((c: string) => JSON.parse(c))).toEqual([
      { status: 'answered', values: { name: 'Ada', seats: 2 } },
    ]);
  });

  it('can be approvals, which are on record', async () => {
    const { chat, id } = await asked([{ kind: 'approval', prompt: 'Really?' }]);
    expect((await answer(id, { answer: 'yes' })).status).toBe(422);
    expect((await answer(id, { decision: 'maybe' })).body.detail).toMatchObject([{ loc: ['body', 'decision'], type: 'enum' }]);
    await answer(id, { decision: 'reject', note: 'no' });
    expect(toolResults(await app.settled(org, chat, 1)).map((c: string) => JSON.parse(c))).toEqual([
      { status: 'answered', decision: 'reject', note: 'no' },
    ]);
    expect(await rows('SELECT action, actor_id, org_id, metadata FROM audit_log WHERE target_id = $1', id)).toEqual([
      {
        action: 'approval.answered',
        actor_id: org.owner.id,
        org_id: org.id,
        metadata: { decision: 'reject', chat_id: chat, tool_slug: null },
      },
    ]);
  });

  it('that are asked together are answered apart, in any order', async () => {
    const { chat, body, requests } = await asked([
      { kind: 'question', prompt: 'One?' },
      { kind: 'approval', prompt: 'Two?' },
      { kind: 'question', prompt: 'Three?' },
    ]);
    const [one, two, three] = requests.map((r: { id: string }) => r.id);
    expect(body).toMatchObject({ pause: { request_id: one }, pending_hitl_count: 3 });
    expect((await answer(one, { answer: '1' })).body).toMatchObject({ resumed: false });
    expect((await app.read(org, chat)).body).toMatchObject({
      status: 'PAUSED',
      pause: { kind: 'human', request_id: two },
      pending_hitl_count: 2,
    });
    expect((await answer(three, { answer: '3' })).body).toMatchObject({ resumed: false });
    expect((await answer(two, { decision: 'approve' })).body).toMatchObject({ resumed: true });
    const after = await app.settled(org, chat, 1);
    const result = new Map(
      after.messages
        .filter((m: { role: string }) => m.role === 'tool')
        .map((m: { tool_call_id: string; content: string }) => [m.tool_call_id, JSON.parse(m.content)]),
    );
    const calls = after.messages[1].tool_calls.map((c: { id: string }) => c.id);
    expect(calls.map((c: string) => result.get(c))).toEqual([
      { status: 'answered', answer: '1' },
      { status: 'answered', decision: 'approve' },
      { status: 'answered', answer: '3' },
    ]);
  });

  it('never get another chat’s answers, when many are answered at once', async () => {
    const chats = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        asked([
          { kind: 'question', prompt: `a${i}` },
          { kind: 'question', prompt: `b${i}` },
        ]),
      ),
    );
    const answers = await Promise.all(
      chats.flatMap(({ requests }) => requests.map((r: Answer['body']) => answer(r.id, { answer: `to ${r.prompt}` }))),
    );
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
    // Of two that are answered at once, exactly one finds the other answered.
    for (let i = 0; i < answers.length; i += 2)
      expect([answers[i].body.resumed, answers[i + 1].body.resumed].sort()).toEqual([false, true]);
    for (const [i, { chat }] of chats.entries()) {
      const after = await app.settled(org, chat, 1);
      expect(toolResults(after).map((c: string) => JSON.parse(c).answer)).toEqual([`to a${i}`, `to b${i}`]);
    }
  });

  it('are answered by exactly one of many', async () => {
    const { chat, id } = await asked([{ kind: 'question', prompt: 'Who?' }]);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => answer(id, { answer: `number ${i}` })));
    const [won] = answers.filter((a) => a.status === 200);
    const lost = answers.filter((a) => a !== won);
    expect(lost.map((a) => [a.status, a.body.code, a.body.context.status])).toEqual(lost.map(() => [409, 'already_resolved', 'answered']));
    expect(lost).toHaveLength(7);
    expect(toolResults(await app.settled(org, chat, 1)).map((c: string) => JSON.parse(c).answer)).toEqual([won.body.answer.answer]);
    // What is over says so before it looks at the answer.
    expect(await answer(id, {})).toMatchObject({ status: 409 });
  });

  it('of a private chat exist for its creator alone', async () => {
    const { chat, id } = await asked([{ kind: 'question', prompt: 'Secret?' }], { as: org.member });
    const before = await list('limit=1');
    for (const as of [org.owner, await aMember(app, org, 'ADMIN')]) {
      expect((await app.call('GET', `${path}/${id}`, { as })).status).toBe(404);
      expect((await answer(id, { answer: 'x' }, { as })).status).toBe(404);
      expect(await list(`chat_id=${chat}`, as)).toEqual({ items: [], total: 0, next_offset: null });
    }
    expect((await list(`chat_id=${chat}`, org.member)).total).toBe(1);
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    expect((await list('limit=1')).total).toBe(before.total + 1);
    expect((await answer(id, { answer: 'x' })).status).toBe(200);
  });

  it('are listed by state, chat, agent and run, page by page', async () => {
    const { chat, requests } = await asked([
      { kind: 'question', prompt: '1' },
      { kind: 'question', prompt: '2' },
      { kind: 'question', prompt: '3' },
    ]);
    await answer(requests[0].id, { answer: 'x' });
    const prompts = (page: Answer['body']) => page.items.map((r: { prompt: string }) => r.prompt);
    expect(prompts(await list(`chat_id=${chat}&status=pending`))).toEqual(['3', '2']);
    expect(prompts(await list(`chat_id=${chat}&status=answered&agent_id=${org.agentId}`))).toEqual(['1']);
    expect((await list(`chat_id=${chat}&agent_id=${uuidv7()}`)).total).toBe(0);
    expect((await list(`run_id=${uuidv7()}`)).total).toBe(0);
    const page = await list(`chat_id=${chat}&limit=2`);
    expect([prompts(page), page.total, page.next_offset]).toEqual([['3', '2'], 3, 2]);
    const last = await list(`chat_id=${chat}&limit=2&offset=2`);
    expect([prompts(last), last.total, last.next_offset]).toEqual([['1'], 3, null]);
    for (const query of ['status=open', 'chat_id=1', 'run_id=x', 'agent_id=x', 'limit=0', 'offset=-1'])
      expect((await app.call('GET', `${path}?${query}`, { as: org.owner })).status).toBe(422);
    expect((await app.call('GET', `${path}/nothing`, { as: org.owner })).status).toBe(422);
    expect((await app.call('GET', `${path}/${uuidv7()}`, { as: org.owner })).status).toBe(404);
  });

  it('are listed a few at a time, in a page too, where they are large', async () => {
    const { chat, requests } = await asked(['1', '2', '3', '4', '5', '6'].map((prompt) => ({ kind: 'question', prompt })));
    const listed = async () => {
      const { body, headers } = await app.call('GET', `${path}?chat_id=${chat}&limit=5`, { as: org.owner });
      expect(body).toMatchObject({ items: requests.slice(1).map(({ id }) => ({ id })).reverse(), total: 6, next_offset: 5 }); // prettier-ignore
      return headers.has('content-length');
    };
    expect(await listed()).toBe(true);
    await app.db.execute(sql(`UPDATE hitl_requests SET notice = repeat('x', 300000) WHERE chat_id = $1`), [chat]);
    expect(await listed()).toBe(false);
  });

  describe('with an assignee', () => {
    afterEach(() => entitle(app, { hitl_routing: true }));

    it('are for that user and for admins', async () => {
      const user = await aMember(app, org, 'MEMBER');
      const { chat, requests } = await asked(
        [
          { kind: 'question', prompt: 'You?', assignee: user.email.toUpperCase() },
          { kind: 'question', prompt: 'You again?', assignee: user.id },
        ],
        { shared: true },
      );
      const [one, two] = requests;
      expect([one.assignee_user_id, two.assignee_user_id]).toEqual([user.id, user.id]);
      expect(await answer(one.id, { answer: 'x' }, { as: org.member })).toMatchObject({
        status: 403,
        body: { code: 'insufficient_role', context: { required: ['ADMIN', 'OWNER'] } },
      });
      expect((await answer(one.id, { answer: 'mine' }, { as: user })).status).toBe(200);
      expect((await answer(two.id, { answer: 'as admin' })).status).toBe(200);
      await app.settled(org, chat, 1);
    });

    it.each([
      ['has left', 'DELETE FROM memberships WHERE user_id = $1'],
      ['is deactivated', 'UPDATE users SET deactivated_at = now() WHERE id = $1'],
    ])('can be answered where the chat cannot be opened, and by its creator when the assignee %s', async (_, goes) => {
      const user = await aMember(app, org, 'MEMBER');
      const { chat, requests } = await asked(
        [
          { kind: 'question', prompt: 'a', assignee: user.id },
          { kind: 'question', prompt: 'b', assignee: user.id },
        ],
        { as: org.member },
      );
      expect((await app.read(org, chat, user)).status).toBe(404);
      expect((await list(`chat_id=${chat}`, user)).total).toBe(2);
      expect((await answer(requests[0].id, { answer: 'x' }, { as: user })).status).toBe(200);
      expect((await answer(requests[1].id, { answer: 'x' }, { as: org.owner })).status).toBe(404);
      expect((await answer(requests[1].id, { answer: 'x' }, { as: org.member })).status).toBe(403);
      await app.db.execute(sql(goes), [user.id]);
      expect((await answer(requests[1].id, { answer: 'x' }, { as: org.member })).status).toBe(200);
    });

    it('are everybody’s where the plan has no routing, and the agent is told', async () => {
      await entitle(app, { hitl_routing: false });
      const { chat, requests } = await asked([{ kind: 'question', prompt: 'Anybody?', assignee: org.owner.id }], { shared: true });
      expect(requests[0].assignee_user_id).toBeNull();
      expect((await answer(requests[0].id, { answer: 'me' }, { as: org.member })).status).toBe(200);
      expect(toolResults(await app.settled(org, chat, 1)).map((c: string) => JSON.parse(c))).toEqual([
        { status: 'answered', answer: 'me', notice: expect.stringContaining('hitl_routing') },
      ]);
    });

    it('are not asked when there is no such member', async () => {
      const [stranger, asleep] = [await aPerson(app), await aMember(app, org, 'MEMBER')];
      await app.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [asleep.id]);
      const chat = await app.chat(org);
      await app.send(
        org,
        chat,
        script(
          {
            tool_calls: [
              ask({ kind: 'question', prompt: 'You?', assignee: stranger.id }),
              ask({ kind: 'question', prompt: 'You?', assignee: 'nobody@example.com' }),
              ask({ kind: 'question', prompt: 'You?', assignee: asleep.email }),
            ],
          },
          { text: 'oh' },
        ),
      );
      expect(toolResults(await app.settled(org, chat, 1))).toEqual(Array(3).fill(expect.stringMatching(/^assignee: nobody/)));
      expect((await list(`chat_id=${chat}`)).total).toBe(0);
    });
  });

  it('that make no sense are not asked', async () => {
    const chat = await app.chat(org);
    const bad = [
      { kind: 'form', prompt: 'x' },
      { kind: 'form', prompt: 'x', schema: { type: 'object', properties: { a: { pattern: '(a+)+$' } } } },
      { kind: 'question', prompt: 'x', schema: FORM },
      { kind: 'approval', prompt: 'x', options: ['a'] },
      {
        kind: 'question',
        prompt: 'x',
        options: [
          { id: 'a', label: 'A' },
          { id: 'a', label: 'B' },
        ],
      },
      { kind: 'question', prompt: 'x', options: Array.from({ length: 21 }, (_, i) => `${i}`) },
      { kind: 'question', prompt: 'x', options: [{ id: 'a b', label: 'A' }] },
      { kind: 'question', prompt: '   ' },
      { kind: 'question', prompt: 'x'.repeat(10_001) },
      { kind: 'riddle', prompt: 'x' },
    ];
    await app.send(org, chat, script({ tool_calls: bad.map(ask) }, { text: 'sorry' }));
    const said = toolResults(await app.settled(org, chat, 1));
    expect(said).toHaveLength(bad.length);
    for (const [i, content] of said.entries()) expect([i, content]).toEqual([i, expect.stringMatching(/Nothing was asked|are not valid/)]);
    expect((await list(`chat_id=${chat}`)).total).toBe(0);
  });

  it('take hostile text without a fault', async () => {
    const { chat, requests, id } = await asked([{ kind: 'question', prompt: 'a\0b\ud800c', options: [{ label: 'x\udfff' }] }]);
    expect(requests[0]).toMatchObject({ prompt: expect.stringMatching(/^ab?.c$/), options: [{ label: 'x\ufffd' }] });
    for (const body of [
      { answer: 'a\0' },
      { answer: '' },
      { answer: 'x'.repeat(20_001) },
      { answer: 1 },
      { values: [] },
      { note: 'x'.repeat(5_001), answer: 'x' },
      { option_id: 'x'.repeat(65) },
      { edited_arguments: 'x' },
      {},
      [],
    ]) {
      expect([body, (await answer(id, body)).status]).toEqual([body, 422]);
    }
    expect((await answer(id, { answer: 'x'.repeat(20_000) })).status).toBe(200);
    await app.settled(org, chat, 1);
  });
});
