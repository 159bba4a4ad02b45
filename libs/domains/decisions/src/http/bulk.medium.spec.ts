import { sql } from '@aps/platform/testing';
import { type TestTeam } from '@aps/orgs/testing';
import { Like } from 'typeorm';
import { testService } from '@aps/testing';
import { aChat, aDecision, aPlace, anAgent, DECISIONS, review, someDecisions, type TestAgent, type TestChat } from '../testing/decisions';

const t = testService(DECISIONS);
let org: TestTeam;
let agent: TestAgent;
let chat: TestChat;
beforeEach(async () => {
  ({ org, agent, chat } = await aPlace(t));
});

const UNKNOWN = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
const bulk = (action: string, body: Record<string, unknown>, as = org.owner) =>
  t.call('POST', `${agent.path}/${action}`, { as: as, body: { ...(action === 'review' && { review_status: 'agreed' }), ...body } });
const rows = () =>
  t.db.query(
    sql<{ id: string; review_status: string; archived_at: Date | null; reviewed_by: string | null }>(
      'SELECT id, review_status, archived_at, reviewed_by FROM decisions WHERE chat_id = $1 ORDER BY id',
    ),
    [chat.id],
  );

describe('archiving', () => {
  it('takes ids, and leaves what is archived as it is', async () => {
    const ids = await someDecisions(t, chat, 3);
    expect((await bulk('archive', { decision_ids: [ids[0]] })).body).toEqual({ updated: 1, matched: 1, unchanged: 0 });
    const [first] = await rows();
    expect((await bulk('archive', { decision_ids: [ids[0], ids[1], ids[1], ids[0].toUpperCase(), UNKNOWN] })).body).toEqual({
      updated: 1,
      matched: 2,
      unchanged: 1,
    });
    const now = await rows();
    expect(now.map((d) => d.archived_at !== null)).toEqual([true, true, false]);
    expect(now[0].archived_at).toEqual(first.archived_at);
    expect((await bulk('archive', { decision_ids: [] })).body).toEqual({ updated: 0, matched: 0, unchanged: 0 });
  });

  it('takes a filter; an empty one means all that is live, and the way back all that is archived', async () => {
    const acts = await someDecisions(t, chat, 2);
    await someDecisions(t, chat, 3, { kind: 'no_act', deviation: true });
    await aDecision(t, chat, { kind: 'escalate', determination: true });
    await review(t, chat, acts[0], { review_status: 'disputed' });
    const answers = [
      await bulk('archive', { filter: { kind: 'no_act' } }),
      await bulk('archive', { filter: { review_status: 'disputed' } }),
      await bulk('archive', { filter: { archived: true } }),
      await bulk('archive', { filter: { deviation: true } }),
      await bulk('archive', { filter: { kind: null, determination: true, deviation: false } }),
      await bulk('archive', { filter: {} }),
      await bulk('unarchive', { filter: { archived: false } }),
      await bulk('unarchive', { filter: { determination: false, kind: 'no_act' } }),
      await bulk('unarchive', { filter: {} }),
    ];
    expect(answers.map(({ status, body }) => [status, body.updated, body.matched, body.unchanged])).toEqual([
      [200, 3, 3, 0],
      [200, 1, 1, 0],
      [200, 0, 4, 4],
      [200, 0, 0, 0],
      [200, 1, 1, 0],
      [200, 1, 1, 0],
      [200, 0, 0, 0],
      [200, 3, 3, 0],
      [200, 3, 3, 0],
    ]);
    // What was thought of them has not changed on the way.
    expect((await rows()).map((d) => [d.review_status, d.archived_at])).toEqual([
      ['disputed', null],
      ...Array.from({ length: 5 }, () => ['unreviewed', null]),
    ]);
  });

  it('takes back by ids', async () => {
    const ids = await someDecisions(t, chat, 2);
    await bulk('archive', { decision_ids: [ids[0]] });
    expect((await bulk('unarchive', { decision_ids: ids })).body).toEqual({ updated: 1, matched: 2, unchanged: 1 });
    expect((await rows()).map((d) => d.archived_at)).toEqual([null, null]);
  });

  it('reaches all that a filter finds, however much it is', async () => {
    const id = await aDecision(t, chat);
    await t.db.execute(
      sql(`INSERT INTO decisions (id, org_id, chat_id, agent_id, agent_revision_id, turn_id, tool_call_id, kind, summary, basis)
       SELECT gen_random_uuid(), d.org_id, d.chat_id, d.agent_id, d.agent_revision_id, d.turn_id, 'more ' || i, d.kind, d.summary, d.basis FROM decisions d, generate_series(1, 10500) i WHERE d.id = $1`),
      [id],
    );
    expect((await bulk('archive', { filter: {} })).body).toEqual({ updated: 10_501, matched: 10_501, unchanged: 0 });
    expect((await bulk('unarchive', { filter: { kind: 'act' } })).body).toEqual({ updated: 10_501, matched: 10_501, unchanged: 0 });
    expect((await rows()).filter((d) => d.archived_at !== null)).toEqual([]);
  });

  it('keeps to its agent', async () => {
    const other = await aChat(t, org, await anAgent(t, org));
    const id = await aDecision(t, other);
    expect((await bulk('archive', { decision_ids: [id] })).body).toEqual({ updated: 0, matched: 0, unchanged: 0 });
    expect((await bulk('archive', { filter: {} })).body.matched).toBe(0);
  });
});

