import { sql } from '@aps/platform/testing';
import { type TestTeam } from '@aps/orgs/testing';
import { Like } from 'typeorm';
import { testService } from '@aps/testing';
import { aChat, aDecision, aPlace, DECISIONS, draftOf, review, type TestAgent, type TestChat } from '../testing/decisions';

const t = testService(DECISIONS);
let org: TestTeam;
let agent: TestAgent;
let chat: TestChat;
beforeEach(async () => {
  ({ org, agent, chat } = await aPlace(t, 'Be brief.'));
});

const UNKNOWN = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
const HEADING = '## Corrections from reviewed decisions';

describe('a review', () => {
  it('marks the decision, and nothing else', async () => {
    const id = await aDecision(t, chat);
    const { status, body } = await review(t, chat, id, { review_status: 'agreed', review_note: ' Right. ', should_have: 'Nothing.' });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        id,
        review_status: 'agreed',
        review_note: 'Right.',
        should_have: null,
        reviewed_by: org.owner.id,
        archived: false,
      }),
    ]);
    expect(Date.now() - Date.parse(body.reviewed_at)).toBeLessThan(60_000);
    expect((await t.call('GET', `${org.path}/agents/${agent.id}/instruction`, { as: org.owner })).body.draft).toBeNull();
  });

  it('can follow any other, archived or not; only a dispute says what it should have been', async () => {
    const id = await aDecision(t, chat);
    await t.call('POST', `${agent.path}/archive`, { as: org.owner, body: { decision_ids: [id] } });
    const steps: [Record<string, unknown>, [string, string | null, string | null]][] = [
      [{ review_status: 'disputed', should_have: ' Ask first. ' }, ['disputed', null, 'Ask first.']],
      [{ review_status: 'agreed', review_note: 'On second thought.' }, ['agreed', 'On second thought.', 'Ask first.']],
      [{ review_status: 'reverted', review_note: 'Refunded twice.', should_have: 'no' }, ['reverted', 'Refunded twice.', 'Ask first.']],
      [{ review_status: 'disputed' }, ['disputed', null, 'Ask first.']],
      [{ review_status: 'disputed', should_have: 'Refuse.', review_note: '  ' }, ['disputed', null, 'Refuse.']],
      [{ review_status: 'disputed', should_have: null }, ['disputed', null, null]],
      [{ review_status: 'reverted', review_note: 'x' }, ['reverted', 'x', null]],
      [{ review_status: 'agreed' }, ['agreed', null, null]],
    ];
    for (const [body, wanted] of steps) {
      const answer = await review(t, chat, id, body);
      expect([
        body,
        answer.status,
        [answer.body.review_status, answer.body.review_note, answer.body.should_have],
        answer.body.archived,
      ]).toEqual([body, 200, wanted, true]);
    }
    const line = (from: string, to: string) => ({
      action: 'decision.reviewed',
      actor_id: org.owner.id,
      target_id: id,
      metadata: { from, to, chat_id: chat.id },
    });
    expect((await t.audit({ org_id: org.id, action: Like('decision.%') })).slice(0, 3)).toMatchObject([
      line('unreviewed', 'disputed'),
      line('disputed', 'agreed'),
      line('agreed', 'reverted'),
    ]);
  });

  it('is any member’s where they may open the chat', async () => {
    const shared = await aChat(t, org, agent, { shared: true });
    const id = await aDecision(t, shared);
    expect((await review(t, shared, id, { review_status: 'agreed' }, org.member)).body.reviewed_by).toBe(org.member.id);
    expect((await review(t, chat, await aDecision(t, chat), { review_status: 'agreed' }, org.member)).status).toBe(404);
  });

  it('refuses what is wrong, and changes nothing', async () => {
    const id = await aDecision(t, chat);
    const wrong: [Record<string, unknown>, string, string][] = [
      [{}, 'review_status', 'missing'],
      [{ review_status: 'unreviewed' }, 'review_status', 'enum'],
      [{ review_status: 'Agreed' }, 'review_status', 'enum'],
      [{ review_status: ['agreed'] }, 'review_status', 'enum'],
      [{ review_status: 'reverted' }, 'review_note', 'missing'],
      [{ review_status: 'reverted', review_note: null }, 'review_note', 'missing'],
      [{ review_status: 'reverted', review_note: ' \n' }, 'review_note', 'missing'],
      [{ review_status: 'agreed', review_note: 1 }, 'review_note', 'string_type'],
      [{ review_status: 'agreed', review_note: 'a\0b' }, 'review_note', 'value_error'],
      [{ review_status: 'disputed', should_have: '\ud800' }, 'should_have', 'value_error'],
      [{ review_status: 'disputed', should_have: 'x'.repeat(4_001) }, 'should_have', 'string_too_long'],
    ];
    for (const [body, field, type] of wrong) {
      const answer = await review(t, chat, id, body);
      expect([body, answer.status, answer.body.code, answer.body.detail[0].loc, answer.body.detail[0].type]).toEqual([
        body,
        422,
        'validation_error',
        ['body', field],
        type,
      ]);
    }
    const [row] = await t.db.query(sql('SELECT review_status, reviewed_at FROM decisions WHERE id = $1'), [id]);
    expect([row, await t.audit({ org_id: org.id, action: Like('decision.%') })]).toEqual([
      { review_status: 'unreviewed', reviewed_at: null },
      [],
    ]);
  });

  it('is not there for what is not', async () => {
    const id = await aDecision(t, chat);
    const other = await aChat(t, org, agent);
    for (const [c, d] of [
      [other, id],
      [chat, UNKNOWN],
      [{ ...chat, path: `${org.path}/chats/${UNKNOWN}/decisions` }, id],
    ] as [TestChat, string][]) {
      expect((await review(t, c, d, { review_status: 'agreed' })).body).toMatchObject({
        code: 'not_found',
        detail: 'Decision not found.',
      });
      expect((await draftOf(t, c, d)).status).toBe(404);
    }
    expect((await review(t, chat, 'slug', { review_status: 'agreed' })).status).toBe(422);
  });
});

