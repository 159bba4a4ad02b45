import { entitle, override, withCredits, withRateCard } from '@aps/billing/testing';
import { docx, paragraph } from '@aps/files/testing';
import type { ChatResult } from '@aps/inference';
import { ModelCalls, addModel, addRoute } from '@aps/inference/testing';
import { RunLeases } from '@aps/platform/runs';
import { eventually, sql, times } from '@aps/platform/testing';
import type { TestOrg } from '@aps/chats/testing';
import { ChatStarts } from '@aps/chats';
import { CLASSIFIER_FEATURE } from '../rules/classifier-call';
import { EvaluationRepository } from './evaluation.repository';
import { inboxesService, type TestInbox } from '../testing';

const t = inboxesService();
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org);
});

afterEach(async () => {
  jest.restoreAllMocks();
  // What one spec leaves behind is let go in no other, also where a minute has passed.
  await t.db.execute(sql(`UPDATE inbox_messages SET raw_available = false WHERE state = 'held'`));
});

const GATES = [
  'size',
  'duplicate',
  'auto_submitted',
  'inbox_status',
  'sender_per_minute',
  'sender_per_hour',
  'messages_per_day',
  'spike',
  'plan_intake',
  'dmarc',
  'attachments',
];
const set = (columns: Record<string, unknown>) => t.call('PATCH', inbox.path, { as: org.owner, body: columns });
const settledMail = async (message = {}) => t.evaluated(await t.mail(inbox, message));
const chatOf = async (chatId: string) => (await t.read(org, chatId)).body;
const later = (of: string, interval: string) =>
  t.db.execute(sql(`UPDATE inbox_messages SET passed_at = passed_at - $2::interval WHERE inbox_id = $1`), [of, interval]);
/** As many messages as pass within ten minutes where a flood is held. */
const flood = () =>
  t.db.execute(
    sql(`INSERT INTO inbox_messages (id, org_id, inbox_id, channel_id, channel_kind, sender_key, size_bytes, status, state, verdict, passed_at, raw_expires_at)
         SELECT gen_random_uuid(), $1, $2, gen_random_uuid(), 'email', 'x', 1, 'settled', 'accepted', 'accepted', now(), now() FROM generate_series(1, 50)`),
    [org.id, inbox.id],
  );

/** Has the handlers of messages not begin, at first or ever. @returns how often that was tried */
function breakStarts(times = Infinity, error = new Error('broken')): () => number {
  const starts = t.get(ChatStarts);
  const start = starts.start.bind(starts);
  const spy = jest.spyOn(starts, 'start');
  spy.mockImplementation((...args) => (spy.mock.calls.length <= times ? Promise.reject(error) : start(...args)));
  return () => spy.mock.calls.length;
}
/** Has the calls of classifiers answered so; chats of earlier messages may still ask. @returns how many there were */
function classifying(answer: (ask: () => Promise<ChatResult>, n: number, signal: AbortSignal) => Promise<ChatResult>): () => number {
  const models = t.get(ModelCalls);
  const stream = models.streamChat.bind(models);
  let calls = 0;
  jest
    .spyOn(models, 'streamChat')
    .mockImplementation((...args) =>
      args[1].feature === CLASSIFIER_FEATURE ? answer(() => stream(...args), ++calls, args[2]!.signal!) : stream(...args),
    );
  return () => calls;
}
/** Has what was put off so often go on now. */
async function tryAgain(id: string, tries: number): Promise<void> {
  await eventually(
    () => t.message(id),
    ({ wait }) => wait?.tries === tries,
  );
  await t.db.execute(sql(`UPDATE inbox_messages SET wait = wait || '{"resume_at": "2020-01-01T00:00:00Z"}' WHERE id = $1`), [id]);
  await t.db.execute(sql('UPDATE outbox SET available_at = now() WHERE id = $1'), [id]);
}

