import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule } from '@aps/billing';
import { override, withCredits } from '@aps/billing/testing';
import { InboxMessage, type HoldReason } from '@aps/entities';
import { InferenceModule } from '@aps/inference';
import { addModel } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { sql } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { InboxesHttpModule } from '.';

// Without workers, which would release what is held here.
const t = testService([...BASE_MODULES, AgentsHttpModule, BillingModule, InferenceModule, InboxesHttpModule]);
let org: TestTeam;
let inbox: { id: string; path: string };
beforeAll(() => addModel(t, 'test-model'));
beforeEach(async () => {
  org = await aTeam(t);
  const { id: target_id } = await t.make('POST', `${org.path}/agents`, { as: org.owner, body: { name: 'Clerk' } });
  const { id } = await t.make('POST', `${org.path}/inboxes`, {
    as: org.owner,
    body: { name: 'Orders', slug: 'orders', target_kind: 'agent', target_id },
  });
  inbox = { id: id as string, path: `${org.path}/inboxes/${id as string}` };
});

type Row = Partial<InboxMessage>;
const MINUTE = 60_000;
const ago = (ms: number) => new Date(t.db.now().getTime() - ms);
const put = (row: Row) =>
  t.insert(InboxMessage, {
    ...{ org_id: org.id, inbox_id: inbox.id, channel_id: uuidv7(), channel_kind: 'email', sender_key: 'ann', size_bytes: 10 },
    ...{
      status: 'settled',
      state: 'accepted',
      verdict: 'accepted',
      raw_expires_at: ago(-60 * MINUTE),
      finished_at: ago(0),
      decided_by: 'gate',
    },
    ...row,
  });
const held = (hold_reason: HoldReason, row: Row = {}) => put({ state: 'held', verdict: 'quarantined', hold_reason, ...row });
const passed = (sender_key: string, msAgo: number) => put({ sender_key, passed_at: ago(msAgo) });
const of = async (id: string, as = org.owner) => {
  const { status, body } = await t.call('GET', `${inbox.path}/messages/${id}/diagnosis`, { as });
  expect(status).toBe(200);
  return body as { blocked_by: { until: string | null; since: string } | null; next_action: string | null; allowed_actions: string[] };
};
const set = (columns: Record<string, unknown>) => t.call('PATCH', inbox.path, { as: org.owner, body: columns });
const counted = (what: string, ofWhat: string, n: number) =>
  t.db.execute(sql(`INSERT INTO intake_counts (org_id, of, what, day, n) VALUES ($1, $2, $3, (now() AT TIME ZONE 'UTC')::date, $4)`), [
    org.id,
    ofWhat,
    what,
    n,
  ]);
/** How far from now a time is, in seconds. */
const inSeconds = (time: string | null) => Math.round((new Date(time!).getTime() - t.db.now().getTime()) / 1_000);
const midnight = () => `${new Date(t.db.now().getTime() + 24 * 60 * MINUTE).toISOString().slice(0, 10)}T00:00:00.000Z`;