describe('a correction', () => {
  const instruction = async () => (await t.call('GET', `${org.path}/agents/${agent.id}/instruction`, { as: org.owner })).body;
  const disputed = async (should_have: string, in_ = chat) => {
    const id = await aDecision(t, in_);
    await review(t, in_, id, { review_status: 'disputed', should_have });
    return id;
  };

  it('begins a draft from the published instruction, once, and publishes nothing', async () => {
    const before = await instruction();
    const live = await t.db.query(sql('SELECT live_revision_id, last_revision_version, draft_hash FROM agents WHERE id = $1'), [agent.id]);
    const id = await disputed('Ask first.');
    const { status, body } = await draftOf(t, chat, id, org.owner);
    const content = `Be brief.\n\n${HEADING}\n\n- Ask first. <!-- decision:${id} -->\n`;
    expect([status, body]).toEqual([
      200,
      { draft_id: expect.any(String), base_revision_id: before.active.id, content, appended: true, already_appended: false },
    ]);
    const after = await instruction();
    expect([after.draft.id, after.draft.content, after.active]).toEqual([body.draft_id, content, before.active]);
    expect(after.base_version).not.toBe(before.base_version);
    expect(
      await t.db.query(sql('SELECT live_revision_id, last_revision_version, draft_hash FROM agents WHERE id = $1'), [agent.id]),
    ).toEqual(live);

    expect((await draftOf(t, chat, id)).body).toEqual({ ...body, appended: false, already_appended: true });
    expect(await instruction()).toEqual(after);
    expect(await t.audit({ org_id: org.id, action: 'decision.correction_drafted' })).toMatchObject([
      { action: 'decision.correction_drafted', actor_id: org.owner.id, target_id: id, metadata: { agent_id: agent.id, chat_id: chat.id } },
    ]);
  });

  it('joins a draft that somebody is writing, and whoever had read it before is told', async () => {
    const saved = await t.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
      as: org.member,
      body: { content: 'Be kind.' },
    });
    const id = await disputed('Ask first.');
    const { body } = await draftOf(t, chat, id);
    expect(body).toMatchObject({
      draft_id: saved.body.draft.id,
      content: `Be kind.\n\n${HEADING}\n\n- Ask first. <!-- decision:${id} -->\n`,
    });
    const late = await t.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
      as: org.member,
      body: { content: 'Be kinder.', base_version: saved.body.base_version },
    });
    expect(late.body.code).toBe('version_conflict');
  });

  it('is not written twice when it is published already', async () => {
    const id = await disputed('Ask first.');
    await draftOf(t, chat, id);
    const published = await t.call('POST', `${org.path}/agents/${agent.id}/instruction/draft/publish`, { as: org.owner });
    expect((await draftOf(t, chat, id)).body).toEqual({
      draft_id: null,
      base_revision_id: published.body.active.id,
      content: published.body.active.content,
      appended: false,
      already_appended: true,
    });
    expect((await instruction()).draft).toBeNull();
    // The next one goes below it, in a new draft.
    const next = await disputed('Wait.');
    expect((await draftOf(t, chat, next)).body.content).toBe(
      `Be brief.\n\n${HEADING}\n\n- Ask first. <!-- decision:${id} -->\n- Wait. <!-- decision:${next} -->\n`,
    );
  });

  it('needs a dispute that says what should have been', async () => {
    const id = await aDecision(t, chat);
    const codes: string[] = [];
    const attempt = async (body?: Record<string, unknown>) => {
      if (body) await review(t, chat, id, body);
      const answer = await draftOf(t, chat, id);
      codes.push(`${answer.status} ${answer.body.code} ${answer.body.detail[0].type}`);
    };
    await attempt();
    await attempt({ review_status: 'agreed' });
    await attempt({ review_status: 'disputed' });
    await attempt({ review_status: 'disputed', should_have: '  ' });
    await review(t, chat, id, { review_status: 'disputed', should_have: 'Ask.' });
    await attempt({ review_status: 'reverted', review_note: 'x' });
    const not = '422 not_disputed semantic.not_disputed';
    const missing = '422 should_have_missing semantic.should_have_missing';
    expect(codes).toEqual([not, not, missing, missing, not]);
    expect((await instruction()).draft).toBeNull();
  });

  it('does not grow the instruction beyond what one may have', async () => {
    await t.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
      as: org.owner,
      body: { content: 'x'.repeat(99_990) },
    });
    const { status, body } = await draftOf(t, chat, await disputed('Ask first.'));
    expect([status, body.code]).toEqual([422, 'instruction_too_long']);
    expect((await instruction()).draft.content).toHaveLength(99_990);
  });

  it('is not there for an agent that is gone', async () => {
    const id = await disputed('Ask first.');
    expect((await t.call('DELETE', `${org.path}/agents/${agent.id}`, { as: org.owner })).status).toBe(204);
    expect((await draftOf(t, chat, id)).status).toBe(404);
  });

  it('stands once for each decision, however many ask at the same time', async () => {
    const shared = await aChat(t, org, agent, { shared: true });
    const ids = await Promise.all(Array.from({ length: 6 }, (_, i) => disputed(`Correction ${i}.`, shared)));
    const answers = await Promise.all([...ids, ...ids, ...ids].map((id, i) => draftOf(t, shared, id, i % 2 ? org.owner : org.member)));
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
    expect(answers.filter((a) => a.body.appended)).toHaveLength(6);
    const { draft } = await instruction();
    for (const id of ids) expect(draft.content.split(`<!-- decision:${id} -->`)).toHaveLength(2);
    expect(draft.content.split(HEADING)).toHaveLength(2);
    expect(await t.audit({ org_id: org.id, action: 'decision.correction_drafted' })).toHaveLength(6);
  });

  it('and a save that was read before it never both win', async () => {
    const { base_version } = await instruction();
    const id = await disputed('Ask first.');
    const [draft, save] = await Promise.all([
      draftOf(t, chat, id),
      t.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
        as: org.member,
        body: { content: 'Mine.', base_version },
      }),
    ]);
    expect(draft.status).toBe(200);
    const { draft: now } = await instruction();
    expect(now.content.includes(`<!-- decision:${id} -->`)).toBe(true);
    expect(now.content.startsWith(save.status === 200 ? 'Mine.' : 'Be brief.')).toBe(true);
  });

  it('with an Idempotency-Key answers a repeat as it did the first time', async () => {
    const id = await disputed('Ask first.');
    const call = () =>
      t.call('POST', `${chat.path}/${id}/revision-draft`, { as: org.owner, headers: { 'Idempotency-Key': `draft-${id}` } });
    const [first, again] = [await call(), await call()];
    expect([first.body.appended, again.body, again.headers.get('idempotency-replayed')]).toEqual([true, first.body, 'true']);
  });
});
