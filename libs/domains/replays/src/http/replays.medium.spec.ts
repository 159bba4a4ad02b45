import { override, withCredits, withRateCard } from '@aps/billing/testing';
import { ChatsService, script, type TestOrg } from '@aps/chats/testing';
import { anApiToken } from '@aps/identity/testing';
import { ModelCalls } from '@aps/inference/testing';
import { eventually, sql, type Answer, type Bearer } from '@aps/platform/testing';
import { LeaseEnded, RunSweeper } from '@aps/platform/runs';
import { uuidv7 } from 'uuidv7';
import { ReplaysJobsModule } from '../jobs';
import { ReplayKind } from '../replay.kind';
import { ReplaysRepository } from '../replays.repository';
import { ROWS } from '../replays.sql';
import { ReplaysHttpModule } from '.';

const app = new ChatsService({}, [ReplaysHttpModule, ReplaysJobsModule], ['replays']);
beforeAll(async () => {
  await app.start();
  await app.addUnpricedModel('unpriced');
});
afterAll(() => app.close());
afterEach(() => jest.restoreAllMocks());

let org: TestOrg;
let path: string;
beforeEach(async () => {
  // With an instruction, or a draft would add a message to what the model server counts by.
  org = await app.org({ instruction: 'Refund.' });
  path = `${org.path.slice(0, -'/chats'.length)}`;
});

const decide = (kind: string, summary = 'Refund it') => ({
  ...{ name: 'record_decision', arguments: { kind, summary, basis: 'Rule 1' } },
});
const deciding = (kind: string, summary?: string) => ({ tool_calls: [decide(kind, summary)] });
const TODO = { name: 'todo_write', arguments: { todos: [{ title: 'call back', status: 'pending' }] } };
/** Says one thing when it happens, and another one when it is played again. */
const first = (then: object, again: object) => [then, again];
const steps = (...all: unknown[]) => script(...(all as Record<string, unknown>[]));

const post = (to: string, body: object = {}, as: Bearer = org.owner) => app.call('POST', `${path}/${to}`, { as, body });
const get = (from: string, as: Bearer = org.owner) => app.call('GET', `${path}/${from}`, { as });

/** A chat in which all this has been said. */
async function said(...messages: string[]): Promise<string> {
  const chat = await app.chat(org);
  for (const [i, message] of messages.entries()) {
    await app.send(org, chat, message);
    await app.settled(org, chat, i + 1);
  }
  return chat;
}
/** A chat whose message has chosen its model. */
async function saidTo(model: string): Promise<string> {
  const chat = await app.chat(org);
  await app.make('POST', `${org.path}/${chat}/messages`, { as: org.owner, body: { content: 'hello', model } });
  await app.settled(org, chat, 1);
  return chat;
}
async function reviewed(message: string, body: object): Promise<{ chat: string; decision: string }> {
  const chat = await said(message);
  const [{ id }] = await app.db.query(sql<{ id: string }>('SELECT id FROM decisions WHERE chat_id = $1'), [chat]);
  const answer = await app.call('POST', `/api/orgs/${org.id}/chats/${chat}/decisions/${id}/review`, { as: org.owner, body });
  expect(answer.status).toBe(200);
  return { chat, decision: id };
}
const draft = (content = 'Never refund.') => app.make('PUT', `${path}/instruction/draft`, { as: org.owner, body: { content } });
const over = (from: string) =>
  eventually(
    async () => (await get(from)).body,
    (body) => body.finished_at !== null,
  );
async function checked(body: object = {}): Promise<Answer['body']> {
  const started = await post('instruction/draft/check', body);
  expect([started.status, started.body]).toEqual([202, { check_id: expect.any(String) }]);
  return over(`instruction/draft/checks/${started.body.check_id}`);
}
async function simulated(body: object): Promise<Answer['body']> {
  const started = await post('simulations', body);
  expect([started.status, started.body]).toEqual([202, { simulation_id: expect.any(String) }]);
  return over(`simulations/${started.body.simulation_id}`);
}
const receipts = (feature: string) =>
  app.db.query(
    sql<{ agent_id: string; chat_id: string | null }>(
      'SELECT agent_id, chat_id FROM inference_receipts WHERE org_id = $1 AND feature = $2',
    ),
    [org.id, feature],
  );
