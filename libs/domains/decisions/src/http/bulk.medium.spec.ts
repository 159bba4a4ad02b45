import { sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { Like } from 'typeorm';
import { uuidv7 } from 'uuidv7';
import {
  aChat,
  aDecision,
  anAgent,
  changed,
  DECISIONS,
  inBulk,
  review,
  rowsOf,
  someDecisions,
  type BulkAction,
  type TestChat,
} from '../testing/decisions';

const t = testService(DECISIONS);
let chat: TestChat;
beforeEach(async () => {
  chat = await aChat(t);
});

const ask = (action: BulkAction, selection: object) => inBulk(t, chat.agent, action, selection);
const bulk = async (action: BulkAction, selection: object) => (await ask(action, selection)).body;
const rows = () => rowsOf(t, chat);

describe('archiving', () => {
  it('takes ids, there and back, and leaves what is so already as it is', async () => {
    const ids = await someDecisions(t, chat, 3);
    expect(await bulk('archive', { decision_ids: [ids[0]] })).toEqual(changed(1));
    const [first] = await rows();
    const again = [ids[0], ids[1], ids[1], ids[0].toUpperCase(), uuidv7()];
    expect(await bulk('archive', { decision_ids: again })).toEqual(changed(1, 2));
    const now = await rows();
    expect(now.map((d) => d.archived_at !== null)).toEqual([true, true, false]);
    expect(now[0].archived_at).toEqual(first.archived_at);
    expect(await bulk('archive', { decision_ids: [] })).toEqual(changed(0));
    expect(await bulk('unarchive', { decision_ids: ids })).toEqual(changed(2, 3));
    expect((await rows()).map((d) => d.archived_at)).toEqual([null, null, null]);
  });

  it('takes a filter; an empty one means all that is live, and the way back all that is archived', async () => {
    const acts = await someDecisions(t, chat, 2);
    await someDecisions(t, chat, 3, { kind: 'no_act', deviation: true });
    await aDecision(t, chat, { kind: 'escalate', determination: true });
    await review(t, chat, acts[0], { review_status: 'disputed' });
    const steps: [BulkAction, object, ReturnType<typeof changed>][] = [
      ['archive', { kind: 'no_act' }, changed(3)],
      ['archive', { review_status: 'disputed' }, changed(1)],
      ['archive', { archived: true }, changed(0, 4)],
      ['archive', { deviation: true }, changed(0)],
      ['archive', { kind: null, determination: true, deviation: false }, changed(1)],
      ['archive', {}, changed(1)],
      ['unarchive', { archived: false }, changed(0)],
      ['unarchive', { determination: false, kind: 'no_act' }, changed(3)],
      ['unarchive', {}, changed(3)],
    ];
    for (const [action, filter, body] of steps)
      expect([filter, await ask(action, { filter })]).toMatchObject([filter, { status: 200, body }]);
    // What was thought of them has not changed on the way.
    const [disputed, ...others] = await rows();
    expect(disputed).toMatchObject({ review_status: 'disputed', archived_at: null });
    expect(others).toEqual(Array(5).fill(expect.objectContaining({ review_status: 'unreviewed', archived_at: null })));
  });

  it('reaches all that a filter finds, however much it is', async () => {
    const id = await aDecision(t, chat);
    await t.db.execute(
      sql(`INSERT INTO decisions (id, org_id, chat_id, agent_id, agent_revision_id, turn_id, tool_call_id, kind, summary, basis)
       SELECT gen_random_uuid(), d.org_id, d.chat_id, d.agent_id, d.agent_revision_id, d.turn_id, 'more ' || i, d.kind, d.summary, d.basis FROM decisions d, generate_series(1, 10500) i WHERE d.id = $1`),
      [id],
    );
    expect(await bulk('archive', { filter: {} })).toEqual(changed(10_501));
    expect(await bulk('archive', { filter: { archived: true } })).toEqual(changed(0, 10_501));
    expect(await bulk('unarchive', { filter: { kind: 'act' } })).toEqual(changed(10_501));
    expect((await rows()).filter((d) => d.archived_at !== null)).toEqual([]);
  });

  it('keeps to its agent', async () => {
    const elsewhere = await aDecision(t, await aChat(t, await anAgent(t, chat.org)));
    for (const selection of [{ decision_ids: [elsewhere] }, { filter: {} }]) expect(await bulk('archive', selection)).toEqual(changed(0));
  });
});

it('agreeing touches only what is unreviewed and live', async () => {
  const ids = await someDecisions(t, chat, 5);
  await review(t, chat, ids[0], { review_status: 'disputed' });
  await review(t, chat, ids[1], { review_status: 'reverted', review_note: 'undone' });
  await bulk('archive', { decision_ids: [ids[2]] });
  expect(await bulk('review', { decision_ids: ids.slice(0, 4) })).toEqual(changed(1, 4));
  expect(await bulk('review', { filter: { archived: true } })).toEqual(changed(0, 1));
  expect(await bulk('review', { filter: { review_status: 'unreviewed' } })).toEqual(changed(1));
  expect(await bulk('review', { filter: {} })).toEqual(changed(0));
  const me = chat.org.owner.id;
  expect((await rows()).map((d) => [d.review_status, d.reviewed_by])).toEqual([
    ['disputed', me],
    ['reverted', me],
    ['unreviewed', null],
    ['agreed', me],
    ['agreed', me],
  ]);
});

describe('what is refused', () => {
  const many = Array.from({ length: 501 }, () => uuidv7());

  it.each(['archive', 'unarchive', 'review'] as const)('by %s', async (action) => {
    const id = await aDecision(t, chat);
    const both = { code: 'exactly_one_required', detail: [{ type: 'semantic.exactly_one_required' }] };
    for (const selection of [{}, { decision_ids: null, filter: null }, { decision_ids: [id], filter: {} }])
      expect(await ask(action, selection)).toMatchObject({ status: 422, body: both });
    for (const wrong of [
      { decision_ids: ['x'] },
      { decision_ids: id },
      { filter: [] },
      { filter: { kind: 'maybe' } },
      { filter: { review_status: 'open' } },
      { filter: { deviation: 'yes' } },
      { filter: { kind: 'act\0' } },
    ])
      expect([wrong, await ask(action, wrong)]).toMatchObject([wrong, { status: 422, body: { code: 'validation_error' } }]);
    const long = { code: 'validation_error', detail: [{ loc: ['body', 'decision_ids'], type: 'too_long' }] };
    expect(await ask(action, { decision_ids: many })).toMatchObject({ status: 422, body: long });
    expect(await bulk(action, { decision_ids: many.slice(1) })).toEqual(changed(0));
    expect(await rows()).toMatchObject([{ review_status: 'unreviewed', archived_at: null }]);
  });

  it.each(['disputed', 'unreviewed', 'AGREED', null])('agreeing in the word %s', async (review_status) =>
    expect((await bulk('review', { filter: {}, review_status })).detail[0].loc).toEqual(['body', 'review_status']),
  );

  it.each(['agreed', 'disputed', 'reverted'])('agreeing to what is %s', async (review_status) =>
    expect((await bulk('review', { filter: { review_status } })).detail).toEqual([
      { loc: ['body', 'filter', 'review_status'], msg: expect.any(String), type: 'enum' },
    ]),
  );
});

it('the audit log has one line for each call that changed something', async () => {
  const ids = await someDecisions(t, chat, 3);
  await bulk('archive', { decision_ids: [ids[1], ids[0], uuidv7()] });
  await bulk('archive', { decision_ids: [ids[0]] });
  await bulk('unarchive', { filter: {} });
  await bulk('review', { filter: { kind: 'act' } });
  const target = { actor_id: chat.org.owner.id, target_id: chat.agent.id };
  const reviewed = { archived: false, review_status: 'unreviewed', kind: 'act' };
  expect(await t.audit({ org_id: chat.org.id, action: Like('decisions.%') })).toMatchObject([
    { action: 'decisions.archived', ...target, metadata: { updated: 2, decision_ids: [ids[0], ids[1]] } },
    { action: 'decisions.unarchived', ...target, metadata: { updated: 2, filter: { archived: true } } },
    { action: 'decisions.agreed', ...target, metadata: { updated: 3, filter: reviewed } },
  ]);
});

describe('at the same time', () => {
  const sumOf = (counts: { updated: number }[]) => counts.reduce((sum, { updated }) => sum + updated, 0);
  const standing = async (status: string) => (await rows()).filter((d) => d.review_status === status);

  it('every change is counted once, whoever comes first', async () => {
    const ids = await someDecisions(t, chat, 60);
    const backwards = [...ids].reverse();
    const selections = [
      { decision_ids: ids },
      { decision_ids: backwards },
      { filter: {} },
      { filter: { kind: 'act' } },
      { decision_ids: backwards.slice(0, 40) },
    ];
    const answers = await Promise.all(selections.map((selection) => bulk('archive', selection)));
    for (const { updated, unchanged, matched } of answers) expect(updated + unchanged).toBe(matched);
    const logged = await t.audit({ org_id: chat.org.id, action: 'decisions.archived' });
    expect([sumOf(answers), sumOf(logged.map(({ metadata }) => metadata as { updated: number }))]).toEqual([60, 60]);
  });

  it('a review by hand is never overwritten by agreeing to all', async () => {
    const ids = await someDecisions(t, chat, 40);
    const disputes = ids.filter((_, i) => i % 2).map((id) => review(t, chat, id, { review_status: 'disputed', should_have: 'Ask.' }));
    const answers = await Promise.all([ask('review', { filter: {} }), ask('review', { decision_ids: ids }), ...disputes]);
    expect(answers.map((a) => a.status)).toEqual(Array(22).fill(200));
    // Whether the dispute came before or after, it is what stands.
    expect([(await standing('disputed')).length, (await standing('agreed')).length]).toEqual([20, 20]);
    const agreedFirst = (await t.audit({ org_id: chat.org.id, action: 'decision.reviewed' })).filter((a) => a.metadata.from === 'agreed');
    expect(sumOf([answers[0].body, answers[1].body])).toBe(20 + agreedFirst.length);
  });

  it('what is archived meanwhile is not agreed to', async () => {
    await someDecisions(t, chat, 40);
    const [agreed, archived] = await Promise.all([
      bulk('review', { filter: {} }),
      bulk('archive', { filter: { review_status: 'unreviewed' } }),
    ]);
    expect(await standing('agreed')).toHaveLength(agreed.updated);
    expect((await rows()).filter((d) => d.archived_at !== null)).toHaveLength(archived.updated);
    // One of them had every row: they lock in the same order, and the second finds none that is still as it asked for.
    expect(sumOf([agreed, archived])).toBe(40);
  });
});
