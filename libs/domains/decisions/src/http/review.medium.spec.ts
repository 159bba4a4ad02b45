import { sql } from '@aps/platform/testing';
import { DecisionsTestApp, type TestAgent, type TestChat, type TestOrg } from '../testing/decisions-test-app';

let app: DecisionsTestApp;
let org: TestOrg;
let agent: TestAgent;
let chat: TestChat;
beforeAll(async () => {
  app = await DecisionsTestApp.start();
});
afterAll(() => app?.close());
beforeEach(async () => {
  org = await app.org();
  agent = await app.agent(org, 'Be brief.');
  chat = await app.chat(org, agent);
});

const UNKNOWN = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
const HEADING = '## Corrections from reviewed decisions';

describe('a review', () => {
  it('marks the decision, and nothing else', async () => {
    const id = await app.decision(chat);
    const { status, body } = await app.review(chat, id, { review_status: 'agreed', review_note: ' Right. ', should_have: 'Nothing.' });
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
    expect((await app.call('GET', `${org.path}/agents/${agent.id}/instruction`, { as: org.owner.token })).body.draft).toBeNull();
  });

  it('can follow any other, archived or not; only a dispute says what it should have been', async () => {
    const id = await app.decision(chat);
    await app.call('POST', `${agent.path}/archive`, { as: org.owner.token, body: { decision_ids: [id] } });
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
      const answer = await app.review(chat, id, body);
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
    expect((await app.audit(org, 'decision.%')).slice(0, 3)).toEqual([
      line('unreviewed', 'disputed'),
      line('disputed', 'agreed'),
      line('agreed', 'reverted'),
    ]);
  });

  it('is any member’s where they may open the chat', async () => {
    const shared = await app.chat(org, agent, { shared: true });
    const id = await app.decision(shared);
    expect((await app.review(shared, id, { review_status: 'agreed' }, org.member)).body.reviewed_by).toBe(org.member.id);
    expect((await app.review(chat, await app.decision(chat), { review_status: 'agreed' }, org.member)).status).toBe(404);
  });

  it('refuses what is wrong, and changes nothing', async () => {
    const id = await app.decision(chat);
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
      const answer = await app.review(chat, id, body);
      expect([body, answer.status, answer.body.code, answer.body.detail[0].loc, answer.body.detail[0].type]).toEqual([
        body,
        422,
        'validation_error',
        ['body', field],
        type,
      ]);
    }
    const [row] = await app.db.query(sql('SELECT review_status, reviewed_at FROM decisions WHERE id = $1'), [id]);
    expect([row, await app.audit(org, 'decision.%')]).toEqual([{ review_status: 'unreviewed', reviewed_at: null }, []]);
  });

  it('is not there for what is not', async () => {
    const id = await app.decision(chat);
    const other = await app.chat(org, agent);
    for (const [c, d] of [
      [other, id],
      [chat, UNKNOWN],
      [{ ...chat, path: `${org.path}/chats/${UNKNOWN}/decisions` }, id],
    ] as [TestChat, string][]) {
      expect((await app.review(c, d, { review_status: 'agreed' })).body).toMatchObject({
        code: 'not_found',
        detail: 'Decision not found.',
      });
      expect((await app.draft(c, d)).status).toBe(404);
    }
    expect((await app.review(chat, 'slug', { review_status: 'agreed' })).status).toBe(422);
  });
});