describe('the diagnosis of a held message', () => {
  it.each<[HoldReason, string, string]>([
    ['quarantined', 'admin', 'release'],
    ['stage_hold', 'admin', 'release'],
    ['low_confidence', 'admin', 'release'],
    ['classifier_error', 'admin', 'retry'],
  ])('%s waits for an administrator', async (reason, freed_by, next_action) => {
    const id = await held(reason);
    expect(await of(id)).toEqual({
      state: 'held',
      blocked_by: {
        kind: reason,
        since: expect.any(String) as string,
        ref: 'gate',
        until: null,
        freed_by,
        sentence: expect.any(String) as string,
      },
      ...{ lease: null, queue: null, last_turn: null, next_action, allowed_actions: ['retry', 'replay', 'terminate', 'release'] },
    });
    expect((await of(id, org.member)).allowed_actions).toEqual(['replay', 'terminate']);
  });

  it('says when the rates of its sender open', async () => {
    await set({ rate_limit_per_sender_per_minute: 2, rate_limit_per_sender_per_hour: 3 });
    const id = await held('rate_sender', { sender_key: 'bob' });
    for (const at of [10_000, 20_000]) await passed('bob', at);
    await passed('ann', 1_000);
    const { blocked_by: minute, next_action } = await of(id);
    expect(minute).toMatchObject({ kind: 'rate_sender', freed_by: 'itself' });
    expect([next_action, Math.abs(inSeconds(minute!.until) - 40) <= 20]).toEqual(['wait', true]);
    await passed('bob', 30 * MINUTE);
    expect(Math.abs(inSeconds((await of(id)).blocked_by!.until) - 30 * 60)).toBeLessThanOrEqual(60);
    await set({ rate_limit_per_sender_per_minute: null, rate_limit_per_sender_per_hour: null });
    expect(inSeconds((await of(id)).blocked_by!.until)).toBeLessThanOrEqual(0);
  });

  it('says when a flood is over', async () => {
    await set({ spike_protection_enabled: true });
    const id = await held('spike');
    for (let i = 0; i < 50; i++) await passed(`sender-${i}`, (i + 1) * 1_000);
    expect(Math.abs(inSeconds((await of(id)).blocked_by!.until) - 550)).toBeLessThanOrEqual(45);
    await set({ spike_protection_enabled: false });
    expect(inSeconds((await of(id)).blocked_by!.until)).toBeLessThanOrEqual(0);
  });

  it('says that a day is used up', async () => {
    await set({ rate_limit_messages_per_day: 1, rate_limit_classifier_calls_per_day: 1 });
    await counted('messages', inbox.id, 1);
    await counted('messages', '', 1);
    await counted('classifier_calls', inbox.id, 1);
    await override(t, org.id, { intake_messages_per_day: 1 });
    for (const reason of ['rate_inbox', 'plan_intake', 'classifier_quota'] as const)
      expect(await of(await held(reason))).toMatchObject({
        blocked_by: { kind: reason, freed_by: 'itself', until: midnight() },
        next_action: 'wait',
      });
  });

  it('says what has to be done to its inbox, and what to the organization', async () => {
    await set({ status: 'paused' });
    expect(await of(await held('inbox_paused'))).toMatchObject({
      blocked_by: { freed_by: 'member', until: null },
      next_action: 'activate',
    });
    await withCredits(t, org.id, {});
    expect(await of(await held('credits_exhausted'))).toMatchObject({
      blocked_by: { freed_by: 'admin', until: null },
      next_action: 'add_credits',
    });
    expect(await of(await held('queue_full'))).toMatchObject({ blocked_by: { freed_by: 'itself', until: null }, next_action: 'wait' });
    const id = await held('handler_missing');
    expect(await of(id)).toMatchObject({ blocked_by: { freed_by: 'admin' }, next_action: 'retry' });
    await set({ target_kind: null, target_id: null });
    expect(await of(id)).toMatchObject({ blocked_by: { freed_by: 'member', until: null }, next_action: 'set_target' });
  });

  it('says that what it was held for is over', async () => {
    const reasons = [
      'inbox_paused',
      'credits_exhausted',
      'org_suspended',
      'rate_inbox',
      'plan_intake',
      'classifier_quota',
      'spike',
    ] as const;
    for (const reason of reasons) {
      const { blocked_by, next_action } = await of(await held(reason));
      expect(blocked_by).toMatchObject({ kind: reason, freed_by: 'itself' });
      expect([reason, next_action, inSeconds(blocked_by!.until) <= 0]).toEqual([reason, 'wait', true]);
    }
  });

  it('says that it can be evaluated no more', async () => {
    expect(await of(await held('quarantined', { raw_expires_at: ago(1_000) }))).toMatchObject({
      blocked_by: { kind: 'quarantined', freed_by: null, until: null },
      next_action: null,
      allowed_actions: ['terminate'],
    });
  });
});

describe('the diagnosis of a message', () => {
  it('says who evaluates it, and what is before it', async () => {
    const under = { state: 'evaluating', verdict: null, decided_by: null, finished_at: null } as const;
    const running = await put({ ...under, status: 'running', lease_owner: 'w:1', lease_expires_at: ago(-10 * MINUTE), fence: '7' });
    expect(await of(running)).toMatchObject({
      ...{ state: 'evaluating', blocked_by: { kind: 'evaluation', ref: 'w:1', until: null, freed_by: 'itself' }, queue: null },
      ...{ lease: { worker: 'w:1', fence: '7' }, next_action: 'wait', allowed_actions: ['replay', 'terminate'] },
    });
    const resume_at = ago(-MINUTE).toISOString();
    const waiting = await put({ ...under, status: 'waiting', wait: { resume_at, tries: 1 } });
    expect(await of(waiting)).toMatchObject({ blocked_by: { kind: 'evaluation', until: resume_at }, lease: null, queue: null });
    const behind = await put({ ...under, status: 'waiting', wait: { resume_at, behind: 1 } });
    expect((await of(behind)).blocked_by).toMatchObject({ until: resume_at, sentence: 'It waits for an earlier mail of its thread.' });
    await put({ ...under, status: 'queued', dispatched_at: ago(90_000) });
    const queued = await put({ ...under, status: 'queued' });
    const { queue } = (await of(queued)) as unknown as { queue: { position: number; oldest_ahead_s: number } };
    expect([queue.position, queue.oldest_ahead_s >= 90]).toEqual([1, true]);
  });

  it('that is over has nothing in its way', async () => {
    expect(await of(await put({ state: 'dropped', verdict: 'dropped' }))).toMatchObject({ blocked_by: null, next_action: null });
    expect(await of(await put({ state: 'failed' }))).toMatchObject({ blocked_by: null, next_action: 'replay' });
  });
});
