import { anAgent } from '@aps/agents/testing';
import { entitle } from '@aps/billing/testing';
import { Chat, InferenceReceipt, PromptRun } from '@aps/entities';
import { sql } from '@aps/platform/testing';
import { PromptsService, type PromptTemplateInput } from '@aps/prompts';
import { eventually } from '@aps/testing';
import { LeaseEnded, RunLeases } from '@aps/platform/runs';
import { chatsService, HELD, script, SLOW, type TestOrg } from '../testing/chats';
import { ToolStepRunner } from './tool-step';

const app = chatsService();
let org: TestOrg;
beforeEach(async () => {
  await entitle(app, { direct_model_choice: true, enforces_credits: false });
  org = await app.org();
});
afterEach(() => jest.restoreAllMocks());

/** @returns its slug */
const aTemplate = async (name: string, input: PromptTemplateInput): Promise<string> =>
  (await app.get(PromptsService).create(org.scope, { name, model: 'mock', ...input })).slug;
/** Has the calls that follow be made by an agent of these grants. */
const grant = async (allowed_tools: string[], denied_tools: string[] = []) => {
  const path = `/api/orgs/${org.id}`;
  org.agentId = (await anAgent(app, { ...org, path }, { allowed_tools, denied_tools })).id;
  org.path = `${path}/agents/${org.agentId}/chats`;
};
const run = (args: object) => ({ tool_calls: [{ name: 'run_prompt_template', arguments: args }] });
/** Has the agent make calls, one after another. @returns the chat */
const asked = async (...steps: object[]): Promise<string> => {
  const chat = await app.chat(org);
  await app.send(org, chat, script(...(steps as Record<string, unknown>[]), { text: 'done' }));
  return chat;
};
const resultsOf = async (chat: string): Promise<string[]> => {
  const { messages } = await app.settled(org, chat, 1);
  return (messages as { role: string; content: string }[]).filter(({ role }) => role === 'tool').map(({ content }) => content);
};
const runs = (chat_id: string) => app.db.manager.find(PromptRun, { where: { chat_id }, order: { id: 'ASC' } });