describe('a correction', () => {
  const instruction = async () => (await app.call('GET', `${org.path}/agents/${agent.id}/instruction`, { as: org.owner.token })).body;
  const disputed = async (should_have: string, in_ = chat) => {
    const id = await app.decision(in_);
    await app.review(in_, id, { review_status: 'disputed', should_have });
    return id;
  };

  it('begins a draft from the published instruction, once, and publishes nothing', async () => {
    const before = await instruction();
    const live = await app.db.query(sql('SELECT live_revision_id, last_revision_version, draft_hash FROM agents WHERE id = $1'), [
      agent.id,
    ]);
    const id = await disputed('Ask first.');
    const { status, body } = await app.draft(chat, id, org.owner);
    const content = `Be brief.\n\n${HEADING}\n\n- Ask first. <!-- decision:${id} -->\n`;
    expect([status, body]).toEqual([
      200,
      { draft_id: expect.any(String), base_revision_id: before.active.id, content, appended: true, already_appended: false },
    ]);
    const after = await instruction();
    expect([after.draft.id, after.draft.content, after.active]).toEqual([body.draft_id, content, before.active]);
    expect(after.base_version).not.toBe(before.base_version);
    expect(
      await app.db.query(sql('SELECT live_revision_id, last_revision_version, draft_hash FROM agents WHERE id = $1'), [agent.id]),
    ).toEqual(live);

    expect((await app.draft(chat, id)).body).toEqual({ ...body, appended: false, already_appended: true });
    expect(await instruction()).toEqual(after);
    expect(await app.audit(org, 'decision.correction_drafted')).toEqual([
      { action: 'decision.correction_drafted', actor_id: org.owner.id, target_id: id, metadata: { agent_id: agent.id, chat_id: chat.id } },
    ]);
  });

  it('joins a draft that somebody is writing, and whoever had read it before is told', async () => {
    const saved = await app.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
      as: org.member.token,
      body: { content: 'Be kind.' },
    });
    const id = await disputed('Ask first.');
    const { body } = await app.draft(chat, id);
    expect(body).toMatchObject({
      draft_id: saved.body.draft.id,
      content: `Be kind.\n\n${HEADING}\n\n- Ask first. <!-- decision:${id} -->\n`,
    });
    const late = await app.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
      as: org.member.token,
      body: { content: 'Be kinder.', base_version: saved.body.base_version },
    });
    expect(late.body.code).toBe('version_conflict');
  });

  it('is not written twice when it is published already', async () => {
    const id = await disputed('Ask first.');
    await app.draft(chat, id);
    const published = await app.call('POST', `${org.path}/agents/${agent.id}/instruction/draft/publish`, { as: org.owner.token });
    expect((await app.draft(chat, id)).body).toEqual({
      draft_id: null,
      base_revision_id: published.body.active.id,
      content: published.body.active.content,
      appended: false,
      already_appended: true,
    });
    expect((await instruction()).draft).toBeNull();
    // The next one goes below it, in a new draft.
    const next = await disputed('Wait.');
    expect((await app.draft(chat, next)).body.content).toBe(
      `Be brief.\n\n${HEADING}\n\n- Ask first. <!-- decision:${id} -->\n- Wait. <!-- decision:${next} -->\n`,
    );
  });

  it('needs a dispute that says what should have been', async () => {
    const id = await app.decision(chat);
    const codes: string[] = [];
    const attempt = async (review?: Record<string, unknown>) => {
      if (review) await app.review(chat, id, review);
      const { status, body } = await app.draft(chat, id);
      codes.push(`${status} ${body.code} ${body.detail[0].type}`);
    };
    await attempt();
    await attempt({ review_status: 'agreed' });
    await attempt({ review_status: 'disputed' });
    await attempt({ review_status: 'disputed', should_have: '  ' });
    await app.review(chat, id, { review_status: 'disputed', should_have: 'Ask.' });
    await attempt({ review_status: 'reverted', review_note: 'x' });
    const not = '422 not_disputed semantic.not_disputed';
    const missing = '422 should_have_missing semantic.should_have_missing';
    expect(codes).toEqual([not, not, missing, missing, not]);
    expect((await instruction()).draft).toBeNull();
  });

  it('does not grow the instruction beyond what one may have', async () => {
    await app.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
      as: org.owner.token,
      body: { content: 'x'.repeat(99_990) },
    });
    const { status, body } = await app.draft(chat, await disputed('Ask first.'));
    expect([status, body.code]).toEqual([422, 'instruction_too_long']);
    expect((await instruction()).draft.content).toHaveLength(99_990);
  });

  it('is not there for an agent that is gone', async () => {
    const id = await disputed('Ask first.');
    expect((await app.call('DELETE', `${org.path}/agents/${agent.id}`, { as: org.owner.token })).status).toBe(204);
    expect((await app.draft(chat, id)).status).toBe(404);
  });

  it('stands once for each decision, however many ask at the same time', async () => {
    const shared = await app.chat(org, agent, { shared: true });
    const ids = await Promise.all(Array.from({ length: 6 }, (_, i) => disputed(`Correction ${i}.`, shared)));
    const answers = await Promise.all([...ids, ...ids, ...ids].map((id, i) => app.draft(shared, id, i % 2 ? org.owner : org.member)));
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
    expect(answers.filter((a) => a.body.appended)).toHaveLength(6);
    const { draft } = await instruction();
    for (const id of ids) expect(draft.content.split(`<!-- decision:${id} -->`)).toHaveLength(2);
    expect(draft.content.split(HEADING)).toHaveLength(2);
    expect(await app.audit(org, 'decision.correction_drafted')).toHaveLength(6);
  });

  it('and a save that was read before it never both win', async () => {
    const { base_version } = await instruction();
    const id = await disputed('Ask first.');
    const [draft, save] = await Promise.all([
      app.draft(chat, id),
      app.call('PUT', `${org.path}/agents/${agent.id}/instruction/draft`, {
        as: org.member.token,
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
      app.call('POST', `${chat.path}/${id}/revision-draft`, { as: org.owner.token, headers: { 'Idempotency-Key': `draft-${id}` } });
    const [first, again] = [await call(), await call()];
    expect([first.body.appended, again.body, again.headers.get('idempotency-replayed')]).toEqual([true, first.body, 'true']);
  });
});