describe('a message', () => {
  it('is accepted without rules, and handed to the agent of its inbox once', async () => {
    const id = await t.mail(inbox, { subject: 'Order 7', dedupe_key: 'a' });
    expect(await t.mail(inbox, { subject: 'Order 7', dedupe_key: 'a' })).toBe(id);
    const { trace, dispatched, ...message } = await t.evaluated(id);
    expect(message).toMatchObject({ state: 'accepted', verdict: 'accepted', hold_reason: null, decided_by: 'default', duplicates: 1 });
    expect(trace.map(({ stage_id, outcome }) => [stage_id, outcome])).toEqual([
      ...GATES.map((gate) => [gate, 'passed']),
      ['default', 'accept'],
      ['dispatch', 'dispatched'],
    ]);
    await t.settled(org, dispatched!.chat_id, 1);
    const chat = await chatOf(dispatched!.chat_id);
    expect(chat).toMatchObject({ title: 'Order 7', created_by: null, origin: { kind: 'inbox', ref_id: id } });
    expect((chat.messages as { content: string }[]).map(({ content }) => content)[0]).toBe(
      'From: Ann <ann@acme.com>\nSubject: Order 7\n\nTen of them, please.',
    );
    expect(await t.db.query(sql('SELECT 1 FROM outbox WHERE id = $1'), [id])).toEqual([]);
  });

  it('gives the agent what is attached to it, documents as what they say', async () => {
    const files = [{ filename: 'order.docx', content: docx(paragraph('Ten lamps.')) }];
    const { dispatched } = await t.evaluated(await t.mail(inbox, { files }));
    await t.settled(org, dispatched!.chat_id, 1);
    const chat = await chatOf(dispatched!.chat_id);
    expect((chat.messages as { content: string }[]).at(-1)!.content).toContain('Ten lamps.');
  });

  it('of a webhook says its text alone', async () => {
    const { dispatched } = await t.evaluated(await t.hook(inbox, { subject: null, body_text: 'ping' }));
    const chat = await chatOf(dispatched!.chat_id);
    expect((chat.messages as { content: string }[])[0].content).toBe('ping');
  });

  it('at the same instant from many is stored once', async () => {
    const ids = await times(12, () => t.mail(inbox, { dedupe_key: 'same' }));
    expect(new Set(ids).size).toBe(1);
    expect(await t.evaluated(ids[0])).toMatchObject({ state: 'accepted', duplicates: 11 });
  });

  it('goes by the first rule that ends it, with the tags on the way', async () => {
    await t.rules(inbox, {
      stages: [
        {
          id: 'tag',
          kind: 'match',
          when: { field: 'sender.domain', op: 'in', value: ['acme.com'] },
          then: { action: 'continue', tags: ['acme'] },
        },
        { id: 'no', kind: 'match', when: { field: 'subject', op: 'contains', value: 'spam' }, then: { action: 'drop' } },
        { id: 'odd', kind: 'match', when: { field: 'subject', op: 'contains', value: 'odd' }, then: { action: 'quarantine' } },
      ],
    });
    expect(await settledMail({ subject: 'SPAM' })).toMatchObject({
      state: 'dropped',
      verdict: 'dropped',
      decided_by: 'no',
      tags: ['acme'],
    });
    expect(await settledMail({ subject: 'odd' })).toMatchObject({
      state: 'held',
      verdict: 'quarantined',
      hold_reason: 'quarantined',
      decided_by: 'odd',
    });
    expect(await settledMail()).toMatchObject({ state: 'accepted', decided_by: 'default', tags: ['acme'] });
  });

  it.each([
    ['without a target', { target_kind: null, target_id: null }],
    ['of an agent that is gone', null],
  ])('%s is held for its handler', async (_, change) => {
    if (change) await set(change);
    else await t.call('DELETE', `/api/orgs/${org.id}/agents/${org.agentId}`, { as: org.owner });
    const held = await settledMail();
    expect(held).toMatchObject({ state: 'held', verdict: 'quarantined', hold_reason: 'handler_missing' });
    expect(held.trace.at(-1)).toMatchObject({ kind: 'dispatch', outcome: 'held' });
  });

  it('whose handler cannot be begun is tried five times, and failed then', async () => {
    const tries = breakStarts();
    const id = await t.mail(inbox);
    for (let n = 1; n < 5; n++) await tryAgain(id, n);
    const failed = await t.evaluated(id);
    expect(failed).toMatchObject({ state: 'failed', verdict: 'accepted', hold_reason: null, dispatched: null });
    expect(failed.trace.at(-1)).toMatchObject({ kind: 'dispatch', outcome: 'failed' });
    expect(tries()).toBe(5);
  });

  it('whose handler has lost a deadlock is handed on again at once', async () => {
    const tries = breakStarts(1, Object.assign(new Error('deadlock detected'), { code: '40P01' }));
    const putOff = jest.spyOn(t.get(EvaluationRepository), 'putOff');
    expect((await settledMail()).state).toBe('accepted');
    expect([tries(), putOff.mock.calls.length]).toEqual([2, 0]);
  });
});