/** What of an organization nothing may be added to by what is played again. */
const state = () =>
  app.db.query(
    sql(`SELECT (SELECT count(*) FROM chats WHERE org_id = $1)::int AS chats, (SELECT count(*) FROM messages WHERE org_id = $1)::int AS messages, (SELECT count(*) FROM decisions WHERE org_id = $1)::int AS decisions,
      (SELECT count(*) FROM todos WHERE org_id = $1)::int AS todos, (SELECT count(*) FROM hitl_requests WHERE org_id = $1)::int AS questions, (SELECT count(*) FROM events WHERE org_id = $1)::int AS events`),
    [org.id],
  );

describe('a check of an instruction draft', () => {
  it('plays disputed and agreed decisions again, and changes nothing', async () => {
    const dispute = { review_status: 'disputed', should_have: 'Leave it', should_have_kind: 'no_act' };
    const fixed = await reviewed(steps(first(deciding('act'), deciding('no_act', 'Leave it')), { text: 'done' }), dispute);
    const wrong = await reviewed(steps(deciding('act'), { text: 'done' }), dispute);
    const silent = await reviewed(steps(first(deciding('act'), { text: 'nothing' }), { text: 'done' }), dispute);
    const guarded = await reviewed(steps(deciding('act'), { text: 'done' }), { review_status: 'agreed' });
    const broken = await reviewed(steps(first(deciding('act'), deciding('escalate')), { text: 'done' }), { review_status: 'agreed' });
    await app.make('POST', `${path}/decisions/archive`, { as: org.owner, body: { decision_ids: [fixed.decision] } });
    await draft();
    const before = await state();

    const check = await checked();
    expect(check).toMatchObject({
      ...{ status: 'completed', error: null, created_by: org.owner.id },
      draft_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      totals: { cases: 5, fixed: 1, still_wrong: 2, guard_broken: 1, unjudged: 0, cost_credits: null, cost_usd: expect.any(String) },
    });
    const item = ({ decision, chat }: { decision: string; chat: string }, set: string, now: string | null, verdict: string) => ({
      ...{ decision_id: decision, chat_id: chat, set, verdict, error: null, was: { kind: 'act', basis: 'Rule 1' } },
      now: now && expect.objectContaining({ kind: now, basis: 'Rule 1' }),
      judged_by: now && 'kind',
    });
    expect(check.items).toEqual(
      [
        item(silent, 'regression', null, 'no_decision'),
        item(wrong, 'regression', 'act', 'differs'),
        item(fixed, 'regression', 'no_act', 'agrees'),
        item(broken, 'guard', 'escalate', 'differs'),
        item(guarded, 'guard', 'act', 'agrees'),
      ].map((one) => expect.objectContaining(one)),
    );
    expect(await state()).toEqual(before);
    expect(await receipts('draft_check')).toEqual(Array.from({ length: 5 }, () => ({ agent_id: org.agentId, chat_id: null })));
    expect(Number(check.totals.cost_usd)).toBeGreaterThan(0);
  });

  it('has a model judge where a dispute says no kind', async () => {
    const judgedAs = (verdict: string) => ({ review_status: 'disputed', should_have: `Leave it.\nverdict: ${verdict}` });
    for (const verdict of ['agrees', 'differs', 'unclear']) await reviewed(steps(deciding('act'), { text: 'done' }), judgedAs(verdict));
    await draft();
    const { items, totals } = await checked({ guard_sample: 0 });
    expect(items.map((i: { verdict: string; judged_by: string }) => [i.verdict, i.judged_by])).toEqual([
      ['unjudged', 'model'],
      ['differs', 'model'],
      ['agrees', 'model'],
    ]);
    expect(totals).toMatchObject({ cases: 3, fixed: 1, still_wrong: 1, unjudged: 1 });
    expect(await receipts('draft_check')).toHaveLength(6);
    await override(app, org.id, { direct_model_choice: false });
    expect(await post('instruction/draft/check', { judge_model: 'mock' })).toMatchObject({
      status: 403,
      body: { code: 'entitlement_required' },
    });
    await override(app, org.id, { direct_model_choice: true });
    expect((await post('instruction/draft/check', { judge_model: 'nobody' })).body.detail).toEqual([
      expect.objectContaining({ loc: ['body', 'judge_model'], type: 'semantic.model_unknown' }),
    ]);
  });

  it('leaves what was said before as it was, and answers calls from the journal', async () => {
    const chat = await said(steps({ text: 'as it was' }), steps({ tool_calls: [TODO] }, deciding('act'), { text: 'done' }));
    const [{ id }] = await app.db.query(sql<{ id: string }>('SELECT id FROM decisions WHERE chat_id = $1'), [chat]);
    const review = { review_status: 'disputed', should_have: 'Leave it', should_have_kind: 'no_act' };
    await app.call('POST', `/api/orgs/${org.id}/chats/${chat}/decisions/${id}/review`, { as: org.owner, body: review });
    await draft();
    const asked = jest.spyOn(app.get(ModelCalls), 'streamChat');
    const noted = jest.spyOn(app.get(ReplaysRepository), 'note');
    await checked({ decision_ids: [id] });
    const last = asked.mock.calls.at(-1)![1].messages;
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'tool']);
    expect(JSON.stringify(last)).toContain('as it was');
    expect(JSON.stringify(last.at(-1))).toContain('call back');
    // What is stored between calls is what the model said last, and nothing of what tools did.
    expect(noted.mock.calls.map(([, , answer]) => answer!.tool_calls?.map(({ name }) => name))).toEqual([
      ['todo_write'],
      ['record_decision'],
    ]);
    expect(Object.keys(noted.mock.calls[1][2]!)).toEqual(['content', 'tool_calls', 'provider_state']);
  });

  it('compares a decision with that in its own place, though those before it are deleted by now', async () => {
    const chat = await said(steps(deciding('act', 'One'), first(deciding('act', 'Two'), deciding('no_act', 'Two')), { text: 'done' }));
    const decisions = await app.db.query(sql<{ id: string }>('SELECT id FROM decisions WHERE chat_id = $1 ORDER BY id'), [chat]);
    const [before, { id }] = decisions;
    const review = { review_status: 'disputed', should_have: 'Leave it', should_have_kind: 'no_act' };
    await app.make('POST', `/api/orgs/${org.id}/chats/${chat}/decisions/${id}/review`, { as: org.owner, body: review });
    await app.db.execute(sql('DELETE FROM decisions WHERE id = $1'), [before.id]);
    await draft();
    expect(await checked()).toMatchObject({
      totals: { cases: 1, fixed: 1 },
      items: [{ decision_id: id, now: { kind: 'no_act', summary: 'Two' }, verdict: 'agrees' }],
    });
  });

  it('begins with the summary that its turn has read, and reads no more than that did', async () => {
    const { chat, decision } = await reviewed(steps(deciding('act'), { text: 'done' }), { review_status: 'agreed' });
    const before = steps({ text: 'long ago' });
    const later = await said(before, steps(deciding('act'), { text: 'done' }), 'later');
    const turns = await app.db.query(sql<{ id: string; seq: number }>('SELECT id, seq FROM turns WHERE chat_id = $1 ORDER BY seq'), [
      later,
    ]);
    for (const [turn, summary] of [
      [1, 'so far'],
      [2, 'since then'],
    ] as const)
      await app.db.execute(
        sql(`INSERT INTO chat_compactions (id, org_id, chat_id, turn_id, through_turn_no, through_seq, summary, tokens_before, tokens_after)
          SELECT gen_random_uuid(), org_id, chat_id, $2, turn_no, max(seq), $3, 2, 1 FROM messages WHERE chat_id = $1 AND turn_no = $4 GROUP BY 1, 2, 3, turn_no`),
        [later, turns[turn].id, summary, turns[turn - 1].seq],
      );
    const [{ id }] = await app.db.query(sql<{ id: string }>('SELECT id FROM decisions WHERE chat_id = $1'), [later]);
    const body = { review_status: 'agreed' };
    await app.make('POST', `/api/orgs/${org.id}/chats/${later}/decisions/${id}/review`, { as: org.owner, body });
    await draft();
    const asked = jest.spyOn(app.get(ModelCalls), 'streamChat');
    expect((await checked()).totals).toMatchObject({ cases: 2, guard_broken: 0 });
    const [[, first], [, second]] = asked.mock.calls;
    expect([first.messages.length, second.messages.length]).toEqual([2, 1]);
    expect(JSON.stringify(first.messages)).toContain('so far');
    expect(JSON.stringify(first.messages)).not.toContain('long ago');

    const bytes = 500_000;
    await app.db.execute(
      sql(`INSERT INTO messages (id, org_id, chat_id, seq, role, content, turn_id, turn_no, created_at)
        SELECT gen_random_uuid(), org_id, chat_id, 1000 + n, 'assistant', repeat('x', ${bytes}), turn_id, turn_no, created_at FROM messages m, generate_series(1, 30) n WHERE chat_id = $1 AND seq = 1`),
      [chat],
    );
    const [{ turn_id }] = await app.db.query(sql<{ turn_id: string }>('SELECT turn_id FROM decisions WHERE id = $1'), [decision]);
    for (const turn of [null, turn_id]) {
      const rows = await app.db.query(ROWS, [chat, turn]);
      expect(rows[0].left_out).toBeGreaterThan(10);
      expect(rows.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThan(8_000_000 + bytes);
    }
  });

  it('refuses what there is nothing of', async () => {
    expect((await post('instruction/draft/check')).status).toBe(404);
    await draft();
    expect(await post('instruction/draft/check')).toMatchObject({ status: 422, body: { code: 'nothing_to_check' } });
    expect((await post('instruction/draft/check', { decision_ids: [uuidv7()] })).status).toBe(404);
    // One that is seen, and not disputed.
    const { decision, chat } = await reviewed(steps(deciding('act'), { text: 'done' }), { review_status: 'agreed' });
    const named = { decision_ids: [decision], guard_sample: 0 };
    expect((await post('instruction/draft/check', named)).body.code).toBe('nothing_to_check');
    // The chat is the owner's alone.
    expect((await post('instruction/draft/check', named, org.member)).status).toBe(404);
    expect((await post('instruction/draft/check', {}, org.member)).body.code).toBe('nothing_to_check');
    expect(chat).toBeDefined();
  });

  it('ends when who began it or an administrator cancels it, and pays for what it was answered', async () => {
    const { chat } = await reviewed(steps(deciding('act'), { text: 'done' }), { review_status: 'agreed' });
    await app.make('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { shared: true } });
    await draft();
    const cancel = (id: string, as?: Bearer) => post(`instruction/draft/checks/${id}/cancel`, {}, as);
    const repository = app.get(ReplaysRepository);
    const note = repository.note.bind(repository);
    let began: (id: string) => void;
    const begun = new Promise<string>((resolve) => (began = resolve));
    const answers = new Promise<Answer[]>((resolve) => {
      jest.spyOn(repository, 'note').mockImplementationOnce(async (...args) => {
        const id = await begun;
        resolve([await cancel(id, org.member), await cancel(id)]);
        return note(...args);
      });
    });
    const { check_id } = (await post('instruction/draft/check')).body;
    began!(check_id);
    expect(await answers).toMatchObject([
      { status: 403, body: { code: 'insufficient_role' } },
      { status: 200, body: { check_id, cancelled: true, status: 'cancelled' } },
    ]);
    await eventually(
      () => receipts('draft_check'),
      (rows) => rows.length === 1,
    );
    expect((await get(`instruction/draft/checks/${check_id}`)).body).toMatchObject({
      status: 'cancelled',
      items: [{ now: null, verdict: null }],
    });
    expect((await cancel(check_id)).body).toEqual({ check_id, cancelled: false, status: 'cancelled' });
    expect((await cancel(uuidv7())).status).toBe(404);
    const theirs = (await post('instruction/draft/check', {}, org.member)).body.check_id;
    expect((await cancel(theirs, org.member)).status).toBe(200);
  });

  it('is not begun where twenty of the organization are not over', async () => {
    const { chat } = await reviewed(steps(deciding('act'), { text: 'done' }), { review_status: 'agreed' });
    await draft();
    const { id } = await checked();
    const unfinished = `jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'status', 'queued', 'finished_at', null))`;
    await app.db.execute(sql(`INSERT INTO replays SELECT (${unfinished}).* FROM replays r, generate_series(1, 20) WHERE r.id = $1`), [id]);
    const full = { status: 429, body: { code: 'queue_full', context: { limit: 20, current: 20 } } };
    expect(await post('instruction/draft/check')).toMatchObject(full);
    expect(await post('simulations', { use_draft: true, chat_ids: [chat] })).toMatchObject(full);
    expect((await post('instruction/draft/check', { quote: true })).status).toBe(200);
    expect(await app.db.query(sql('SELECT count(*)::int AS n FROM replays WHERE org_id = $1'), [org.id])).toEqual([{ n: 21 }]);
    await app.db.execute(sql(`UPDATE replays SET status = 'cancelled', finished_at = now() WHERE org_id = $1`), [org.id]);
    expect((await post('instruction/draft/check')).status).toBe(202);
  });

  it('hides the decisions of chats that its reader may not open', async () => {
    await reviewed(steps(deciding('act'), { text: 'done' }), { review_status: 'agreed' });
    await draft();
    const { id, items } = await checked();
    expect(items).toHaveLength(1);
    expect((await get(`instruction/draft/checks/${id}`, org.member)).body).toMatchObject({
      items: [],
      totals: { cases: 0, cost_usd: '0' },
    });
  });

  it('takes the newest of what its reader sees, their own and what is shared', async () => {
    const review = { review_status: 'agreed' };
    const shared: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { chat, decision } = await reviewed(steps(deciding('act'), { text: 'done' }), review);
      if (i !== 1) await app.make('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { shared: true } });
      shared.unshift(decision);
    }
    await draft();
    const ids = ({ items }: Answer['body']) => items.map((i: { decision_id: string }) => i.decision_id);
    expect(ids(await checked({ guard_sample: 2 }))).toEqual(shared.slice(0, 2));
    const { body } = await post('instruction/draft/check', { guard_sample: 2 }, org.member);
    expect(ids(await over(`instruction/draft/checks/${body.check_id}`))).toEqual([shared[0], shared[2]]);
  });
});