describe('an agent that runs prompt templates', () => {
  it('gets what they answer or extract, and its chat counts what that cost', async () => {
    await aTemplate('Greet', { text: 'Greet {{who}}.' });
    const invoice = await aTemplate('Invoice', { fields: [{ name: 'total', type: 'number', required: true }] });
    await grant(['prompt:greet', `prompt:${invoice}`]);
    const chat = await asked(
      run({ template: 'greet', variables: { who: 'Ada' } }),
      run({ template: 'invoice', input_text: 'total: 12.50' }),
    );
    const results = (await resultsOf(chat)).map((text) => JSON.parse(text) as object);
    const [greeted, extracted] = await runs(chat);
    expect(results).toEqual([
      { run_id: greeted.id, output: 'You said: Greet Ada.' },
      { run_id: extracted.id, data: { total: 12.5 } },
    ]);
    expect([greeted, extracted]).toMatchObject([
      { source: 'agent', status: 'succeeded', input_preview: 'Greet Ada.' },
      { source: 'agent', status: 'succeeded', input_preview: 'total: 12.50' },
    ]);
    const receipts = await app.db.manager.findBy(InferenceReceipt, { chat_id: chat });
    expect(receipts.filter(({ feature }) => feature === 'prompt_default')).toMatchObject([
      { agent_id: org.agentId },
      { agent_id: org.agentId },
    ]);
    const { cost_usd } = await app.db.manager.findOneByOrFail(Chat, { id: chat });
    expect(Number(cost_usd)).toBeCloseTo(
      receipts.reduce((sum, receipt) => sum + Number(receipt.usd_cost), 0),
      6,
    );
    expect(receipts).toHaveLength(5);
  });

  it('runs those that it is granted, and does not learn of others', async () => {
    for (const name of ['One', 'Two', 'Three']) await aTemplate(name, { text: name });
    const refused = async (template: string) => (await resultsOf(await asked(run({ template }))))[0];
    const no = (template: string) => `There is no prompt template ${template} that you may run.`;
    expect(await refused('one')).toBe('There is no tool run_prompt_template, or you may not use it.');
    await grant(['prompt:one']);
    expect([await refused('two'), await refused('nothing')]).toEqual([no('two'), no('nothing')]);
    await grant(['*'], ['prompt:two']);
    expect([await refused('two'), JSON.parse(await refused('three'))]).toEqual([
      no('two'),
      expect.objectContaining({ output: 'You said: Three' }),
    ]);
  });

  it('is told what is wrong with a request, and why a run failed', async () => {
    await aTemplate('Greet', { text: '{{who}} {{how}}' });
    await aTemplate('Invoice', { fields: [{ name: 'total', type: 'number', required: true }] });
    await aTemplate('Empty', {});
    await grant(['*']);
    const chat = await asked(
      run({ template: 'greet' }),
      run({ template: 'invoice' }),
      run({ template: 'empty' }),
      run({ template: 'invoice', input_text: script({ text: 'no' }, { text: 'no' }) }),
    );
    expect(await resultsOf(chat)).toEqual([
      'variables.who: The template asks for this variable.\nvariables.how: The template asks for this variable.',
      'input_text: There is nothing to extract from.',
      'The template has neither a text nor fields.',
      'extraction_invalid: The model did not answer with what was asked for, twice.',
    ]);
  });

  it('holds no transaction while the model answers, and ends the run when its turn is stopped', async () => {
    await aTemplate('Slow', { text: SLOW });
    await grant(['*']);
    const chat = await asked(run({ template: 'slow' }));
    await eventually(
      () => runs(chat),
      (all) => all.length === 1,
    );
    const open = sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
    await eventually(
      () => app.db.query(open),
      ([{ n }]) => n === 0,
    );
    expect(await runs(chat)).toMatchObject([{ status: 'running' }]);
    await app.make('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: {} });
    const [ended] = await eventually(
      () => runs(chat),
      ([{ status }]) => status !== 'running',
    );
    expect(ended).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
  });

  it('whose worker dies before it has noted the answer gets the same one, and pays once', async () => {
    await aTemplate('Greet', { text: 'Hello.' });
    await grant(['*']);
    const steps = app.get(ToolStepRunner) as unknown as { inOwnedTransaction: () => Promise<unknown> };
    const died = new Promise<void>((resolve) => {
      jest.spyOn(steps, 'inOwnedTransaction').mockImplementationOnce(() => {
        resolve();
        return Promise.reject(new LeaseEnded('lost'));
      });
    });
    const chat = await asked(run({ template: 'greet' }));
    await died;
    await app.expireLease(chat);
    const [result] = await resultsOf(chat);
    const [only, ...others] = await runs(chat);
    expect([JSON.parse(result), others]).toEqual([{ run_id: only.id, output: 'You said: Hello.' }, []]);
    expect(await app.db.manager.countBy(InferenceReceipt, { chat_id: chat, feature: 'prompt_default' })).toBe(1);
  });

  it('whose worker shuts down in the middle has it run again', async () => {
    const held = script({ text: 'one two three', chunk_delay_ms: HELD });
    await aTemplate('Slow', { text: held });
    await grant(['*']);
    const chat = await asked(run({ template: 'slow' }));
    await eventually(
      () => runs(chat),
      (all) => all.length === 1,
    );
    const leases = app.get(RunLeases) as unknown as { held: Map<string, object>; end(lease: object, reason: string): void };
    const [{ id: turnId }] = await app.db.query(sql<{ id: string }>('SELECT current_turn_id AS id FROM chats WHERE id = $1'), [chat]);
    leases.end(leases.held.get(turnId)!, 'shutdown');
    app.letGo(held);
    const [result] = await resultsOf(chat);
    expect((await runs(chat)).map(({ status }) => status)).toEqual(['cancelled', 'succeeded']);
    expect(JSON.parse(result)).toMatchObject({ output: 'one two three' });
  });
});
