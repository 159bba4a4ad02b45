import { NO_CALLER } from '@aps/platform/database';
import { metrics } from '@aps/platform/observability';
import { sql } from '@aps/platform/testing';
import { createHash } from 'node:crypto';
import { OrgRuntimeService } from '@aps/inference';
import { Agent, Decision, Subscription, type ReviewStatus } from '@aps/entities';
import { defineTool, parseArguments, ToolCatalog, type Tool } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { DecisionGate } from './decision-gate';
import { DecisionLog } from './decision-log';
import { DecisionRetention } from './decisions.maintenance';
import { entitle, override } from '@aps/billing/testing';
import { aTeam } from '@aps/orgs/testing';
import { testService } from '@aps/testing';
import { aChat, aDecision, contextOf, DECISIONS, decide, rowsOf, toolsOf, type TestChat } from './testing/decisions';

const t = testService(DECISIONS);
let chat: TestChat;
/** A tool of a connection, which the model calls by another name than its slug. */
const refund = defineTool({
  slug: 'con_shop.refund',
  name: 'con_shop_refund',
  description: 'Refunds',
  scope: 'con:shop',
  accessLevel: 'write',
  decisionMode: 'write',
  parameters: z.object({}),
  run: () => Promise.resolve({ kind: 'result', content: '' }),
});

beforeAll(() => t.get(ToolCatalog).register(refund));
beforeEach(async () => {
  chat = await aChat(t);
});

const stored = () => rowsOf(t, chat);
const recordTool = () => toolsOf(t).find('record_decision') as Tool;
const counted = async (kind: string): Promise<number> => {
  const { values } = await metrics.getSingleMetric('decisions_recorded_total')!.get();
  return values.find(({ labels }) => labels.kind === kind)?.value ?? 0;
};