describe('gates', () => {
  it('drop what no human sent, unless rules say otherwise', async () => {
    expect(await settledMail({ automatic: 'auto-submitted' })).toMatchObject({ state: 'dropped', decided_by: 'auto_submitted' });
    await t.rules(inbox, { gates: { auto_submitted: 'accept' } });
    expect((await settledMail({ automatic: 'auto-submitted' })).state).toBe('accepted');
  });

  it('drop what comes from an inbox of ours by From or reverse-path, whatever rules say, and not what is to be answered to one', async () => {
    await t.rules(inbox, { gates: { auto_submitted: 'accept' } });
    const [own, ours] = [{ address: inbox.address, name: null }, inbox.address.toUpperCase()];
    for (const mail of [{ sender: own }, { headers: { 'return-path': ours } }, { headers: { 'return-path': `"Us" <${ours}>` } }]) {
      const { state, decided_by, trace } = await settledMail(mail);
      expect([state, decided_by, trace.at(-1)!.detail]).toEqual(['dropped', 'auto_submitted', { reason: 'own_address' }]);
    }
    expect((await settledMail({ reply_to: inbox.address, headers: { 'return-path': 'bounce+ann=acme.com@acme.com' } })).state).toBe(
      'accepted',
    );
  });

  it('quarantine by what rules say of DMARC and attachments', async () => {
    await t.rules(inbox, { gates: { dmarc_fail: 'quarantine', max_attachments: 1 } });
    const auth = { spf: 'fail', dkim: 'fail', dmarc: 'fail' };
    expect(await settledMail({ auth })).toMatchObject({ state: 'held', hold_reason: 'quarantined', decided_by: 'dmarc' });
    const files = [1, 2].map((n) => ({ filename: `${n}.txt`, content: Buffer.from('x') }));
    expect(await settledMail({ files })).toMatchObject({ state: 'held', hold_reason: 'quarantined', decided_by: 'attachments' });
  });

  it('hold while the inbox is paused, and let go when it is not', async () => {
    await set({ status: 'paused' });
    const { id, hold_reason } = await settledMail();
    expect(hold_reason).toBe('inbox_paused');
    expect(await t.releaseDue()).toBe(0);
    await set({ status: 'active' });
    expect(await t.releaseDue()).toBe(1);
    const released = await t.evaluated(id);
    expect(released.state).toBe('accepted');
    expect(released.trace.filter(({ kind }) => kind === 'auto_release')).toHaveLength(1);
    expect(released.trace.filter(({ stage_id }) => stage_id === 'size').map(({ outcome }) => outcome)).toEqual(['passed', 'skipped']);
  });

  it('hold what is kept no longer for ever', async () => {
    await set({ status: 'paused' });
    const [expired, kept] = [(await settledMail()).id, (await settledMail()).id];
    await t.db.execute(sql('UPDATE inbox_messages SET raw_expires_at = now() WHERE id = $1'), [expired]);
    await set({ status: 'active' });
    expect(await t.releaseDue()).toBe(1);
    expect([(await t.message(expired)).state, (await t.evaluated(kept)).state]).toEqual(['held', 'accepted']);
  });

  const suspend = (at: string | null) => t.db.execute(sql('UPDATE organizations SET suspended_at = $2 WHERE id = $1'), [org.id, at]);

  it('hold while the organization is suspended', async () => {
    await suspend('2026-01-01');
    const { id, hold_reason } = await settledMail();
    expect([hold_reason, await t.releaseDue()]).toEqual(['org_suspended', 0]);
    await suspend(null);
    expect(await t.releaseDue()).toBe(1);
    expect((await t.evaluated(id)).state).toBe('accepted');
  });

  it('hold what has passed them, too, once the organization is suspended, and ask no further model', async () => {
    const labels = [{ label: 'more', action: 'continue' }];
    await t.rules(inbox, {
      stages: ['a', 'b'].map((id) => ({ id, kind: 'classifier', instruction: 'What is it?', labels, on_error: 'accept' })),
    });
    const asked = classifying(async (ask) => {
      const answer = await ask();
      await suspend('2026-01-01');
      return { ...answer, text: '{"label":"more","confidence":0.9}' };
    });
    const { hold_reason, decided_by, dispatched, trace } = await settledMail();
    expect([hold_reason, decided_by, dispatched, asked()]).toEqual(['org_suspended', 'inbox_status', null, 1]);
    expect(trace.slice(-2).map(({ stage_id, outcome }) => [stage_id, outcome])).toEqual([
      ['a', 'continue'],
      ['inbox_status', 'held'],
    ]);
  });

  it('hold what a human has released while the organization is suspended, and let it go unjudged to whom they said', async () => {
    const tagged = {
      id: 'all',
      kind: 'match',
      when: { field: 'size_bytes', op: 'gt', value: 0 },
      then: { action: 'continue', tags: ['kept'] },
    };
    await t.rules(inbox, { default: { action: 'quarantine' }, stages: [tagged] });
    const { id } = await settledMail();
    const other = await t.make('POST', `/api/orgs/${org.id}/agents`, { as: org.owner, body: { name: 'Other' } });
    await entitle(t, { max_queue_depth: 0 });
    await t.make('POST', `${inbox.path}/messages/${id}/release`, { as: org.owner, body: { target_kind: 'agent', target_id: other.id } });
    expect((await t.evaluated(id)).hold_reason).toBe('queue_full');
    await suspend('2026-01-01');
    await entitle(t, { max_queue_depth: -1 });
    expect([await t.releaseDue(), (await t.evaluated(id)).hold_reason]).toEqual([1, 'org_suspended']);
    await suspend(null);
    expect([await t.releaseDue(), await t.evaluated(id)]).toMatchObject([
      1,
      { state: 'accepted', decided_by: 'manual_release', tags: ['kept'] },
    ]);
    const { chat_id } = (await t.message(id)).dispatched!;
    expect(await t.db.query(sql('SELECT agent_id FROM chats WHERE id = $1'), [chat_id])).toEqual([{ agent_id: other.id }]);
  });

  it.each(['minute', 'hour'])('hold a sender that sends more than a %s allows, and no other', async (window) => {
    await set({ [`rate_limit_per_sender_per_${window}`]: 2 });
    const ids = await times(5, () => t.mail(inbox));
    const states = await Promise.all(ids.map(async (id) => (await t.evaluated(id)).state));
    expect(states.sort()).toEqual(['accepted', 'accepted', 'held', 'held', 'held']);
    expect((await settledMail({ sender: { address: 'bob@acme.com', name: null } })).state).toBe('accepted');
    expect(await t.releaseDue()).toBe(0);
    await later(inbox.id, window === 'minute' ? '61 seconds' : '61 minutes');
    expect(await t.releaseDue()).toBe(2);
    const now = await eventually(
      () => Promise.all(ids.map((id) => t.message(id))),
      (messages) => messages.every(({ state }) => state !== 'evaluating'),
    );
    const accepted = now
      .filter(({ state }) => state === 'accepted')
      .map(({ trace }) => trace.filter(({ kind }) => kind === 'auto_release').length);
    expect(accepted.sort()).toEqual([0, 0, 1, 1]);
  });

  it('hold what is more than a day allows, of the inbox and of the plan', async () => {
    await set({ rate_limit_messages_per_day: 2 });
    const ids = await times(4, () => t.mail(inbox));
    const all = await Promise.all(ids.map((id) => t.evaluated(id)));
    expect(all.map(({ hold_reason }) => hold_reason).sort()).toEqual(['rate_inbox', 'rate_inbox', null, null].sort());
    await set({ rate_limit_messages_per_day: null });
    await entitle(t, { intake_messages_per_day: 3 });
    expect(await t.releaseDue()).toBe(2);
    const now = await eventually(
      () => Promise.all(ids.map((id) => t.message(id))),
      (messages) => messages.every(({ state }) => state !== 'evaluating'),
    );
    expect(now.map(({ hold_reason }) => hold_reason).filter(Boolean)).toEqual(['plan_intake']);
    await entitle(t, { intake_messages_per_day: -1 });
  });

  it.each<[string, (limit: number | null) => Promise<unknown>]>([
    ['inbox', (limit) => set({ rate_limit_messages_per_day: limit })],
    ['plan', (limit) => override(t, org.id, { intake_messages_per_day: limit ?? -1 })],
  ])('count for the day of the %s what has passed while it had no limit', async (_, limitTo) => {
    await limitTo(4);
    for (const limit of [null, 4]) {
      expect((await settledMail()).state).toBe('accepted');
      await limitTo(limit);
      expect((await settledMail()).state).toBe('accepted');
    }
    expect((await settledMail()).state).toBe('held');
  });

  it('count a message once, however often it is evaluated', async () => {
    await set({ rate_limit_per_sender_per_hour: 5 });
    const { id, passed_at } = await settledMail();
    expect(passed_at).not.toBeNull();
    await t.db.execute(
      sql(`UPDATE inbox_messages SET state = 'held', verdict = 'quarantined', hold_reason = 'inbox_paused' WHERE id = $1`),
      [id],
    );
    await t.releaseDue();
    expect((await t.evaluated(id)).passed_at).toEqual(passed_at);
  });

  it('hold what the organization’s queue of turns has no room for', async () => {
    await entitle(t, { max_queue_depth: 0 });
    const { id, hold_reason, dispatched } = await settledMail();
    expect([hold_reason, dispatched, await t.releaseDue()]).toEqual(['queue_full', null, 0]);
    await entitle(t, { max_queue_depth: -1 });
    expect(await t.releaseDue()).toBe(1);
    expect((await t.evaluated(id)).state).toBe('accepted');
  });

  it('hold a sudden flood where that is wanted', async () => {
    await set({ spike_protection_enabled: true });
    await flood();
    const { id, hold_reason } = await settledMail();
    expect([hold_reason, await t.releaseDue()]).toEqual(['spike', 0]);
    await later(inbox.id, '11 minutes');
    expect(await t.releaseDue()).toBe(1);
    expect((await t.evaluated(id)).state).toBe('accepted');
  });

  it('let go what was held for a flood once that is not wanted any more', async () => {
    await set({ spike_protection_enabled: true });
    await flood();
    const { id, hold_reason } = await settledMail();
    expect([hold_reason, await t.releaseDue()]).toEqual(['spike', 0]);
    await set({ spike_protection_enabled: false });
    expect(await t.releaseDue()).toBe(1);
    expect((await t.evaluated(id)).state).toBe('accepted');
  });
});