describe('agreeing', () => {
  it('touches only what is unreviewed and live', async () => {
    const ids = await someDecisions(t, chat, 5);
    await review(t, chat, ids[0], { review_status: 'disputed' });
    await review(t, chat, ids[1], { review_status: 'reverted', review_note: 'undone' });
    await bulk('archive', { decision_ids: [ids[2]] });
    expect((await bulk('review', { decision_ids: ids.slice(0, 4) }, org.owner)).body).toEqual({ updated: 1, matched: 4, unchanged: 3 });
    expect((await bulk('review', { filter: { archived: true } })).body).toEqual({ updated: 0, matched: 1, unchanged: 1 });
    expect((await bulk('review', { filter: { review_status: 'unreviewed' } })).body).toEqual({ updated: 1, matched: 1, unchanged: 0 });
    expect((await bulk('review', { filter: {} })).body).toEqual({ updated: 0, matched: 0, unchanged: 0 });
    expect((await rows()).map((d) => [d.review_status, d.reviewed_by])).toEqual([
      ['disputed', org.owner.id],
      ['reverted', org.owner.id],
      ['unreviewed', null],
      ['agreed', org.owner.id],
      ['agreed', org.owner.id],
    ]);
  });
});

describe('what is refused', () => {
  const many = Array.from({ length: 501 }, (_, i) => `0193488e-8a8c-7cc2-b7a5-${String(i).padStart(12, '0')}`);

  it.each(['archive', 'unarchive', 'review'])('by %s', async (action) => {
    const [id] = await someDecisions(t, chat, 1);
    const neither = [
      await bulk(action, {}),
      await bulk(action, { decision_ids: null, filter: null }),
      await bulk(action, { decision_ids: [id], filter: {} }),
    ];
    expect(neither.map(({ status, body }) => [status, body.code, body.detail[0].type])).toEqual(
      Array.from({ length: 3 }, () => [422, 'exactly_one_required', 'semantic.exactly_one_required']),
    );
    const wrong = await Promise.all([
      bulk(action, { decision_ids: many }),
      bulk(action, { decision_ids: ['x'] }),
      bulk(action, { decision_ids: id }),
      bulk(action, { filter: [] }),
      bulk(action, { filter: { kind: 'maybe' } }),
      bulk(action, { filter: { review_status: 'open' } }),
      bulk(action, { filter: { deviation: 'yes' } }),
      bulk(action, { filter: { kind: 'act\0' } }),
    ]);
    expect(wrong.map(({ status, body }) => [status, body.code])).toEqual(wrong.map(() => [422, 'validation_error']));
    expect(wrong[0].body.detail).toEqual([{ loc: ['body', 'decision_ids'], msg: expect.any(String), type: 'too_long' }]);
    expect((await bulk(action, { decision_ids: many.slice(1) })).body).toEqual({ updated: 0, matched: 0, unchanged: 0 });
    expect((await rows()).map((d) => [d.review_status, d.archived_at])).toEqual([['unreviewed', null]]);
  });

  it('agreeing in another word, or to what is reviewed', async () => {
    for (const status of ['disputed', 'unreviewed', 'AGREED', null]) {
      expect((await bulk('review', { filter: {}, review_status: status })).body.detail[0].loc).toEqual(['body', 'review_status']);
    }
    for (const status of ['agreed', 'disputed', 'reverted']) {
      expect((await bulk('review', { filter: { review_status: status } })).body.detail).toEqual([
        { loc: ['body', 'filter', 'review_status'], msg: expect.any(String), type: 'enum' },
      ]);
    }
  });
});