describe('record_decision', () => {
  it('writes down what was decided, as it is read from then on, and tells the chat’s readers', async () => {
    const what = { kind: 'no_act', tool_slug: 'x.y', deviation: true, determination: true };
    const before = await counted('no_act');
    const given = { ...what, summary: ' Leave it ', basis: '\tRule 1 ', rationale: 'Old.', confidence: 0.85 };
    const outcome = await decide(t, chat, { ...given, arguments: { z: 1, a: { c: null, b: 'é' } } }, 'call_1');
    const { items, ...page } = await t.make('GET', chat.agent.path, { as: chat.org.owner });
    expect(page).toEqual({ total: 1, next_offset: null });
    const [{ id, created_at }] = items;
    const { live_revision_id } = await t.db.manager.findOneByOrFail(Agent, { id: chat.agent.id });
    const text = { summary: 'Leave it', basis: 'Rule 1' };
    const call = { turn_id: chat.turn, tool_call_id: 'call_1' };
    const place = { chat_id: chat.id, agent_id: chat.agent.id, agent_revision_id: live_revision_id, connection_id: null };
    const unreviewed = {
      review_status: 'unreviewed',
      review_note: null,
      should_have: null,
      should_have_kind: null,
      reviewed_by: null,
      reviewed_at: null,
    };
    const arguments_digest = createHash('sha256').update('{"a":{"b":"é","c":null},"z":1}').digest('hex');
    const details = { rationale: 'Old.', confidence: '0.85', arguments_digest, created_at };
    expect(items[0]).toEqual({ id, ...what, ...text, ...call, ...place, ...details, ...unreviewed, archived: false, archived_at: null });
    expect(Date.now() - Date.parse(created_at)).toBeLessThan(60_000);
    expect(outcome).toEqual({
      kind: 'result',
      content: JSON.stringify({ decision_id: id, status: 'recorded' }),
      events: [{ type: 'decision_recorded', data: { decision_id: id, ...what, ...text, ...call } }],
    });
    expect(await counted('no_act')).toBe(before + 1);
  });

  it('needs no more than a kind, a summary and a basis', async () => {
    await decide(t, chat);
    const flags = { deviation: false, determination: false };
    expect(await stored()).toMatchObject([
      { kind: 'act', rationale: null, tool_slug: null, arguments_digest: null, ...flags, confidence: null },
    ]);
  });

  it('takes the digest of arguments in their place; where both come, theirs is the one', async () => {
    const [given, own] = ['elsewhere', '{"a":1}'].map((of) => createHash('sha256').update(of).digest('hex'));
    await decide(t, chat, { arguments_digest: given }, 'call_1');
    await decide(t, chat, { arguments_digest: given, arguments: { a: 1 } }, 'call_2');
    expect((await stored()).map(({ arguments_digest }) => arguments_digest)).toEqual([given, own]);
  });

  it('tells the model not to wait for an escalation, nor to make the call', async () => {
    const { content } = (await decide(t, chat, { kind: 'escalate', tool_slug: 'con_shop.refund', arguments: {} })) as { content: string };
    expect(JSON.parse(content)).toMatchObject({ status: 'recorded', note: expect.stringMatching(/do not make the call .* do not wait/) });
    expect(await stored()).toMatchObject([{ kind: 'escalate', tool_slug: 'con_shop.refund' }]);
  });

  it('is written and counted once by a call, and again by the next', async () => {
    const before = await counted('act');
    const first = await decide(t, chat, {}, 'call_1');
    expect(await decide(t, chat, { summary: 'Something else' }, 'call_1')).toEqual(first);
    await Promise.all(Array.from({ length: 5 }, () => decide(t, chat, {}, 'call_2')));
    expect((await stored()).map((d) => [d.tool_call_id, d.summary])).toEqual([
      ['call_1', 'Refund it'],
      ['call_2', 'Refund it'],
    ]);
    expect(await counted('act')).toBe(before + 2);
  });

  it('leaves nothing behind when its call does not commit', async () => {
    const undone = t.db.transaction(NO_CALLER, async (tx) => {
      const tool = recordTool();
      const { value } = tool.parse({ kind: 'act', summary: 's', basis: 'b' }) as { value: unknown };
      await tool.run!(tx, value, contextOf(t, chat, 'call_1'));
      throw new Error('the worker dies');
    });
    await expect(undone).rejects.toThrow('the worker dies');
    expect(await stored()).toEqual([]);
  });

  it('takes what a database does not', async () => {
    await decide(t, chat, { summary: 'a\0b \ud800', basis: '\udfff\0 rule', rationale: ' \0', tool_slug: ' t\0' });
    expect(await stored()).toMatchObject([{ summary: 'ab \ufffd', basis: '\ufffd rule', rationale: null, tool_slug: 't' }]);
  });

  it.each<[string, string]>([
    ['nothing', '{}'],
    ['no basis', '{"kind":"act","summary":"s"}'],
    ['a blank basis', '{"kind":"act","summary":"s","basis":"  "}'],
    ['a basis of nothing that can be kept', '{"kind":"act","summary":"s","basis":" \\u0000 "}'],
    ['a blank summary', '{"kind":"act","summary":" ","basis":"b"}'],
    ['a long basis', JSON.stringify({ kind: 'act', summary: 's', basis: 'x'.repeat(501) })],
    ['an unknown kind', '{"kind":"maybe","summary":"s","basis":"b"}'],
    ['certainty above 1', '{"kind":"act","summary":"s","basis":"b","confidence":1.1}'],
    ['arguments in a list', '{"kind":"act","summary":"s","basis":"b","arguments":[1]}'],
  ])('refuses %s in words that the model can use', (_, text) => {
    const message = expect.stringContaining('The arguments of record_decision are not valid.');
    expect(parseArguments(recordTool(), text)).toEqual({ ok: false, message });
  });

  it('takes the longest basis, without the blanks around it', () => {
    const text = JSON.stringify({ kind: 'act', summary: 's', basis: ` ${'x'.repeat(500)} ` });
    expect(parseArguments(recordTool(), text).ok).toBe(true);
  });

  it('says what it takes in a schema that models can read', () => {
    expect(
      toolsOf(t)
        .offered()
        .find((tool) => tool.name === 'record_decision')?.parameters,
    ).toMatchObject({
      type: 'object',
      required: ['kind', 'summary', 'basis'],
      properties: { basis: { type: 'string', maxLength: 500 }, kind: { enum: ['act', 'no_act', 'escalate'] } },
    });
  });

  it('is offered only where the log is on, and can be denied', () => {
    const offered = (grants: object) => toolsOf(t, grants).find('record_decision') !== undefined;
    expect([offered({}), offered({ decision_log: false }), offered({ denied_tools: ['record_decision'] })]).toEqual([true, false, false]);
  });

  it('fails for a chat that is not of the organization', async () => {
    await expect(decide(t, { ...chat, org: await aTeam(t) })).rejects.toThrow('Chat not found.');
  });
});