describe('classifiers', () => {
  const stage = (more = {}) => ({
    id: 'triage',
    kind: 'classifier',
    instruction: 'What is it?',
    labels: [
      { label: 'spam', action: 'drop' },
      { label: 'order', action: 'accept', tags: ['order'] },
      { label: 'more', action: 'continue', tags: ['more'] },
    ],
    ...more,
  });
  const answering = (label: string, confidence = 0.9) => ({ body_text: `\`\`\`json\n${JSON.stringify({ label, confidence })}\n\`\`\`` });
  const receipts = () =>
    t.db.query(
      sql<{ message_id: string }>(`SELECT message_id FROM inference_receipts WHERE org_id = $1 AND feature = 'intake_classifier'`),
      [org.id],
    );

  /** Calls of the day. */
  const counted = async () =>
    (
      await t.db.query(sql<{ n: number }>(`SELECT sum(n)::int AS n FROM intake_counts WHERE of = $1 AND what = 'classifier_calls'`), [
        inbox.id,
      ])
    )[0].n;

  it('are asked once, metered, and decide by their label', async () => {
    await t.rules(inbox, { stages: [stage()] });
    const dropped = await settledMail(answering('spam'));
    expect(dropped).toMatchObject({ state: 'dropped', decided_by: 'triage' });
    expect(dropped.trace.at(-1)).toMatchObject({
      kind: 'classifier',
      outcome: 'drop',
      classifier: { label: 'spam', confidence: 0.9, model: 'mock' },
    });
    expect(await receipts()).toEqual([{ message_id: dropped.id }]);
    expect(await settledMail(answering('order'))).toMatchObject({ state: 'accepted', tags: ['order'] });
  });

  it.each([
    ['once', 1, 'accepted', 'dispatched'],
    ['for good', 5, 'failed', 'failed'],
  ])('are asked once where a handler cannot be begun %s', async (_, broken, state, outcome) => {
    const later = { id: 'later', kind: 'match', when: { field: 'subject', op: 'exists' }, then: { action: 'continue', tags: ['later'] } };
    await t.rules(inbox, { stages: [stage({ id: 'first' }), stage(), later] });
    await set({ rate_limit_classifier_calls_per_day: 20 });
    breakStarts(broken);
    const id = await t.mail(inbox, answering('more'));
    for (let n = 1; n <= Math.min(broken, 4); n++) await tryAgain(id, n);
    const { trace, ...message } = await t.evaluated(id);
    expect(message).toMatchObject({ state, verdict: 'accepted', decided_by: 'default', tags: ['more', 'later'] });
    expect(trace.slice(GATES.length).map((row) => [row.stage_id, row.outcome])).toEqual([
      ...['first', 'triage', 'later'].map((of) => [of, 'continue']),
      ['default', 'accept'],
      ['dispatch', outcome],
    ]);
    expect([(await receipts()).length, await counted()]).toEqual([2, 2]);
  });

  it('that accept are asked once where the handler cannot be begun at first', async () => {
    await t.rules(inbox, { stages: [stage()] });
    await set({ rate_limit_classifier_calls_per_day: 20 });
    breakStarts(1);
    const id = await t.mail(inbox, answering('order'));
    await tryAgain(id, 1);
    expect(await t.evaluated(id)).toMatchObject({ state: 'accepted', decided_by: 'triage', tags: ['order'] });
    expect([(await receipts()).length, await counted()]).toEqual([1, 1]);
  });

  it('go on to the next stage, and another classifier', async () => {
    await t.rules(inbox, { stages: [stage({ id: 'first' }), stage({ id: 'second', labels: [{ label: 'more', action: 'quarantine' }] })] });
    const held = await settledMail(answering('more'));
    expect(held).toMatchObject({ state: 'held', decided_by: 'second', tags: ['more'] });
    expect(held.trace.filter(({ kind }) => kind === 'classifier').map(({ stage_id }) => stage_id)).toEqual(['first', 'second']);
    expect(await receipts()).toHaveLength(2);
  });

  it('that are not sure, or say what is no label, do as the rule says', async () => {
    // A model of the organization's own, for which it has no key.
    const route_id = await addRoute(t, `own-${org.id}`, { owner_org_id: org.id });
    await addModel(t, 'keyless', { provider: 'own', route_id, owner_org_id: org.id });
    await t.rules(inbox, { stages: [stage({ model: 'mock', min_confidence: 0.95, below: 'quarantine', on_error: 'hold' })] });
    expect(await settledMail(answering('spam'))).toMatchObject({ state: 'held', hold_reason: 'low_confidence' });
    await t.rules(inbox, { stages: [stage({ model: 'keyless', on_error: 'accept' })] });
    expect(await settledMail(answering('spam'))).toMatchObject({ state: 'accepted', decided_by: 'triage' });
  });

  it('that say too much are asked once more, and paid for both answers', async () => {
    await t.rules(inbox, { stages: [stage({ on_error: 'hold' })] });
    const { body_text } = answering('spam');
    const { trace, ...message } = await settledMail({ body_text: body_text.replace('{', `{${' '.repeat(3_000)}`) });
    expect(message).toMatchObject({ state: 'held', hold_reason: 'classifier_error' });
    expect([trace.at(-1)!.classifier, await receipts(), await counted()]).toMatchObject([
      { label: null, calls: 2, cost_usd: expect.any(String) as string },
      [{ message_id: message.id }, { message_id: message.id }],
      2,
    ]);
  });

  it.each([
    ['replay', 'first', 2],
    ['terminate', 'first', 1],
    ['replay', 'second', 2],
  ])('that have answered when a %s comes, before the %s call is over, are paid for and hold nothing', async (action, which, paid) => {
    await withRateCard(t);
    await withCredits(t, org.id, { granted: '100' });
    await t.rules(inbox, { stages: [stage()] });
    classifying(async (ask, n, signal) => {
      const result = await ask();
      if (which === 'second' && n === 1) return { ...result, text: 'What?' };
      if (n !== (which === 'first' ? 1 : 2)) return result;
      const id = await mailed;
      // Notices it while it is asked a second time.
      if (n === 2) t.get(RunLeases).stop(id);
      await t.make('POST', `${inbox.path}/messages/${id}/${action}`, { as: org.owner });
      signal.throwIfAborted();
      return result;
    });
    const mailed = t.mail(inbox, answering('spam'));
    expect(await eventually(receipts, (all) => all.length >= paid)).toHaveLength(paid);
    expect(await t.evaluated(await mailed)).toMatchObject({ state: 'dropped', decided_by: action === 'replay' ? 'triage' : null });
    expect(
      await eventually(
        () =>
          t.db.query(
            sql(
              `SELECT work FROM call_holds h WHERE org_id = $1 AND NOT EXISTS (SELECT FROM inference_receipts r WHERE r.id = h.receipt_id)`,
            ),
            [org.id],
          ),
        (held) => held.length === 0,
      ),
    ).toEqual([]);
  });

  it('are counted before they are asked, and no more of them than the day allows', async () => {
    await t.rules(inbox, { stages: [stage()] });
    // It had no limit then.
    await settledMail(answering('spam'));
    await set({ rate_limit_classifier_calls_per_day: 4 });
    const ids = await times(8, () => t.mail(inbox, answering('spam')));
    const all = await Promise.all(ids.map((id) => t.evaluated(id)));
    expect(all.filter(({ state }) => state === 'dropped')).toHaveLength(3);
    expect(all.filter(({ hold_reason }) => hold_reason === 'classifier_quota')).toHaveLength(5);
    expect(await receipts()).toHaveLength(4);
    expect(await t.releaseDue()).toBe(0);
    await set({ rate_limit_classifier_calls_per_day: 5 });
    expect(await t.releaseDue()).toBe(1);
  });
});