describe('a simulation', () => {
  it('plays what users said again, and compares', async () => {
    const same = await said(steps({ tool_calls: [TODO] }, { text: 'noted' }), 'and then?');
    const other = await said(
      steps(first(deciding('act'), { ...deciding('no_act'), text: 'no' }), first({ text: 'done' }, { text: 'left' })),
    );
    const before = await state();
    const simulation = await simulated({ use_draft: true, chat_ids: [same, other] });
    expect(simulation).toMatchObject({ status: 'completed', revision_id: null, error: null, billing_unit: 'usd' });
    const of = (chat: string) => simulation.items.find((i: { chat_id: string }) => i.chat_id === chat);
    expect(of(same)).toMatchObject({ differences: [], tool_call_misses: 0, error: null });
    expect(of(same).after).toEqual({ ...of(same).before, cost: expect.any(String), tokens: expect.any(Number) });
    expect(of(same).after).toMatchObject({ tools: ['todo_write'], decisions: [], final_text: 'You said: and then?' });
    expect(of(other)).toMatchObject({
      before: { tools: ['record_decision'], decisions: [{ kind: 'act' }], final_text: 'done' },
      after: { tools: ['record_decision'], decisions: [{ kind: 'no_act' }], final_text: 'left' },
      ...{ differences: ['decisions', 'final_text'], tool_call_misses: 1 },
    });
    const { totals } = simulation;
    expect(totals).toMatchObject({ chats: 2, same_tools: 2, same_decisions: 1, tool_call_misses: 1 });
    expect([Number(totals.cost_before), Number(totals.cost_after), totals.tokens_before, totals.tokens_after].every((n) => n > 0)).toBe(
      true,
    );
    expect(await state()).toEqual(before);
    expect(await receipts('simulation')).toHaveLength(5);

    const { body } = await get('simulations');
    expect(body).toMatchObject({ total: 1, items: [{ id: simulation.id, totals }] });
    expect(body.items[0].items).toBeUndefined();
    const hidden = await get(`simulations/${simulation.id}`, org.member);
    expect(hidden.body).toMatchObject({ items: [], totals: { chats: 0, tokens_after: 0 } });
    expect((await post('simulations', { use_draft: true, chat_ids: [same] }, org.member)).status).toBe(403);

    await override(app, org.id, { enforces_credits: true });
    const { body: bare } = await get(`simulations/${simulation.id}`);
    expect([bare.estimate.usd, bare.totals.cost_after, bare.items[0].after.cost]).toEqual([null, null, null]);
    expect(bare.totals.tokens_after).toBe(totals.tokens_after);
  });

  it('goes on where a provider refuses a chat', async () => {
    const refused = await said(steps(first({ text: 'fine' }, { error: { status: 400 } })));
    const other = await said('hello');
    const { status, items, totals } = await simulated({ use_draft: true, chat_ids: [refused, other] });
    expect(status).toBe('completed');
    expect(items).toEqual([
      expect.objectContaining({
        chat_id: refused,
        before: null,
        after: null,
        error: expect.objectContaining({ code: 'provider_rejected' }),
      }),
      expect.objectContaining({ chat_id: other, differences: [], error: null }),
    ]);
    expect(totals).toMatchObject({
      chats: 2,
      same_tools: 1,
      same_decisions: 1,
      cost_before: expect.any(String),
      cost_after: expect.any(String),
    });
  });

  it('compares what was played alone, and tells all that was spent', async () => {
    const half = await said('hello', steps(first({ text: 'fine' }, { error: { status: 400 } })));
    const noted = await said('hello', steps({ tool_calls: [TODO] }, { text: 'noted' }));
    // As if the second answer of it had been to a note of the system.
    await app.db.execute(
      sql(
        `UPDATE messages SET role = 'system' WHERE chat_id = $1 AND role = 'user' AND turn_no > (SELECT min(turn_no) FROM messages WHERE chat_id = $1)`,
      ),
      [noted],
    );
    const { id, items, totals, spent } = await simulated({ use_draft: true, chat_ids: [half, noted] });
    const [failed, played] = items;
    expect([failed.after, failed.error.code]).toEqual([null, 'provider_rejected']);
    expect(played).toMatchObject({ differences: [], error: null, before: { tools: [], final_text: 'You said: hello' } });
    const { before, after } = played;
    expect(before.tokens).toBe(after.tokens);
    expect(totals).toEqual({
      ...{ chats: 2, same_tools: 1, same_decisions: 1, tool_call_misses: 0 },
      ...{ cost_before: before.cost, cost_after: after.cost, tokens_before: before.tokens, tokens_after: after.tokens },
    });
    expect(Number(spent)).toBeGreaterThan(Number(after.cost));

    // What was said is not read for that.
    await app.db.execute(sql(`UPDATE replay_items SET result = '{}' WHERE replay_id = $1`), [id]);
    expect((await get('simulations')).body.items).toEqual([expect.objectContaining({ id, totals, spent })]);
  });

  it('is answered in pieces where its chats are many, and say much', async () => {
    const chat = await said('hello');
    const { id, items } = await simulated({ use_draft: true, chat_ids: [chat] });
    expect((await get(`simulations/${id}`)).headers.get('content-length')).not.toBeNull();
    await app.db.execute(
      sql(`INSERT INTO replay_items (replay_id, place, org_id, chat_id, result, differences, misses, cost_before, tokens_before, cost, tokens)
        SELECT replay_id, n, org_id, chat_id, result, differences, n, cost_before, tokens_before, cost, tokens FROM replay_items, generate_series(1, 9) n WHERE replay_id = $1`),
      [id],
    );
    for (const text of ['hello', 'x'.repeat(150_000)]) {
      await app.db.execute(sql(`UPDATE replay_items SET result = jsonb_set(result, '{after,final_text}', to_jsonb($2::text)) WHERE replay_id = $1`), [id, text]); // prettier-ignore
      const { headers, body } = await get(`simulations/${id}`);
      expect(headers.has('content-length')).toBe(text === 'hello');
      expect(body).toMatchObject({ id, totals: { chats: 10, tool_call_misses: 45 } });
      const after = { ...items[0].after, final_text: text };
      expect(body.items).toEqual(Array.from({ length: 10 }, (_, n) => ({ ...items[0], after, tool_call_misses: n })));
    }
  });

  it('goes on where the model that a message chose cannot be called', async () => {
    await override(app, org.id, { direct_model_choice: true });
    const chosen = await saidTo('unpriced');
    const other = await said('hello');
    await withRateCard(app);
    await override(app, org.id, { direct_model_choice: true, enforces_credits: true });
    await withCredits(app, org.id, { granted: '1000' });
    const { status, items } = await simulated({ use_draft: true, chat_ids: [chosen, other] });
    expect([status, items.map(({ error }: { error: { code: string } | null }) => error?.code)]).toEqual([
      'completed',
      ['model_unpriced', undefined],
    ]);
  });

  it('says what it would take, and does nothing', async () => {
    await said(steps({ tool_calls: [TODO] }, { text: 'noted' }));
    const quote = await post('simulations', { version: 1, quote: true });
    expect([quote.status, quote.body]).toEqual([200, { estimate: { model_calls: 2, credits: null, usd: expect.stringMatching(/^0\.0/) } }]);
    expect((await get('simulations')).body.total).toBe(0);
    expect(await receipts('simulation')).toEqual([]);
  });

  it('refuses what it cannot play', async () => {
    const chat = await said('hello');
    const refusal = async (body: object) => (await post('simulations', body)).body.code;
    expect(await refusal({ use_draft: true, version: 1 })).toBe('validation_error');
    expect(await refusal({})).toBe('validation_error');
    expect(await refusal({ use_draft: true, chat_ids: [chat], sample: 1 })).toBe('validation_error');
    expect(await refusal({ version: 9 })).toBe('unknown_revision');
    expect(await refusal({ use_draft: true, chat_ids: [chat, uuidv7()] })).toBe('not_found');
    expect(await refusal({ use_draft: true, chat_ids: [await app.chat(org)] })).toBe('nothing_to_check');
    const [foreign, theirs] = [await app.org(), await app.chat(org, { title: 'x' }, org.member)];
    expect(await refusal({ use_draft: true, chat_ids: [await app.chat(foreign)] })).toBe('not_found');
    expect(await refusal({ use_draft: true, chat_ids: [theirs] })).toBe('not_found');
  });

  it('ends at its budget, in credits where these are paid', async () => {
    await withRateCard(app);
    await override(app, org.id, { enforces_credits: true });
    await withCredits(app, org.id, { granted: '1000' });
    const chat = await said('hello', 'again', 'and again');
    const simulation = await simulated({ use_draft: true, chat_ids: [chat], budget: '0.000001' });
    expect(simulation).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' }, billing_unit: 'credits', budget: '0.000001' });
    expect(await receipts('simulation')).toHaveLength(1);
    expect(simulation.items).toEqual([expect.objectContaining({ chat_id: chat, after: null })]);
    app.blocker = { code: 'credits_exhausted', credits_remaining: '0' };
    expect(await post('simulations', { use_draft: true, chat_ids: [chat] })).toMatchObject({
      status: 402,
      body: { code: 'credits_exhausted' },
    });
    app.blocker = null;
  });

  it('is held to no budget by a model without a price', async () => {
    await override(app, org.id, { direct_model_choice: true });
    const chat = await said('hello');
    await app.make('PATCH', path, { as: org.owner, body: { model: 'unpriced' } });
    const body = { use_draft: true, chat_ids: [chat], quote: true };
    expect((await post('simulations', body)).status).toBe(200);
    expect(await post('simulations', { ...body, budget: '1' })).toMatchObject({ status: 422, body: { code: 'model_not_priced' } });
    await app.make('PATCH', path, { as: org.owner, body: { model: null } });
    const chosen = await saidTo('unpriced');
    const { status, items } = await simulated({ use_draft: true, chat_ids: [chat, chosen], budget: '1' });
    expect([status, items.map(({ error }: { error: { code: string } | null }) => error?.code)]).toEqual([
      'completed',
      [undefined, 'model_not_priced'],
    ]);
  });

  it('shows what chats say to no API token that may not read these', async () => {
    const chat = await said('hello');
    const { id } = await simulated({ use_draft: true, chat_ids: [chat] });
    const as = (scope: string) => anApiToken(app, org.owner, { scope });
    const refused = { status: 403, body: { code: 'insufficient_scope', context: { required: 'chats:read' } } };
    const rollouts = await as('rollouts:write');
    expect((await get('simulations', rollouts)).status).toBe(200);
    expect(await get(`simulations/${id}`, rollouts)).toMatchObject(refused);
    expect(await post('simulations', { use_draft: true, quote: true }, rollouts)).toMatchObject(refused);
    expect((await get(`simulations/${id}`, await as('rollouts:read chats:read'))).status).toBe(200);
    const agents = await as('agents:write');
    expect((await post('instruction/draft/check', {}, agents)).body.context).toEqual({ required: 'decisions:read' });
    expect((await get(`instruction/draft/checks/${id}`, agents)).body.context).toEqual({ required: 'decisions:read' });
  });

  it('goes on where it was when its worker dies, and charges nothing twice', async () => {
    const chat = await said('one', 'two', 'three');
    const repository = app.get(ReplaysRepository);
    const note = repository.note.bind(repository);
    let deaths = 0;
    const died = new Promise<void>((resolve) => {
      jest.spyOn(repository, 'note').mockImplementation(async (...args) => {
        if (deaths++ !== 1) return note(...args);
        await note(...args);
        resolve();
        throw new LeaseEnded('lost');
      });
    });
    const { simulation_id } = (await post('simulations', { use_draft: true, chat_ids: [chat] })).body;
    await died;
    await app.db.execute(sql(`UPDATE replays SET lease_expires_at = now() - interval '2 seconds' WHERE id = $1`), [simulation_id]);
    await app.get(RunSweeper).sweep(app.get(ReplayKind));
    const simulation = await over(`simulations/${simulation_id}`);
    expect(simulation).toMatchObject({
      status: 'completed',
      totals: { chats: 1 },
      items: [{ differences: [], after: { final_text: 'You said: three' } }],
    });
    expect(await receipts('simulation')).toHaveLength(3);
  });

  it('ends when it is cancelled, and pays for what it was answered', async () => {
    const chat = await said('one', 'two', 'three');
    const repository = app.get(ReplaysRepository);
    const note = repository.note.bind(repository);
    let id = '';
    const cancelled = new Promise<Answer>((resolve) => {
      jest.spyOn(repository, 'note').mockImplementationOnce(async (...args) => {
        resolve(
          await eventually(
            () => post(`simulations/${id || 'x'}/cancel`),
            ({ status }) => status === 200,
          ),
        );
        return note(...args);
      });
    });
    id = (await post('simulations', { use_draft: true, chat_ids: [chat] })).body.simulation_id;
    expect((await cancelled).body).toEqual({ simulation_id: id, cancelled: true, status: 'cancelled' });
    await eventually(
      () => receipts('simulation'),
      (rows) => rows.length === 1,
    );
    expect((await get(`simulations/${id}`)).body).toMatchObject({ status: 'cancelled', items: [{ after: null }] });
    expect((await post(`simulations/${id}/cancel`)).body).toEqual({ simulation_id: id, cancelled: false, status: 'cancelled' });
    expect((await post(`simulations/${uuidv7()}/cancel`)).status).toBe(404);
  });

  it('plays no chat again that whoever began it has lost, and is forgotten after 30 days', async () => {
    const [kept, lost] = [await said('one'), await said('two')];
    const repository = app.get(ReplaysRepository);
    const next = repository.next.bind(repository);
    jest.spyOn(repository, 'next').mockImplementationOnce(async (id) => {
      await app.call('DELETE', `${org.path}/${lost}`, { as: org.owner });
      return next(id);
    });
    const { id, items, status } = await simulated({ use_draft: true, sample: 2, within_hours: 1 });
    expect([status, items.map((i: { chat_id: string }) => i.chat_id)]).toEqual(['completed', [kept]]);
    expect(await receipts('simulation')).toHaveLength(1);

    // And goes on with none.
    const long = await said('one', 'two', 'three');
    const note = repository.note.bind(repository);
    jest.spyOn(repository, 'note').mockImplementationOnce(async (...args) => {
      await note(...args);
      await app.call('DELETE', `${org.path}/${long}`, { as: org.owner });
    });
    const { id: left } = await simulated({ use_draft: true, chat_ids: [long] });
    const errors = await app.db.query(
      sql<{ code: string; tokens: string }>(`SELECT result->'error'->>'code' AS code, tokens FROM replay_items WHERE replay_id = $1`),
      [left],
    );
    expect(errors).toEqual([{ code: 'not_found', tokens: expect.not.stringMatching(/^0$/) }]);
    expect(await receipts('simulation')).toHaveLength(2);

    await repository.purge(30, 100);
    expect((await get(`simulations/${id}`)).status).toBe(200);
    await app.db.execute(sql(`UPDATE replays SET created_at = now() - interval '31 days' WHERE org_id = $1`), [org.id]);
    await repository.purge(30, 100);
    expect((await get(`simulations/${id}`)).status).toBe(404);
    expect((await get('simulations')).body.total).toBe(0);
  });
});
