import { PlanEntitlements } from '@aps/billing';
import { addCredits, override, withCredits, withRateCard } from '@aps/billing/testing';
import type { TestOrg } from '@aps/chats/testing';
import { Subscription } from '@aps/entities';
import { eventually, sql } from '@aps/platform/testing';
import { ProcessesHttpModule } from '@aps/processes/http';
import { ProcessesJobsModule } from '@aps/processes/jobs';
import { aProcess, aRevision } from '@aps/processes/testing';
import { inboxesService, type TestInbox } from '../testing';
import { EvaluationRepository } from './evaluation.repository';

const t = inboxesService({}, [ProcessesHttpModule, ProcessesJobsModule], ['process-runs']);
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org);
});
// What one spec leaves behind is let go in no other.
afterEach(() => t.db.execute(sql(`UPDATE inbox_messages SET raw_available = false WHERE state = 'held'`)));

const DROP = { stages: [], default: { action: 'drop' } };
const set = (columns: Record<string, unknown>, of = inbox) => t.call('PATCH', of.path, { as: org.owner, body: columns });
const settled = (ids: string[]) => Promise.all(ids.map((id) => t.evaluated(id)));
const heldFor = async (ids: string[]) => (await settled(ids)).map(({ hold_reason }) => hold_reason);
/** Mails whose evaluation has ended, one after another. */
const mails = async (n: number, of = inbox, message = {}): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < n; i++) {
    ids.push(await t.mail(of, message));
    await t.evaluated(ids[i]);
  }
  return ids;
};
/** Held messages, as many as there would be after days. */
const flood = (n: number, reason: string, sender: string, of = inbox) =>
  t.db.execute(
    sql(`WITH m AS (
           INSERT INTO inbox_messages (id, org_id, inbox_id, channel_id, channel_kind, sender_key, size_bytes, status, state, verdict, hold_reason, decided_by, raw_expires_at, received_at)
           SELECT gen_random_uuid(), org_id, id, gen_random_uuid(), 'email', $3, 1, 'settled', 'held', 'quarantined', $2, 'gate', now() + interval '1 day', now() - interval '1 hour'
           FROM inboxes, generate_series(1, $4::int) WHERE id = $1 RETURNING id, org_id)
         INSERT INTO inbox_envelopes (message_id, org_id, headers, body_text) SELECT id, org_id, '{}', 'x' FROM m`),
    [of.id, reason, sender, n],
  );