it('a message whose sender has a long name in another script counts for its rates', async () => {
  await t.rules(inbox, { stages: [], default: { action: 'drop' } });
  await set({ rate_limit_per_sender_per_hour: 1 });
  // Of no two characters alike: what repeats itself is stored compressed.
  const named = (from: number) => Array.from({ length: 1_000 }, (_, i) => String.fromCodePoint(from + i * 7)).join('');
  const from = async (address: string) => t.evaluated(await t.hook(inbox, { sender: { address, name: null } }));
  const [ours, theirs] = [named(0x4e00), named(0x4e01)];
  expect([await from(ours), await from(theirs), await from(ours)]).toMatchObject([
    { state: 'dropped', sender_address: ours },
    { state: 'dropped' },
    { state: 'held', hold_reason: 'rate_sender' },
  ]);
});

describe('a classifier that gives no label', () => {
  const RULES = {
    stages: [{ id: 'a', kind: 'classifier', instruction: 'What is it?', labels: [{ label: 'spam', action: 'drop' }], on_error: 'hold' }],
  };
  const calls = async () =>
    (await t.db.query(sql<{ n: number }>(`SELECT n FROM intake_counts WHERE of = $1 AND what = 'classifier_calls'`), [inbox.id]))[0].n;

  it.each([
    [3, [2, 3]],
    [2, [2, 2]],
  ])('is asked twice, where %s calls a day have room for that', async (limit, counted) => {
    const asked = classifying(async (ask) => ({ ...(await ask()), text: 'What?' }));
    await t.rules(inbox, RULES);
    await set({ rate_limit_classifier_calls_per_day: limit });
    const after: number[] = [];
    for (const hold_reason of ['classifier_error', limit > 2 ? 'classifier_error' : 'classifier_quota']) {
      expect(await settledMail()).toMatchObject({ hold_reason, decided_by: 'a' });
      after.push(await calls());
    }
    expect([after, asked()]).toEqual([counted, counted[1]]);
  });
});

