import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule } from '@aps/billing';
import { withCredits, withRateCard } from '@aps/billing/testing';
import { InboxEnvelope, InboxMessage, InboxTrace, type TraceRow } from '@aps/entities';
import { InferenceModule } from '@aps/inference';
import { addModel, addRoute } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { eventually, randomly, sql } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { Simulations, type Simulation } from '../messages/simulations';
import { RuleSets } from '../rules/rule-sets';
import { CompiledRules } from '../rules/rule-set.compile';
import { InboxesHttpModule } from '.';

const t = testService([...BASE_MODULES, AgentsHttpModule, BillingModule, InferenceModule, InboxesHttpModule], {
  settings: { OPENAI_API_KEY: 'sk-test' },
});
let org: TestTeam;
let inbox: string;
let path: string;
beforeAll(async () => {
  const route_id = await addRoute(t, 'openai');
  await addModel(t, 'test-model', { route_id, input_price_per_1m: '1', output_price_per_1m: '1' });
});
beforeEach(async () => {
  org = await aTeam(t);
  inbox = (await t.make('POST', `${org.path}/inboxes`, { as: org.owner, body: { name: 'Orders', slug: 'orders' } })).id as string;
  path = `${org.path}/inboxes/${inbox}/revisions`;
});

const match = (id: string, word: string, then: object) => ({
  id,
  kind: 'match',
  when: { field: 'subject', op: 'contains', value: word },
  then,
});
const DROP_SPAM = { stages: [match('spam', 'spam', { action: 'drop' })] };
const TRIAGE = {
  id: 'triage',
  kind: 'classifier',
  instruction: 'Sort.',
  labels: [
    { label: 'spam', action: 'drop' },
    { label: 'sales', action: 'accept' },
  ],
};
const push = async (definition: unknown) => (await t.make('POST', path, { as: org.owner, body: { definition } })).id as string;
const deploy = async (definition: unknown) => {
  const id = await push(definition);
  await t.make('POST', `${path}/${id}/deploy`, { as: org.owner });
  return id;
};
const call = (id: string, body: object = {}) => t.call('POST', `${path}/${id}/simulate`, { as: org.member, body });
const simulate = async (id: string, body: object = {}) =>
  (await t.make('POST', `${path}/${id}/simulate`, { as: org.member, body })) as unknown as Simulation;

type Arrived = Partial<InboxMessage> & { ago?: number; trace?: Partial<TraceRow>[]; envelope?: Partial<InboxEnvelope> };
const ACCEPTED = { state: 'accepted', verdict: 'accepted', decided_by: 'default' } as const;
const ROW: TraceRow = {
  stage_id: 'default',
  kind: 'default',
  outcome: 'accept',
  matched: true,
  detail: null,
  started_at: '2026-01-01T00:00:00.000Z',
  duration_ms: 1,
};
const answered = (label: string | null, confidence: number | null = 0.9): Partial<TraceRow> => ({
  stage_id: 'triage',
  kind: 'classifier',
  classifier: { label, confidence, model: 'test-model', cost_usd: null, cost_credits: '0' },
});

/** A message whose evaluation is over, hours ago. */
async function arrived({ ago = 1, trace = [{}], envelope, ...message }: Arrived = {}): Promise<string> {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  const id = await t.insert(InboxMessage, {
    ...{ org_id: org.id, inbox_id: inbox, channel_id: uuidv7(), channel_kind: 'email', size_bytes: 10 },
    ...{ sender_address: 'ada@acme.com', sender_key: 'ada@acme.com', subject: 'Hello', status: 'settled', ...ACCEPTED },
    ...{ raw_expires_at: at(100), received_at: at(-ago), ...message },
  });
  const of = { org_id: org.id, message_id: id };
  await t.db.manager.save(InboxEnvelope, { headers: {}, body_text: 'Hello', ...envelope, ...of });
  const evaluation_no = message.evaluation_no ?? 1;
  await t.db.manager.save(InboxTrace, { ...of, evaluation_no, rows: trace.map((row) => ({ ...ROW, ...row })) });
  return id;
}