describe('messages that are let go', () => {
  it('are as many as have places in the queue of turns', async () => {
    await override(t, org.id, { max_queue_depth: 0 });
    const ids = await mails(5);
    await override(t, org.id, { max_queue_depth: 2 });
    expect(await t.releaseDue()).toBe(2);
    expect((await heldFor(ids)).slice(0, 2)).toEqual([null, null]);
    await override(t, org.id, { max_queue_depth: -1 });
    expect(await t.releaseDue()).toBe(3);
  });

  it('are those whose process takes another run of their key', async () => {
    const of = { id: org.id, path: `/api/orgs/${org.id}`, owner: org.owner };
    const process = (await aProcess(t, of)).id as string;
    const { id } = await aRevision(t, of, process, {
      schema_version: 1,
      concurrency: { key: '${envelope.message.subject}', limit: 1, strategy: 'reject' },
      steps: [{ id: 'go', kind: 'wait', event: 'go' }],
    });
    await t.make('POST', `${of.path}/processes/${process}/revisions/${id as string}/deploy`, { as: org.owner });
    await set({ target_kind: 'process', target_id: process });
    const a = await mails(3, inbox, { subject: 'a' });
    const b = await mails(2, inbox, { subject: 'b' });
    const states = () => heldFor([...a, ...b]);
    expect(await states()).toEqual([null, 'queue_full', 'queue_full', null, 'queue_full']);
    expect((await t.message(a[1])).trace.at(-1)).toMatchObject({
      outcome: 'held',
      detail: { reason: 'queue_full', process_id: process, concurrency_key: 'a' },
    });
    expect(await t.releaseDue()).toBe(0);
    const { run_id } = (await t.message(b[0])).dispatched as unknown as { run_id: string };
    await t.make('POST', `${of.path}/processes/${process}/runs/${run_id}/cancel`, { as: org.owner });
    await eventually(
      () => t.db.query(sql<{ over: boolean }>('SELECT finished_at IS NOT NULL AS over FROM process_runs WHERE id = $1'), [run_id]),
      ([{ over }]) => over,
    );
    // However many of a key that is still full stand before it.
    await flood(600, 'queue_full', 'many');
    await t.db.execute(sql(`UPDATE inbox_messages SET wait = (SELECT wait FROM inbox_messages WHERE id = $1) WHERE sender_key = 'many'`), [
      a[1],
    ]);
    expect(await t.releaseDue()).toBe(1);
    expect(await states()).toEqual([null, 'queue_full', 'queue_full', null, null]);
  });

  it('are those that there are enough credits for, and a call that is not made is not counted', async () => {
    await withRateCard(t);
    await withCredits(t, org.id, { granted: '0.3' });
    await set({ rate_limit_classifier_calls_per_day: 10 });
    const labels = [{ label: 'spam', action: 'drop' }];
    await t.rules(inbox, { stages: [{ id: 'triage', kind: 'classifier', instruction: 'What is it?', model: 'mock', labels }] });
    const ids = await mails(3);
    expect(await heldFor(ids)).toEqual(['credits_exhausted', 'credits_exhausted', 'credits_exhausted']);
    const credits = Number((await t.message(ids[0])).trace.at(-1)!.detail!.credits);
    expect(credits).toBeGreaterThan(0.3);
    const counted = () => t.db.query(sql(`SELECT n FROM intake_counts WHERE of = $1 AND what = 'classifier_calls' AND n > 0`), [inbox.id]);
    expect([await t.releaseDue(), await counted()]).toEqual([0, []]);
    await addCredits(t, org.id, String(credits * 1.2));
    expect(await t.releaseDue()).toBe(1);
    expect(await heldFor(ids)).toEqual([null, 'credits_exhausted', 'credits_exhausted']);
    // No call is made for who has no subscription that counts, whatever is left.
    await addCredits(t, org.id, '100');
    await t.db.manager.update(Subscription, { org_id: org.id }, { status: 'canceled' });
    for (const entitlements of t.all(PlanEntitlements)) entitlements.drop(org.id);
    expect(await t.releaseDue()).toBe(0);
  });

  it('wait for none that needs more credits than there are, which goes first once there are as many', async () => {
    await withRateCard(t);
    await withCredits(t, org.id, { granted: '0.01' });
    const labels = [{ label: 'spam', action: 'drop' }];
    await t.rules(inbox, { stages: [{ id: 'triage', kind: 'classifier', instruction: 'What is it?', model: 'mock', labels }] });
    const ids = await mails(3);
    const credits = Number((await t.message(ids[2])).trace.at(-1)!.detail!.credits);
    await t.db.execute(sql(`UPDATE inbox_messages SET wait = jsonb_set(wait, '{held_for,credits}', to_jsonb($2::text)) WHERE id = $1`), [
      ids[0],
      String(credits * 3),
    ]);
    const add = (calls: number) => addCredits(t, org.id, (credits * calls).toFixed(6));
    await add(1.2);
    expect([await t.releaseDue(), await heldFor(ids)]).toEqual([1, ['credits_exhausted', null, 'credits_exhausted']]);
    // Beside what the one has cost, enough for it, and too little for another.
    await add(2.5);
    expect([await t.releaseDue(), await heldFor(ids)]).toEqual([1, [null, null, 'credits_exhausted']]);
  });

  /** Two that are asked one after the other, the first of which answers. */
  const TWO = {
    stages: ['a', 'b'].map((id) => ({
      ...{ id, kind: 'classifier', instruction: 'What is it?', model: 'mock', on_error: 'accept' },
      labels: [{ label: 'more', action: 'continue' }],
    })),
    default: { action: 'drop' },
  };
  const MORE = { body_text: '```json\n{"label":"more","confidence":0.9}\n```' };

  it('are those that the day has room for with all of their calls', async () => {
    await t.rules(inbox, TWO);
    await set({ rate_limit_classifier_calls_per_day: 5 });
    const ids = await mails(4, inbox, MORE);
    expect(await heldFor(ids)).toEqual([null, null, 'classifier_quota', 'classifier_quota']);
    expect((await t.message(ids[2])).trace.at(-1)).toMatchObject({ stage_id: 'b', detail: { reason: 'classifier_quota', calls: 2 } });
    expect((await t.message(ids[3])).trace.at(-1)).toMatchObject({ stage_id: 'a', detail: { calls: 1 } });
    const diagnosed = async (id: string) => (await t.call('GET', `${inbox.path}/messages/${id}/diagnosis`, { as: org.owner })).body;
    await set({ rate_limit_classifier_calls_per_day: 6 });
    // Room for one call is kept for the older, which needs two.
    expect(await t.releaseDue()).toBe(0);
    expect((await diagnosed(ids[2])).blocked_by.until).toMatch(/T00:00:00.000Z$/);
    await set({ rate_limit_classifier_calls_per_day: 7 });
    expect([await t.releaseDue(), await heldFor(ids)]).toEqual([1, [null, null, null, 'classifier_quota']]);
    // What needs more than any day has keeps no other waiting.
    await t.db.execute(sql(`UPDATE inbox_messages SET wait = '{"held_for":{"calls":99}}' WHERE id = $1`), [ids[3]]);
    expect((await diagnosed(ids[3])).blocked_by.until).toBeNull();
    // However many they are.
    await flood(600, 'classifier_quota', 'many');
    await t.db.execute(sql(`UPDATE inbox_messages SET wait = '{"held_for":{"calls":99}}' WHERE sender_key = 'many'`));
    await set({ rate_limit_classifier_calls_per_day: 8 });
    const behind = await mails(1, inbox, MORE);
    expect(await heldFor(behind)).toEqual(['classifier_quota']);
    await set({ rate_limit_classifier_calls_per_day: 10 });
    expect([await t.releaseDue(), await heldFor(behind)]).toEqual([1, [null]]);
  });

  it('are those that there are enough credits for, with all of their calls', async () => {
    await withRateCard(t);
    await withCredits(t, org.id, { granted: '100' });
    await t.rules(inbox, TWO);
    const costOf = async (id: string) =>
      Number(
        (await t.evaluated(id)).trace.map(({ classifier }) => classifier as { cost_credits?: string } | null).find(Boolean)!.cost_credits,
      );
    const cost = await costOf(await t.mail(inbox, MORE));
    const poor = await t.org();
    const of = await t.inbox(poor);
    await withCredits(t, poor.id, { granted: '0.3' });
    await t.rules(of, TWO);
    const id = await t.mail(of, MORE);
    const wanted = async () => Number((await t.evaluated(id)).trace.at(-1)!.detail!.credits);
    const one = await wanted();
    const add = (credits: number) => addCredits(t, poor.id, credits.toFixed(6));
    await add(one - 0.3 + cost / 2);
    expect([await t.releaseDue(), await heldFor([id])]).toEqual([1, ['credits_exhausted']]);
    expect((await t.message(id)).decided_by).toBe('b');
    expect(await wanted()).toBeCloseTo(one + cost, 5);
    // Enough for either call.
    await add(cost * 0.75);
    expect(await t.releaseDue()).toBe(0);
    await add(cost);
    expect([await t.releaseDue(), await heldFor([id])]).toEqual([1, [null]]);
  });

  it('wait for the flood of no other sender', async () => {
    await t.rules(inbox, DROP);
    await set({ rate_limit_per_sender_per_hour: 1 });
    await t.evaluated(await t.mail(inbox));
    await flood(600, 'rate_sender', 'ann@acme.com');
    const bob = { sender: { address: 'bob@acme.com', name: null } };
    const ids = await mails(2, inbox, bob);
    expect(await heldFor(ids)).toEqual([null, 'rate_sender']);
    expect(await t.releaseDue()).toBe(0);
    await t.db.execute(sql(`UPDATE inbox_messages SET passed_at = passed_at - interval '2 hours' WHERE id = $1`), [ids[0]]);
    expect([await t.releaseDue(), await heldFor(ids)]).toEqual([1, [null, null]]);
  });

  it('are of all inboxes of an organization together no more than its plan takes, the oldest first', async () => {
    await override(t, org.id, { intake_messages_per_day: 1 });
    const all = [inbox, await t.inbox(org), await t.inbox(org)];
    for (const of of all) await t.rules(of, DROP);
    const ids: string[] = [];
    for (let i = 0; i < 9; i++) ids.push(...(await mails(1, all[2 - (i % 3)])));
    expect((await heldFor(ids)).filter(Boolean)).toHaveLength(8);
    await override(t, org.id, { intake_messages_per_day: 5 });
    const released = await Promise.all([t.releaseDue(), t.releaseDue(), t.releaseDue()]);
    expect(released.reduce((sum, n) => sum + n)).toBe(4);
    expect(await heldFor(ids)).toEqual([...Array<null>(5).fill(null), ...Array<string>(4).fill('plan_intake')]);
    expect((await settled(ids)).flatMap(({ trace }) => trace).filter(({ kind }) => kind === 'auto_release')).toHaveLength(4);
  });

  it('wait for no other organization', async () => {
    for (const each of [inbox, await t.inbox(await t.org())]) await flood(1, 'rate_inbox', 'ann@acme.com', each);
    jest.spyOn(t.get(EvaluationRepository), 'oldestHeld').mockRejectedValueOnce(new Error('unreadable'));
    await expect(t.releaseDue()).rejects.toThrow('unreadable');
    expect(await t.releaseDue()).toBe(1);
  });

  it('go by hundreds at once, each with its job and its event', async () => {
    await t.rules(inbox, DROP);
    await flood(300, 'rate_inbox', 'ann@acme.com');
    expect(await t.releaseDue()).toBe(300);
    const state = () =>
      t.db.query(
        sql<{ dropped: number; jobs: number; events: number }>(`
          SELECT count(*) FILTER (WHERE m.state = 'dropped')::int AS dropped, count(o.id)::int AS jobs,
                 (SELECT event_seq FROM inboxes WHERE id = $1) AS events FROM inbox_messages m LEFT JOIN outbox o ON o.id = m.id WHERE m.inbox_id = $1`),
        [inbox.id],
      );
    expect(await eventually(state, ([{ dropped }]) => dropped === 300)).toEqual([{ dropped: 300, jobs: 0, events: 600 }]);
  });
});