describe('the log', () => {
  const isOn = () => t.get(DecisionLog).isOn(chat.org.id);
  const set = (decision_log_enabled: boolean | null) => t.get(OrgRuntimeService).update(chat.org.scope, { decision_log_enabled });

  it('is on where the plan has it, unless it was switched off', async () => {
    const included = (decision_log: boolean) => entitle(t, { decision_log });
    const steps = [() => set(false), () => set(true), () => included(false), () => set(null), () => included(true)];
    const states = [await isOn()];
    for (const step of steps) {
      await step();
      states.push(await isOn());
    }
    expect(states).toEqual([true, false, true, false, false, true]);
  });
});

describe('the gate', () => {
  const gate = (over: Partial<Tool> = {}, turn: { id?: string; decision_log?: boolean } = {}) =>
    t.get(DecisionGate).refusal(t.db, { id: chat.turn, decision_log: true, ...turn }, { ...refund, ...over });

  it('refuses a covered call that no decision of the turn names, and says what to do', async () => {
    expect(await gate()).toMatch(/^con_shop_refund was not run: .*record_decision with kind "act" and tool_slug "con_shop\.refund"/);
  });

  it.each<[string, Partial<Tool>]>([
    ['has no mode', { decisionMode: undefined }],
    ['has none on', { decisionMode: 'off' }],
    ['only reads', { accessLevel: 'read' }],
    ['destroys nothing', { decisionMode: 'destructive' }],
  ])('lets pass what %s', async (_, over) => expect(await gate(over)).toBeNull());

  it('asks for nothing where the log is off', async () => {
    expect(await gate({}, { decision_log: false })).toBeNull();
  });

  it.each(['con_shop.refund', 'con_shop_refund'])('is passed by a decision to act on %s, as often as it is called', async (tool_slug) => {
    await decide(t, chat, { tool_slug });
    expect([await gate(), await gate()]).toEqual([null, null]);
    expect(await stored()).toMatchObject([{ tool_slug: 'con_shop.refund' }]);
    // Of no other turn, and no other tool.
    expect(await gate({}, { id: uuidv7() })).not.toBeNull();
    expect(await gate({ slug: 'con_shop.cancel', name: 'con_shop_cancel' })).not.toBeNull();
  });

  it('finds a tool that the catalog does not know by either name', async () => {
    await decide(t, chat, { tool_slug: 'con_other_send' });
    expect(await gate({ slug: 'con_other.send', name: 'con_other_send' })).toBeNull();
  });

  it('is passed by no decision about nothing, or about something else', async () => {
    await decide(t, chat);
    await decide(t, chat, { tool_slug: 'con_shop.refunds' });
    expect(await gate()).not.toBeNull();
  });

  it('goes by the newest decision: what was left or handed up is not done', async () => {
    const passed: boolean[] = [];
    for (const kind of ['no_act', 'act', 'escalate', 'act', 'no_act']) {
      await decide(t, chat, { kind, tool_slug: 'con_shop.refund' });
      passed.push((await gate()) === null);
    }
    expect(passed).toEqual([false, true, false, true, false]);
  });
});

