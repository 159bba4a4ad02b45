import { isDeepStrictEqual } from 'node:util';
import { anAgent } from '@aps/agents/testing';
import { OrgPlans } from '@aps/billing';
import { CallHold, InferenceReceipt } from '@aps/entities';
import { InferenceError } from '@aps/inference';
import { InferenceHttpModule } from '@aps/inference/http';
import { ModelCalls } from '@aps/inference/testing';
import { OrgsModule } from '@aps/orgs';
import { PromptsService } from '@aps/prompts';
import { metrics } from '@aps/platform/observability';
import { sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { chatsService, script, SLOW, type TestOrg } from '../testing/chats';

/** The model costs 1 dollar for a million tokens of input and 2 of output; what a call reserves is a little more than 0.008. */
const app = chatsService({}, [OrgsModule.forRoot(OrgPlans), InferenceHttpModule]);
let org: TestOrg;
beforeAll(() => app.addUnpricedModel('unpriced'));
beforeEach(async () => {
  org = await app.org();
});
afterEach(() => jest.restoreAllMocks());

const EXCEEDED = { code: 'budget_exceeded', message: 'The budget of this organization is used up.', retryable: true };

const limit = (budget_limit_usd: string | null) =>
  app.make('PATCH', `/api/orgs/${org.id}/settings/limits`, { as: org.owner, body: { budget_limit_usd } });
const act = (chat: string, what: string, method = 'POST') => app.call(method, `${org.path}/${chat}${what}`, { as: org.owner });
const receipts = () => app.db.manager.find(InferenceReceipt, { where: { org_id: org.id }, order: { id: 'ASC' } });
const reservations = () => app.db.manager.findBy(CallHold, { org_id: org.id });
/** Those of calls that no receipt has ended. */
const open = async () => {
  const ended = new Set((await receipts()).map(({ id }) => id));
  return (await reservations()).filter(({ work, receipt_id }) => !work.startsWith('calls:') && !ended.has(receipt_id));
};
const ended = async (outcome: string) => {
  const { values } = await metrics.getSingleMetric('run_duration_seconds')!.get();
  const ofTurns = ({ labels, metricName }: { labels: object; metricName?: string }) =>
    metricName === 'run_duration_seconds_count' && isDeepStrictEqual(labels, { kind: 'turn', outcome });
  return values.find(ofTurns)?.value ?? 0;
};
const errored = (chat: string) => app.until(org, chat, (c) => c.status === 'ERRORED');
const asked = () => jest.spyOn(app.get(ModelCalls), 'streamChat');
/** Has the chats that follow be of an agent with this grant. */
const grant = async (tool: string) => {
  org.agentId = (await anAgent(app, { ...org, path: `/api/orgs/${org.id}` }, { allowed_tools: [tool] })).id;
  org.path = `/api/orgs/${org.id}/agents/${org.agentId}/chats`;
};
/** An answer that costs 0.011. */
const DEAR = { usage: { input: 9_000, output: 1_000 } };

describe('a chat of an organization with a budget', () => {
  it('ends before a call that nothing is left for, and goes on when the budget is raised', async () => {
    const [ours, theirs] = [await ended('failed'), await ended('unsuccessful')];
    await limit('0.01');
    const chat = await app.chat(org);
    await app.send(org, chat, script({ text: 'one', ...DEAR }));
    await app.settled(org, chat, 1);
    expect([await receipts(), await open()]).toMatchObject([[{ usd_cost: '0.011000' }], []]);

    const calls = asked();
    await app.send(org, chat, script({ text: 'two' }));
    expect(await errored(chat)).toMatchObject({ error: EXCEEDED, messages: [{}, { content: 'one' }, { role: 'user' }] });
    expect(calls).not.toHaveBeenCalled();
    const told = await app.db.query(sql<{ data: object }>(`SELECT data FROM events WHERE topic = 'chat:' || $1::text AND type = 'error'`), [
      chat,
    ]);
    expect(told).toMatchObject([{ data: EXCEEDED }]);
    // What its budget is worth is for the organization to say, and no operator is called for it.
    await eventually(() => ended('unsuccessful'), (n) => n > theirs); // prettier-ignore
    expect(await ended('failed')).toBe(ours);

    const refused = { status: 402, body: { code: 'budget_exceeded', context: { budget_limit_usd: '0.01', spend_usd: '0.011' } } };
    expect(await act(chat, '/continue')).toMatchObject(refused);
    expect((await act(chat, '/diagnosis', 'GET')).body).toMatchObject({
      blocked_by: { kind: 'budget', ref: 'budget_exceeded' },
      next_action: 'raise_budget',
    });

    await limit('0.02');
    expect((await act(chat, '/diagnosis', 'GET')).body.next_action).toBe('continue');
    expect((await act(chat, '/continue')).status).toBe(200);
    expect((await app.settled(org, chat, 2)).messages.at(-1).content).toBe('two');
    expect(await open()).toEqual([]);
  });

  it('goes on in the next month', async () => {
    await limit('0.01');
    const chat = await app.chat(org);
    await app.send(org, chat, script({ text: 'one', ...DEAR }));
    await app.settled(org, chat, 1);
    await app.send(org, chat, 'two');
    await errored(chat);
    // What was spent has been spent in the month before.
    await app.db.execute(sql(`UPDATE usage_tallies SET hour = hour - interval '31 days' WHERE org_id = $1`), [org.id]);
    expect((await act(chat, '/continue')).status).toBe(200);
    await app.settled(org, chat, 2);
  });

  it.each([
    ['a provider refuses', script({ error: { status: 400, message: 'no' } }), (chat: string) => errored(chat)],
    [
      'is stopped',
      SLOW,
      async (chat: string) => {
        await eventually(reservations, (found) => found.length > 0);
        await act(chat, '/stop');
      },
    ],
  ])('holds nothing for a call that %s', async (_, content, end) => {
    await limit('1');
    const chat = await app.chat(org);
    await app.send(org, chat, content);
    await end(chat);
    await eventually(reservations, (found) => found.length === 0);
    expect(await receipts()).toEqual([]);
  });

  it('asks again for an answer that said nothing where something is left beside what that has cost', async () => {
    const empty = script([{ text: '', ...DEAR }, { text: 'said at last' }] as never);
    const say = async (budget: string) => {
      org = await app.org();
      await limit(budget);
      const chat = await app.chat(org);
      await app.send(org, chat, empty);
      const { messages } = await app.until(org, chat, (c) => c.status === 'ACTIVE' && c.messages.length === 2);
      expect(await open()).toEqual([]);
      return [messages[1].content, (await receipts()).length];
    };
    expect([await say('1'), await say('0.01')]).toEqual([
      ['said at last', 2],
      ['', 1],
    ]);
  });

  it('is named by its opening words where no call is left for a name', async () => {
    await limit('0.01');
    const chat = await app.chat(org, {});
    await app.send(org, chat, `Plan the garden ${script({ text: 'one', ...DEAR })}`);
    const { title } = await app.until(org, chat, (c) => c.title !== null);
    expect(title).toContain('Plan the garden');
    expect((await receipts()).map(({ feature }) => feature)).toEqual(['turn']);
    await eventually(open, (found) => found.length === 0);
  });

  it('holds nothing for a name or a prompt that did not come', async () => {
    const text = script({ error: { status: 400, message: 'no' } });
    await app.get(PromptsService).create(org.scope, { name: 'Fail', text, model: 'mock' });
    await grant('prompt:fail');
    await limit('1');
    const models = app.get(ModelCalls);
    const real = models.streamChat.bind(models);
    asked().mockImplementation((model, call, options) =>
      call.feature === 'title' ? Promise.reject(new InferenceError('provider_rejected', 'no')) : real(model, call, options),
    );
    const chat = await app.chat(org, {});
    await app.send(org, chat, script({ tool_calls: [{ name: 'run_prompt_template', arguments: { template: 'fail' } }] }, { text: 'done' }));
    const { messages } = await app.until(org, chat, (c) => c.title !== null);
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect((await receipts()).map(({ feature }) => feature)).toEqual(['turn', 'turn']);
    await eventually(open, (found) => found.length === 0);
  });

  it('counts the prompts that its agent runs, and runs none that nothing is left for', async () => {
    await app.get(PromptsService).create(org.scope, { name: 'Greet', text: 'Greet.', model: 'mock' });
    await grant('prompt:greet');
    const run = { name: 'run_prompt_template', arguments: { template: 'greet' } };
    await limit('0.02');
    const first = await app.chat(org);
    await app.send(org, first, script({ tool_calls: [run] }, { text: 'done', ...DEAR }));
    await app.settled(org, first, 1);
    expect((await receipts()).map(({ feature }) => feature)).toEqual(['turn', 'prompt_default', 'turn']);
    expect(await open()).toEqual([]);

    const second = await app.chat(org);
    await app.send(org, second, script({ tool_calls: [run], ...DEAR }));
    const { messages, error } = await errored(second);
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: `budget_exceeded: ${EXCEEDED.message}` });
    expect(error).toEqual(EXCEEDED);
  });

  it('is let through without a price while anything is left', async () => {
    await limit('0.01');
    const chat = await app.chat(org);
    const send = (content: string, model: string) =>
      app.call('POST', `${org.path}/${chat}/messages`, { as: org.owner, body: { content, model } });
    await send(script({ text: 'one', ...DEAR, usage: { input: 1e6, output: 1e6 } }), 'unpriced');
    await app.settled(org, chat, 1);
    await send(script({ text: 'two', ...DEAR }), 'mock');
    await app.settled(org, chat, 2);
    await send('three', 'unpriced');
    expect((await errored(chat)).error).toEqual(EXCEEDED);
  });
});
