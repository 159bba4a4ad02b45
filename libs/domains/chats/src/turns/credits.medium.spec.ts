import { anAgent } from '@aps/agents/testing';
import { OrgPlans, PlanEntitlements } from '@aps/billing';
import { addCredits, entitle, override, withCredits, withRateCard, type TestCredits } from '@aps/billing/testing';
import { CallHold, CreditLedgerRow, InferenceReceipt, Message, Subscription, Turn } from '@aps/entities';
import { Holds, InferenceError, InferenceSettings } from '@aps/inference';
import { ModelCalls } from '@aps/inference/testing';
import { OrgsModule } from '@aps/orgs';
import { PromptsService } from '@aps/prompts';
import { FilesHttpModule } from '@aps/files/http';
import { PromptsHttpModule } from '@aps/prompts/http';
import { fileForm, sql } from '@aps/platform/testing';
import { LeaseEnded, RunLeases } from '@aps/platform/runs';
import { eventually } from '@aps/testing';
import { chatsService, script, type TestOrg } from '../testing/chats';

/** The model costs 100 credits for a million tokens of input and 200 of output; what a call holds is a little more than 0.9. */
const app = chatsService({}, [OrgsModule.forRoot(OrgPlans), FilesHttpModule, PromptsHttpModule]);
let org: TestOrg;
beforeAll(async () => {
  await app.addUnpricedModel('unpriced');
  await withRateCard(app);
});
beforeEach(async () => {
  await entitle(app, { enforces_credits: true });
  org = await app.org();
});
afterEach(async () => {
  await entitle(app, { enforces_credits: false });
  jest.restoreAllMocks();
});

const has = (credits: TestCredits) => withCredits(app, org.id, credits);
const act = (chat: string, what: string, method = 'POST') => app.call(method, `${org.path}/${chat}${what}`, { as: org.owner });
const receipts = () => app.db.manager.find(InferenceReceipt, { where: { org_id: org.id }, order: { id: 'ASC' } });
const burned = async () =>
  (await app.db.manager.find(CreditLedgerRow, { where: { org_id: org.id, kind: 'burn' }, order: { seq: 'ASC' } })).map(({ key, delta }) => [
    key,
    Number(delta),
  ]);
/** Holds of calls that no receipt has ended. */
const open = async () => {
  const ended = new Set((await receipts()).map(({ id }) => id));
  const held = await app.db.manager.findBy(CallHold, { org_id: org.id });
  return held.filter(({ work, receipt_id }) => !work.startsWith('calls:') && !ended.has(receipt_id));
};
const archived = (chat: string) => app.until(org, chat, (c) => c.status === 'ARCHIVED');
const asked = () => jest.spyOn(app.get(ModelCalls), 'streamChat');
/** An answer that costs 1.1. */
const DEAR = { usage: { input: 9_000, output: 1_000 } };
const quote = (chat: string, body: Record<string, unknown> = { content: 'hello' }) =>
  app.call('POST', `${org.path}/${chat}/messages?quote=true`, { as: org.owner, body });