const accepted = { verdict: 'accepted', state: 'accepted', decided_by: 'default', target: null, needs: null };
const dropped = (decided_by: string) => ({ verdict: 'dropped', state: 'dropped', decided_by, target: null, needs: null });
const unknown = { verdict: null, state: null, decided_by: null, target: null, needs: 'classifier' };
const outcomes = ({ items }: Simulation) => items.map(({ before, after, changed }) => [before.verdict, after.verdict, changed]);

it('says what would become of each message, newest first, and changes nothing', async () => {
  const [old, spam, plain] = [await arrived({ ago: 25 }), await arrived({ ago: 2, subject: 'SPAM' }), await arrived()];
  const draft = await push(DROP_SPAM);
  const everything = sql<{ of: string }>(
    `SELECT md5(string_agg(x, '|' ORDER BY x)) AS of FROM (SELECT m::text AS x FROM inbox_messages m UNION ALL SELECT t::text FROM inbox_traces t
     UNION ALL SELECT r::text FROM inbox_revisions r UNION ALL SELECT a::text FROM audit_log a UNION ALL SELECT o::text FROM outbox o) x`,
  );
  const before = await t.db.query(everything);
  expect(await simulate(draft)).toEqual({
    ...{ revision_id: draft, compared_with: null, total: 2, changed: 1, skipped_expired: 0, truncated: false },
    classifier: { recorded: 0, missing: 0, estimated_credits: null },
    items: [
      { message_id: plain, before: accepted, after: accepted, changed: false },
      { message_id: spam, before: accepted, after: dropped('spam'), changed: true },
    ],
  });
  expect((await simulate(draft, { within_hours: 720 })).items.map(({ message_id }) => message_id)).toEqual([plain, spam, old]);
  expect((await simulate(draft, { within_hours: 720, limit: 1 })).items.map(({ message_id }) => message_id)).toEqual([plain]);
  expect(await t.db.query(everything)).toEqual(before);
});

it('compares with the rules that are live, whatever a message was judged by', async () => {
  await arrived({ subject: 'spam' });
  const first = await deploy(DROP_SPAM);
  const second = await deploy({ default: { action: 'quarantine' } });
  expect(await simulate(first)).toMatchObject({ compared_with: second, changed: 1 });
  expect(outcomes(await simulate(first))).toEqual([['quarantined', 'dropped', true]]);
  expect(outcomes(await simulate(second))).toEqual([['quarantined', 'quarantined', false]]);
});

it('finds that another target, and no other stage, makes a change', async () => {
  await arrived({ subject: 'order' });
  const { id } = await t.make('POST', `${org.path}/agents`, { as: org.owner, body: { name: 'Clerk' } });
  const target = { kind: 'agent', id };
  await deploy({ stages: [match('a', 'order', { action: 'accept', target })] });
  const renamed = await push({ stages: [match('b', 'order', { action: 'accept', target })] });
  const [item] = (await simulate(renamed)).items;
  expect(item).toMatchObject({ before: { decided_by: 'a', target }, after: { decided_by: 'b', target }, changed: false });
  expect((await simulate(await push({ stages: [] }))).changed).toBe(1);
});

it('leaves gates as they went, and what is not settled or not kept alone', async () => {
  const id = await arrived({
    ...{ state: 'dropped', verdict: 'dropped', decided_by: 'auto_submitted' },
    trace: [
      { kind: 'gate', stage_id: 'size' },
      { kind: 'gate', stage_id: 'auto_submitted' },
    ],
  });
  await arrived({ state: 'evaluating', status: 'queued', verdict: null, decided_by: null });
  await arrived({ raw_available: false });
  await arrived({ raw_expires_at: new Date(Date.now() - 1_000) });
  const { items, total, skipped_expired, truncated } = await simulate(await push({ default: { action: 'quarantine' } }));
  const end = dropped('auto_submitted');
  expect([total, skipped_expired, truncated, items]).toEqual([1, 2, false, [{ message_id: id, before: end, after: end, changed: false }]]);
});