describe('threads', () => {
  const first = async () => {
    const message = await settledMail({ message_id: 'm1@acme.com', participants: ['ann@acme.com', 'carl@acme.com'] });
    await t.settled(org, message.dispatched!.chat_id, 1);
    return message.dispatched!.chat_id;
  };
  const answer = (from: string, more = {}) =>
    settledMail({ sender: { address: from, name: null }, references: ['nobody@x', 'm1@acme.com'], participants: [from], ...more });

  it('join the chat of what they answer, if their sender took part in it', async () => {
    const chat = await first();
    expect((await answer('carl@acme.com')).dispatched!.chat_id).toBe(chat);
    expect((await answer('eve@evil.com')).dispatched!.chat_id).not.toBe(chat);
  });

  it('are of mails, or of webhooks, whatever the one says that names the other', async () => {
    const webhook = async (message: object) => (await t.evaluated(await t.hook(inbox, message))).dispatched!.chat_id;
    const numbered = { sender: { address: 'ann@acme.com', name: null }, references: ['1001'] };
    const chat = await webhook(numbered);
    expect((await answer('ann@acme.com', { references: ['1001'] })).dispatched!.chat_id).not.toBe(chat);
    expect(await webhook(numbered)).toBe(chat);
    const mails = await first();
    expect(await webhook({ references: ['m1@acme.com'] })).not.toBe(mails);
  });

  it('are joined by no mail that DMARC fails, whoever it says has sent it', async () => {
    const chat = await first();
    const auth = { spf: 'fail', dkim: 'fail', dmarc: 'fail' };
    expect((await answer('ann@acme.com', { auth, reply_to: 'eve@evil.com' })).dispatched!.chat_id).not.toBe(chat);
    expect((await answer('ann@acme.com', { auth: { ...auth, dmarc: 'none' } })).dispatched!.chat_id).toBe(chat);
  });

  it('begin anew where the chat is closed, or another agent is meant', async () => {
    const chat = await first();
    const other = await t.make('POST', `/api/orgs/${org.id}/agents`, { as: org.owner, body: { name: 'Other' } });
    await set({ target_kind: 'agent', target_id: other.id });
    expect((await answer('ann@acme.com')).dispatched!.chat_id).not.toBe(chat);
    await set({ target_kind: 'agent', target_id: org.agentId });
    await t.call('POST', `${org.path}/${chat}/terminate`, { as: org.owner });
    expect((await answer('ann@acme.com')).dispatched!.chat_id).not.toBe(chat);
  });
});