describe('the purge', () => {
  /** How many days each organization keeps its decisions from now on; others keep them for ever. */
  const keep = async (days: Record<string, number>) => {
    for (const [orgId, decision_retention_days] of Object.entries(days)) await override(t, orgId, { decision_retention_days });
  };
  afterEach(() => override(t, chat.org.id, {}));
  /** Runs until nothing is left to remove. @returns what each run has removed */
  const purge = async (batch: number): Promise<number[]> => {
    const removed: number[] = [];
    do removed.push(await t.get(DecisionRetention).purge(batch));
    while (removed.at(-1) === batch);
    return removed;
  };
  const aged = async (days: number, review_status: ReviewStatus = 'unreviewed', archived = false, in_ = chat) => {
    const id = await aDecision(t, in_);
    // By the clock of the database, and a minute more.
    const created_at = () => `now() - make_interval(days => ${days}, secs => 60)`;
    await t.db.manager.update(Decision, id, { created_at, review_status, archived_at: archived ? new Date() : null });
    return id;
  };
  const left = async () => (await stored()).map((d) => d.id);

  it('removes what is older than the plan keeps, open disputes 30 days later, and nothing where it keeps for ever', async () => {
    const forever = await aChat(t);
    await aged(5_000, 'unreviewed', false, forever);
    await keep({ [chat.org.id]: 30 });
    const stay = [
      await aged(29),
      await aged(0),
      await aged(31, 'disputed'),
      await aged(59, 'disputed'),
      await aged(29, 'unreviewed', true),
    ];
    for (const days of [30, 400]) await aged(days);
    for (const status of ['agreed', 'reverted'] as const) await aged(31, status);
    await aged(60, 'disputed');
    for (const status of ['disputed', 'unreviewed'] as const) await aged(31, status, true);
    expect(await purge(3)).toEqual([3, 3, 1]);
    expect([await left(), await rowsOf(t, forever)]).toEqual([stay, [expect.anything()]]);
    expect(await purge(3)).toEqual([0]);
  });

  it('keeps nothing where nothing is to be kept, and counts days beyond the calendar', async () => {
    await keep({ [chat.org.id]: 2_147_483_647 });
    const stays = await aged(3);
    expect(await purge(10)).toEqual([0]);
    await keep({ [chat.org.id]: 0 });
    await aged(3);
    expect(await purge(10)).toEqual([1]);
    expect(await left()).toEqual([stays]);
  });

  it('takes nothing that a greater plan kept when it was recorded, and all that a greater one keeps now', async () => {
    await keep({ [chat.org.id]: -1 });
    const stay = [await aged(5_000)];
    await keep({ [chat.org.id]: 365 });
    stay.push(await aged(364), await aged(394, 'disputed'));
    for (const status of ['unreviewed', 'disputed'] as const) await aged(395, status);
    await keep({ [chat.org.id]: 30 });
    await aged(31);
    expect(await purge(10)).toEqual([3]);
    expect(await left()).toEqual(stay);
    stay.push(await aged(31));
    await keep({ [chat.org.id]: 180 });
    expect(await purge(10)).toEqual([0]);
    expect(await left()).toEqual(stay);
  });

  it.each([365, -1])('takes nothing that a plan of %s days has kept between two lesser ones, and notes so many at once', async (days) => {
    await keep({ [chat.org.id]: 30 });
    // What other organizations of this file have.
    await purge(100);
    const stay = [await aged(31), await aged(32), await aged(364)];
    await keep({ [chat.org.id]: days });
    expect(await purge(2)).toEqual([2, 0]);
    await keep({ [chat.org.id]: 30 });
    expect(await purge(2)).toEqual([0]);
    expect(await left()).toEqual(stay);
  });

  it('of an organization waits for no other that has much to note', async () => {
    await keep({ [chat.org.id]: 30 });
    await aged(31);
    const grown = await aChat(t);
    await keep({ [grown.org.id]: 0 });
    for (let i = 0; i < 3; i++) await aged(1, 'unreviewed', false, grown);
    await keep({ [grown.org.id]: 180 });
    expect(await t.get(DecisionRetention).purge(2)).toBe(2);
    expect(await left()).toEqual([]);

    await aged(31);
    await t.db.execute(sql('ALTER TABLE decisions ADD CONSTRAINT unnoted CHECK (keep_days <> 180) NOT VALID'));
    await expect(t.get(DecisionRetention).purge(2)).rejects.toThrow('unnoted');
    await t.db.execute(sql('ALTER TABLE decisions DROP CONSTRAINT unnoted'));
    expect(await left()).toEqual([]);
  });

  it('takes nothing from who has no plan any more', async () => {
    await keep({ [chat.org.id]: 0 });
    const id = await aged(3);
    await t.db.manager.update(Subscription, { org_id: chat.org.id }, { status: 'canceled' });
    expect(await purge(10)).toEqual([0]);
    expect(await left()).toEqual([id]);
  });

  it('is shared by all who do it at the same time', async () => {
    await keep({ [chat.org.id]: 10 });
    for (let i = 0; i < 30; i++) await aged(11);
    const removed = (await Promise.all([purge(4), purge(4), purge(4)])).flat();
    await purge(4);
    expect(await left()).toEqual([]);
    expect(removed.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(30);
  });

  it('is no more done to a dispute that begins while it is under way', async () => {
    await keep({ [chat.org.id]: 10 });
    const id = await aged(11);
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.manager.update(Decision, id, { review_status: 'disputed' });
      expect(await purge(10)).toEqual([0]);
    });
    expect(await purge(10)).toEqual([0]);
    expect(await left()).toEqual([id]);
  });
});