describe('the audit log', () => {
  it('has one line for each call that changed something', async () => {
    const ids = await someDecisions(t, chat, 3);
    await bulk('archive', { decision_ids: [ids[1], ids[0], UNKNOWN] });
    await bulk('archive', { decision_ids: [ids[0]] });
    await bulk('unarchive', { filter: {} });
    await bulk('review', { filter: { kind: 'act' } });
    const target = { actor_id: org.owner.id, target_id: agent.id };
    expect(await t.audit({ org_id: org.id, action: Like('decisions.%') })).toMatchObject([
      { action: 'decisions.archived', ...target, metadata: { updated: 2, decision_ids: [ids[0], ids[1]] } },
      { action: 'decisions.unarchived', ...target, metadata: { updated: 2, filter: { archived: true } } },
      {
        action: 'decisions.agreed',
        ...target,
        metadata: { updated: 3, filter: { archived: false, review_status: 'unreviewed', kind: 'act' } },
      },
    ]);
  });
});

describe('at the same time', () => {
  it('every change is counted once, whoever comes first', async () => {
    const ids = await someDecisions(t, chat, 60);
    const backwards = [...ids].reverse();
    const answers = await Promise.all([
      bulk('archive', { decision_ids: ids }),
      bulk('archive', { decision_ids: backwards }),
      bulk('archive', { filter: {} }),
      bulk('archive', { filter: { kind: 'act' } }),
      bulk('archive', { decision_ids: backwards.slice(0, 40) }),
    ]);
    expect(answers.map((a) => a.status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.reduce((sum, { body }) => sum + body.updated, 0)).toBe(60);
    for (const { body } of answers) expect(body.updated + body.unchanged).toBe(body.matched);
    const logged = await t.audit({ org_id: org.id, action: 'decisions.archived' });
    expect(logged.reduce((sum, { metadata }) => sum + (metadata.updated as number), 0)).toBe(60);
  });

  it('a review by hand is never overwritten by agreeing to all', async () => {
    const ids = await someDecisions(t, chat, 40);
    const disputes = ids.filter((_, i) => i % 2).map((id) => review(t, chat, id, { review_status: 'disputed', should_have: 'Ask.' }));
    const answers = await Promise.all([bulk('review', { filter: {} }), bulk('review', { decision_ids: ids }), ...disputes]);
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
    const now = await rows();
    // Whether the dispute came before or after, it is what stands.
    expect(now.filter((d) => d.review_status === 'disputed')).toHaveLength(20);
    expect(now.filter((d) => d.review_status === 'agreed')).toHaveLength(20);
    const agreedFirst = (await t.audit({ org_id: org.id, action: 'decision.reviewed' })).filter((a) => a.metadata.from === 'agreed').length;
    expect(answers[0].body.updated + answers[1].body.updated).toBe(20 + agreedFirst);
  });

  it('what is archived meanwhile is not agreed to', async () => {
    await someDecisions(t, chat, 40);
    const [agreed, archived] = await Promise.all([
      bulk('review', { filter: {} }),
      bulk('archive', { filter: { review_status: 'unreviewed' } }),
    ]);
    const now = await rows();
    expect(now.filter((d) => d.review_status === 'agreed')).toHaveLength(agreed.body.updated);
    expect(now.filter((d) => d.archived_at !== null)).toHaveLength(archived.body.updated);
    // One of them had every row: they lock in the same order, and the second finds none that is still as it asked for.
    expect(agreed.body.updated + archived.body.updated).toBe(40);
  });
});