describe('a chat of an organization that pays in credits', () => {
  it('ends before a call that its credits are not enough for, and goes on when some are bought', async () => {
    await has({ granted: '1.5' });
    const chat = await app.chat(org);
    await app.send(org, chat, script({ text: 'one', ...DEAR }));
    await app.settled(org, chat, 1);
    const [receipt] = await receipts();
    expect(receipt).toMatchObject({ credits: '1.100000', usd_cost: '0.011000', enforced: true, rate_card_version: 1, rule_index: null });
    expect([await burned(), await open()]).toEqual([[[`burn:${receipt.id}`, -1.1]], []]);

    const calls = asked();
    await app.send(org, chat, script({ text: 'two' }));
    expect(await archived(chat)).toMatchObject({
      stop_reason: 'credits_exhausted',
      error: null,
      cost_usd: null,
      cost_credits: '1.1',
      messages: [{}, { content: 'one' }, { role: 'user' }],
    });
    expect(calls).not.toHaveBeenCalled();
    const told = await app.db.query(
      sql<{ data: object }>(`SELECT data FROM events WHERE topic = 'chat:' || $1::text AND type = 'blocker'`),
      [chat],
    );
    expect(told).toMatchObject([{ data: { stop_reason: 'credits_exhausted', message: 'This organization is out of credits.' } }]);

    // Something is left, and not enough.
    expect(await act(chat, '/continue')).toMatchObject({
      status: 402,
      body: { code: 'credits_exhausted', context: { credits_remaining: '0.4' } },
    });
    expect((await app.read(org, chat)).body.status).toBe('ARCHIVED');
    const stuck = await act(chat, '/diagnosis', 'GET');
    expect(stuck.body).toMatchObject({ blocked_by: { kind: 'credits' }, next_action: 'add_credits' });
    expect(stuck.body.allowed_actions).not.toContain('continue');

    await addCredits(app, org.id, '5', 'purchased');
    expect((await act(chat, '/diagnosis', 'GET')).body).toMatchObject({ next_action: 'continue' });
    expect((await act(chat, '/continue')).status).toBe(200);
    expect((await app.settled(org, chat, 2)).messages.at(-1).content).toBe('two');
    expect(await open()).toEqual([]);
  });

  it('keeps the steps that it has paid for, however dear the last of them was', async () => {
    await has({ granted: '1' });
    const chat = await app.chat(org);
    const note = { name: 'todo_write', arguments: { todos: [{ title: 'done', status: 'completed' }] } };
    await app.send(org, chat, script({ tool_calls: [note], ...DEAR }, { text: 'never said' }));
    const { messages, stop_reason } = await archived(chat);
    expect(stop_reason).toBe('credits_exhausted');
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect((await burned()).map(([, delta]) => delta)).toEqual([-1.1]);
    expect(await act(chat, '/diagnosis', 'GET')).toMatchObject({ body: { blocked_by: { kind: 'credits' } } });
  });

  const stop = (chat: string) => act(chat, '/stop');
  /** As the heartbeat of its worker finds. */
  const suspend = async (chat: string) => {
    const leases = app.get(RunLeases) as unknown as { held: Map<string, object>; end(lease: object, reason: string): void };
    leases.end(leases.held.get((await app.db.manager.findOneByOrFail(Turn, { chat_id: chat })).id)!, 'org_suspended');
  };

  it.each([
    ['was answered before the chat was stopped', stop, [{ text: 'all of it', ...DEAR }], ['user', 'assistant']],
    ['was answered before its organization was suspended', suspend, [{ text: 'all of it', ...DEAR }], ['user', 'assistant']],
    ['says nothing, and is asked for again in a chat that is stopped', stop, [{ text: '', ...DEAR }, { text: 'never said' }], ['user']],
  ])('burns what a call came to that %s', async (_, end, steps, roles) => {
    await has({ granted: '5' });
    const chat = await app.chat(org);
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    asked().mockImplementationOnce(async (...args) => {
      const result = await real(...args);
      await end(chat);
      // Its worker is told by a broadcast, which may come later than the answer to whoever stopped it.
      await eventually(async () => args[2]?.signal?.aborted, Boolean);
      return result;
    });
    await app.send(org, chat, script(...steps));
    const [receipt, ...others] = await eventually(receipts, (all) => all.length > 0);
    expect([others, await burned(), await open()]).toEqual([[], [[`burn:${receipt.id}`, -1.1]], []]);
    const { messages, cost_credits } = await app.until(org, chat, (c) => c.messages.length === roles.length);
    expect([messages.map(({ role }: { role: string }) => role), cost_credits]).toEqual([roles, '1.1']);
  });

  it('burns nothing for a call whose worker died, and holds nothing for it once another has gone on', async () => {
    // Enough for one call: what the dead worker has held for its own keeps the next from nothing.
    await has({ granted: '1.5' });
    const chat = await app.chat(org);
    // A dead worker ends nothing.
    const { repository } = app.get(Holds) as unknown as { repository: { release: () => Promise<void> } };
    jest.spyOn(repository, 'release').mockResolvedValueOnce();
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    const died = new Promise<void>((resolve) => {
      asked().mockImplementationOnce(async (...args) => {
        await real(...args);
        resolve();
        throw new LeaseEnded('lost');
      });
    });
    await app.send(org, chat, script({ text: 'said by the second', ...DEAR }));
    await died;
    expect([await burned(), (await open()).length]).toEqual([[], 1]);
    await app.expireLease(chat);
    await app.settled(org, chat, 1);
    const [receipt, ...others] = await receipts();
    expect([others, await burned(), await open()]).toEqual([[], [[`burn:${receipt.id}`, -1.1]], []]);
  });

  it('charges its name and its summaries, too, and lets none be made that it has no credits for', async () => {
    await app.db.execute(sql(`UPDATE model_catalog SET context_window = 4000 WHERE key = 'mock'`));
    app.get(InferenceSettings).drop(null);
    await has({ granted: '100' });
    const chat = await app.chat(org, {});
    for (let i = 1; i <= 4; i++) {
      await app.send(org, chat, `${i}: ${'word '.repeat(480)}`);
      await app.settled(org, chat, i);
    }
    const { cost_credits } = await app.until(org, chat, (c) => c.title !== null);
    const all = await receipts();
    expect(new Set(all.map(({ feature }) => feature))).toEqual(new Set(['turn', 'title', 'compaction']));
    expect((await burned()).map(([key]) => key).sort()).toEqual(all.map(({ id }) => `burn:${id}`).sort());
    expect(all.reduce((sum, { credits }) => sum + Number(credits), 0)).toBeCloseTo(Number(cost_credits), 9);
    expect(await open()).toEqual([]);

    await addCredits(app, org.id, '-100');
    const calls = asked();
    await app.send(org, chat, `5: ${'word '.repeat(2_000)}`);
    expect((await archived(chat)).stop_reason).toBe('credits_exhausted');
    expect(calls).not.toHaveBeenCalled();
    await app.db.execute(sql(`UPDATE model_catalog SET context_window = 128000 WHERE key = 'mock'`));
    app.get(InferenceSettings).drop(null);
  });

  it('charges the calls of a summary that could not be finished', async () => {
    await app.db.execute(sql(`UPDATE model_catalog SET context_window = 4000 WHERE key = 'mock'`));
    app.get(InferenceSettings).drop(null);
    await has({ granted: '100' });
    const chat = await app.chat(org);
    const real = app.get(ModelCalls).streamChat.bind(app.get(ModelCalls));
    let summaries = 0;
    asked().mockImplementation((model, call, options) =>
      call.feature === 'compaction' && ++summaries === 2
        ? Promise.reject(new InferenceError('provider_rejected', 'The second piece is refused'))
        : real(model, call, options),
    );
    for (let i = 1; summaries < 2; i++) {
      await app.send(org, chat, `${i}: ${'word '.repeat(480)}`);
      await app.settled(org, chat, i);
    }
    const summarized = (await receipts()).filter(({ feature }) => feature === 'compaction');
    expect(summarized).toHaveLength(1);
    expect((await burned()).map(([key]) => key)).toContain(`burn:${summarized[0].id}`);
    const total = (await receipts()).reduce((sum, { credits }) => sum + Number(credits), 0);
    expect(Number((await app.read(org, chat)).body.cost_credits)).toBeCloseTo(total, 9);
    expect(await open()).toEqual([]);
    await app.db.execute(sql(`UPDATE model_catalog SET context_window = 128000 WHERE key = 'mock'`));
    app.get(InferenceSettings).drop(null);
  });

  it('charges the call for a name that came too late, and leaves the name that it was given meanwhile', async () => {
    await has({ granted: '100' });
    const chat = await app.chat(org, {});
    const real = app.get(ModelCalls).streamChat.bind(app.get(ModelCalls));
    asked().mockImplementation(async (model, call, options) => {
      const result = await real(model, call, options);
      if (call.feature === 'title') await app.make('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { title: 'Mine' } });
      return result;
    });
    await app.send(org, chat, 'hello');
    await app.settled(org, chat, 1);
    const made = await eventually(receipts, (all) => all.length === 2);
    expect(made.map(({ feature }) => feature).sort()).toEqual(['title', 'turn']);
    expect((await burned()).map(([key]) => key).sort()).toEqual(made.map(({ id }) => `burn:${id}`).sort());
    const { body } = await app.read(org, chat);
    expect([body.title, Number(body.cost_credits)]).toEqual(['Mine', made.reduce((sum, { credits }) => sum + Number(credits), 0)]);
    expect(await open()).toEqual([]);
  });

  it('charges the prompts that its agent runs, and those that are tested', async () => {
    await app.get(PromptsService).create(org.scope, { name: 'Greet', text: 'Greet.', model: 'mock' });
    org.agentId = (await anAgent(app, { ...org, path: `/api/orgs/${org.id}` }, { allowed_tools: ['prompt:greet'] })).id;
    org.path = `/api/orgs/${org.id}/agents/${org.agentId}/chats`;
    await has({ granted: '100' });
    const chat = await app.chat(org);
    await app.send(
      org,
      chat,
      script({ tool_calls: [{ name: 'run_prompt_template', arguments: { template: 'greet' } }] }, { text: 'done' }),
    );
    const { cost_credits } = await app.settled(org, chat, 1);
    const headers = { Authorization: `Bearer ${org.owner.token}`, 'Content-Type': 'application/json' };
    const test = () => fetch(`${app.url}/api/orgs/${org.id}/prompt-templates/greet/test`, { method: 'POST', headers, body: '{}' });
    expect(await (await test()).text()).toContain('event: done');
    const all = await receipts();
    expect(all.map(({ feature, chat_id }) => [feature, chat_id !== null])).toEqual([
      ['turn', true],
      ['prompt_default', true],
      ['turn', true],
      ['prompt_default', false],
    ]);
    expect((await burned()).map(([key]) => key).sort()).toEqual(all.map(({ id }) => `burn:${id}`).sort());
    expect(all.slice(0, 3).reduce((sum, { credits }) => sum + Number(credits), 0)).toBeCloseTo(Number(cost_credits), 9);

    await addCredits(app, org.id, '-99.9');
    // Something is left: the test begins, and its call is not made.
    const calls = asked();
    expect(await (await test()).text()).toContain('"code":"credits_exhausted"');
    await addCredits(app, org.id, '-1');
    const refused = await test();
    expect([refused.status, await refused.json()]).toMatchObject([402, { code: 'credits_exhausted' }]);
    await addCredits(app, org.id, '100');
    await app.db.manager.update(Subscription, { org_id: org.id }, { status: 'canceled' });
    for (const entitlements of app.all(PlanEntitlements)) entitlements.drop(org.id);
    expect((await test()).status).toBe(402);
    expect(calls).not.toHaveBeenCalled();
  });

  it('is let through without a price once somebody says so, and costs nothing then', async () => {
    await has({ granted: '1' });
    org.agentId = (await anAgent(app, { ...org, path: `/api/orgs/${org.id}` }, { model: 'unpriced' })).id;
    org.path = `/api/orgs/${org.id}/agents/${org.agentId}/chats`;
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    expect((await archived(chat)).stop_reason).toBe('model_unpriced');
    expect((await act(chat, '/continue')).status).toBe(200);
    await app.settled(org, chat, 1);
    expect([await receipts(), await burned()]).toMatchObject([[{ credits: '0.000000', unpriced: true, usd_cost: null }], []]);
  });

  it('lets many turns at once overspend by no more than those that were let through', async () => {
    await has({ granted: '10' });
    const chats = await Promise.all(Array.from({ length: 40 }, () => app.chat(org)));
    await Promise.all(chats.map((chat) => app.send(org, chat, script({ text: 'one', ...DEAR }))));
    const ended = await Promise.all(chats.map((chat) => app.until(org, chat, (c) => c.status === 'ARCHIVED' || c.messages.length === 2)));
    const made = await receipts();
    // Each holds a little more than 0.9 and costs 1.1: no fewer than nine are made, and none that found less.
    expect(made.length).toBeGreaterThanOrEqual(9);
    expect(made.length).toBeLessThanOrEqual(12);
    expect(ended.filter(({ stop_reason }) => stop_reason === 'credits_exhausted')).toHaveLength(40 - made.length);
    expect((await burned()).length).toBe(made.length);
    expect(
      await act(
        chats.find((_, i) => ended[i].status === 'ARCHIVED')!,
        '/continue',
      ),
    ).toMatchObject({ status: 402 });
  });
});

describe('a chat of an agent with a budget', () => {
  it.each([
    ['credits are paid', true],
    ['none are', false],
  ])('fails before a call once the budget is used up, and goes on when it is raised, where %s', async (_, enforces_credits) => {
    await entitle(app, { enforces_credits });
    await has({ granted: '100' });
    const agents = `/api/orgs/${org.id}/agents`;
    org.agentId = (await anAgent(app, { ...org, path: `/api/orgs/${org.id}` }, { budget_credits_per_period: '1' })).id;
    org.path = `${agents}/${org.agentId}/chats`;
    const chat = await app.chat(org);
    await app.send(org, chat, script({ text: 'one', ...DEAR }));
    await app.settled(org, chat, 1);
    const calls = asked();
    await app.send(org, chat, script({ text: 'two' }));
    expect(await app.until(org, chat, (c) => c.status === 'ERRORED')).toMatchObject({
      error: { code: 'budget_exceeded', message: 'The budget of this agent is used up.' },
    });
    expect(calls).not.toHaveBeenCalled();
    expect(await act(chat, '/continue')).toMatchObject({
      status: 402,
      body: { code: 'budget_exceeded', context: { budget_credits_per_period: '1', spent_credits: '1.1' } },
    });
    expect((await quote(chat)).body).toMatchObject({ allowed: false, blocker: 'budget_exceeded' });
    const stuck = await act(chat, '/diagnosis', 'GET');
    expect(stuck.body).toMatchObject({ blocked_by: { kind: 'budget' }, next_action: 'raise_budget' });
    expect(stuck.body.allowed_actions).not.toContain('continue');
    await app.make('PATCH', `${agents}/${org.agentId}?deploy=true`, { as: org.owner, body: { budget_credits_per_period: '5' } });
    expect((await act(chat, '/continue')).status).toBe(200);
    await app.settled(org, chat, 2);
    expect(await open()).toEqual([]);
  });
});

describe('a quote of a message', () => {
  it('says what the first call would hold, and stores and sends nothing', async () => {
    await has({ granted: '20', purchased: '1', overdraft: '2' });
    const chat = await app.chat(org);
    await app.send(org, chat, 'before');
    await app.settled(org, chat, 1);
    const before = (await app.read(org, chat)).body;
    const calls = asked();
    const { status, body } = await quote(chat, { content: 'How many words are in this sentence?' });
    expect([status, body]).toEqual([
      200,
      {
        allowed: true,
        blocker: null,
        model_key: 'mock',
        estimate: { input_tokens: expect.any(Number), max_output_tokens: 4_096, credits: expect.any(String), cost_usd: null },
        credits_remaining: expect.stringMatching(/^22\.9/),
      },
    ]);
    expect(calls).not.toHaveBeenCalled();
    expect((await app.read(org, chat)).body).toEqual(before);
    expect(await app.db.manager.countBy(Turn, { chat_id: chat })).toBe(1);
    expect(await open()).toEqual([]);

    // What it says is what the call holds.
    const holding = jest.spyOn(
      (app.get(Holds) as unknown as { repository: { reserveCredits: () => Promise<string> } }).repository,
      'reserveCredits',
    );
    await app.send(org, chat, 'How many words are in this sentence?');
    await app.settled(org, chat, 2);
    expect(holding.mock.calls[0]).toMatchObject([{}, { amount: body.estimate.credits }, {}]);
    expect((await quote(chat, { content: 'x '.repeat(4_000) })).body.estimate.input_tokens).toBeGreaterThan(
      body.estimate.input_tokens + 1_500,
    );
  });

  it('says what would keep the call', async () => {
    await has({ granted: '0.5' });
    const chat = await app.chat(org);
    expect((await quote(chat)).body).toMatchObject({ allowed: false, blocker: 'credits_exhausted', credits_remaining: '0.5' });
    const body = { content: 'hello', model: 'unpriced' };
    expect((await quote(chat, body)).body).toMatchObject({
      allowed: false,
      blocker: 'model_unpriced',
      model_key: 'unpriced',
      estimate: { credits: '0' },
    });
  });

  it('is in dollars where no credits are paid', async () => {
    await override(app, org.id, { enforces_credits: false });
    const chat = await app.chat(org);
    const { body } = await quote(chat);
    expect(body).toMatchObject({ allowed: true, estimate: { cost_usd: expect.stringMatching(/^0\.009/) }, credits_remaining: null });
    expect(Number(body.estimate.credits)).toBeCloseTo(Number(body.estimate.cost_usd) * 100, 4);
  });

  it('refuses what the message would be refused for', async () => {
    await has({ granted: '5' });
    const chat = await app.chat(org);
    const refusedAs = async (body: Record<string, unknown>) => {
      const [quoted, sent] = [await quote(chat, body), await app.call('POST', `${org.path}/${chat}/messages`, { as: org.owner, body })];
      expect([quoted.status, quoted.body.code]).toEqual([sent.status, sent.body.code]);
      return quoted.body.code;
    };
    expect(await refusedAs({ content: '' })).toBe('validation_error');
    expect(await refusedAs({ content: 'x', model: 'no-such' })).toBe('model_unknown');
    expect(await refusedAs({ content: 'x', attachment_ids: [org.id] })).toBe('unknown_reference');
    for (const named of [{}, { model: 'no-such' }, { attachment_ids: [org.id] }])
      for (const query of ['', '?quote=true'])
        expect(
          (await app.call('POST', `${org.path}/${org.id}/messages${query}`, { as: org.owner, body: { content: 'x', ...named } })).status,
        ).toBe(404);
    expect(await app.db.manager.countBy(Message, { chat_id: chat })).toBe(0);
  });

  it('counts the files that are sent along', async () => {
    await has({ granted: '50' });
    const chat = await app.chat(org);
    const body = fileForm('word '.repeat(4_000), 'words.txt', 'text/plain');
    const file = await app.make('POST', `/api/orgs/${org.id}/uploads`, { as: org.owner, body });
    const plain = (await quote(chat)).body.estimate.input_tokens;
    expect((await quote(chat, { content: 'hello', attachment_ids: [file.file_id] })).body.estimate.input_tokens).toBeGreaterThan(
      plain + 4_000,
    );
  });
});