it('sees what rules see: headers, payloads, and no tags of before', async () => {
  await arrived({
    channel_kind: 'webhook',
    sender_address: null,
    tags: ['vip'],
    envelope: { payload: { kind: 'order' }, headers: { 'x-a': 'b' } },
  });
  const when = {
    all: [
      { field: 'payload.kind', op: 'eq', value: 'order' },
      { field: 'headers.x-a', op: 'eq', value: 'b' },
      { not: { field: 'tags', op: 'exists' } },
    ],
  };
  const draft = await push({ stages: [{ id: 'order', kind: 'match', when, then: { action: 'drop' } }] });
  expect(outcomes(await simulate(draft))).toEqual([['accepted', 'dropped', true]]);
});

describe('classifiers', () => {
  it('answer what they answered, to the same question', async () => {
    const live = await deploy({ stages: [TRIAGE] });
    const judged = { revision_id: live, decided_by: 'triage' };
    await arrived({ ...judged, ago: 2, trace: [answered('sales')] });
    await arrived({ ...judged, ago: 1, state: 'dropped', verdict: 'dropped', trace: [answered('spam', 0.7)] });
    const surer = await simulate(await push({ stages: [{ ...TRIAGE, min_confidence: 0.8 }] }));
    expect(outcomes(surer)).toEqual([
      ['dropped', 'quarantined', true],
      ['accepted', 'accepted', false],
    ]);
    expect(surer.classifier).toEqual({ recorded: 2, missing: 0, estimated_credits: null });
    const asked = await simulate(await push({ stages: [{ ...TRIAGE, instruction: 'Sort otherwise.' }] }));
    expect(outcomes(asked)).toEqual([
      ['dropped', null, false],
      ['accepted', null, false],
    ]);
    expect([asked.items[0].after, asked.changed, asked.classifier]).toEqual([
      unknown,
      0,
      { recorded: 0, missing: 2, estimated_credits: null },
    ]);
    expect((await simulate(await push({ stages: [{ ...TRIAGE, id: 'other' }] }))).classifier).toMatchObject({ recorded: 0, missing: 2 });
  });

  it('that failed are as unknown as those that were never asked, but what became of the message is known', async () => {
    const live = await deploy({ stages: [TRIAGE] });
    const failed = { state: 'held', verdict: 'quarantined', hold_reason: 'classifier_error', decided_by: 'triage' } as const;
    await arrived({ ...failed, revision_id: live, trace: [answered(null, null)] });
    const { items } = await simulate(live);
    expect(items[0]).toMatchObject({
      before: { verdict: 'quarantined', decided_by: 'triage', needs: null },
      after: unknown,
      changed: false,
    });
  });

  it('are those of the last evaluation alone', async () => {
    const live = await deploy({ stages: [TRIAGE] });
    const id = await arrived({ revision_id: live, evaluation_no: 2, trace: [answered('sales')] });
    await t.db.manager.save(InboxTrace, { org_id: org.id, message_id: id, evaluation_no: 1, rows: [{ ...ROW, ...answered('spam') }] });
    expect(outcomes(await simulate(live))).toEqual([['accepted', 'accepted', false]]);
  });

  it('that are missing cost what they may, where credits are paid', async () => {
    await withRateCard(t);
    await withCredits(t, org.id, { granted: '100' });
    await arrived();
    const triage = await push({ stages: [TRIAGE] });
    const cost = async () => Number((await simulate(triage)).classifier.estimated_credits);
    const one = await cost();
    expect(one).toBeGreaterThan(0);
    await arrived();
    expect(await cost()).toBeCloseTo(2 * one, 5);
    expect((await simulate(await push({ stages: [{ ...TRIAGE, model: 'gone' }] }))).classifier.missing).toBe(2);
    expect((await simulate(await push(DROP_SPAM))).classifier.estimated_credits).toBe('0');
  });
});

it('refuses what cannot be run, and ranges that are none', async () => {
  const bad = await push({
    stages: [{ id: 'one', kind: 'match', when: { field: 'subject', op: 'matches', value: '(' }, then: { action: 'drop' } }],
  });
  const refused = await call(bad);
  expect([refused.status, refused.body]).toMatchObject([
    422,
    { code: 'revision_invalid', errors: [{ stage_id: 'one', field: 'when.value' }] },
  ]);
  const draft = await push({});
  for (const body of [{ within_hours: 0 }, { within_hours: 721 }, { limit: 0 }, { limit: 1_001 }, { limit: 'x' }])
    expect([body, (await call(draft, body)).status]).toEqual([body, 422]);
  expect((await t.call('POST', `${path}/${draft}/simulate`, { as: org.member })).status).toBe(200);
});

/** None is run until what it returns is called. */
function held(): () => void {
  const ruleSets = t.get(RuleSets);
  const of = ruleSets.of.bind(ruleSets);
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const holding = jest.spyOn(ruleSets, 'of').mockImplementation((...args) => opened.then(() => of(...args)));
  return () => (open(), holding.mockRestore());
}

it('has a few of an organization wait, and refuses more', async () => {
  const draft = await push(DROP_SPAM);
  const open = held();
  const calls = Array.from({ length: 4 }, () => call(draft));
  const { status, body, headers } = await Promise.race(calls);
  expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '5']);
  open();
  expect((await Promise.all(calls)).map((answer) => answer.status).sort()).toEqual([200, 200, 200, 429]);
  expect((await call(draft)).status).toBe(200);
});

it('looks at no message for who is gone', async () => {
  await arrived();
  const draft = await push(DROP_SPAM);
  const open = held();
  const run = jest.spyOn(t.get(Simulations), 'run');
  const caller = new AbortController();
  const headers = { authorization: `Bearer ${org.member.token}` };
  void fetch(`${t.url}${path}/${draft}/simulate`, { method: 'POST', headers, signal: caller.signal }).catch(() => undefined);
  const [[, , , , signal]] = await eventually(
    () => Promise.resolve(run.mock.calls),
    ({ length }) => length > 0,
  );
  caller.abort();
  await eventually(() => Promise.resolve(signal.aborted), Boolean);
  const read = jest.spyOn(CompiledRules.prototype, 'evaluate');
  open();
  await expect(run.mock.results[0].value).rejects.toBe(signal.reason);
  expect(read).not.toHaveBeenCalled();
  read.mockRestore();
  run.mockRestore();
});

it('leaves the process to others between messages', async () => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is bound when it is called
  const real = CompiledRules.prototype.evaluate;
  const next = randomly(1);
  const payload = { text: Array.from({ length: 20_000 }, () => (next() < 0.5 ? 'a' : 'b')).join('') };
  for (let i = 0; i < 8; i++) await arrived({ envelope: { payload } });
  // It has another state for each of the last characters: slow enough that all messages at once would be seen.
  const when = { field: 'payload.text', op: 'matches', value: 'a[ab]{100}b[ab]a{20}' };
  const slow = await push({ stages: [{ id: 'slow', kind: 'match', when, then: { action: 'drop' } }] });
  // Whoever wants to run as well gets his turn between any two of them.
  const evaluate = jest.spyOn(CompiledRules.prototype, 'evaluate');
  let turns = 0;
  const seen = new Set<number>();
  evaluate.mockImplementation(function (this: CompiledRules, ...args) {
    seen.add(turns);
    return real.apply(this, args);
  });
  let over = false;
  const others = () => {
    turns++;
    if (!over) setImmediate(others);
  };
  others();
  const { total } = await simulate(slow).finally(() => ((over = true), evaluate.mockRestore()));
  expect(total).toBe(8);
  expect(seen.size).toBeGreaterThanOrEqual(8);
});
