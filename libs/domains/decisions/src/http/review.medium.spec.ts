import { sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { Like } from 'typeorm';
import { uuidv7 } from 'uuidv7';
import { aChat, aDecision, aDispute, anAgent, DECISIONS, draftOf, inBulk, review, rowsOf, type TestChat } from '../testing/decisions';

const t = testService(DECISIONS);
let chat: TestChat;
beforeEach(async () => {
  chat = await aChat(t, await anAgent(t, undefined, 'Be brief.'));
});

const HEADING = '## Corrections from reviewed decisions';
const instructionPath = () => `${chat.org.path}/agents/${chat.agent.id}/instruction`;
const instruction = async () => (await t.call('GET', instructionPath(), { as: chat.org.owner })).body;
const recorded = () => t.audit({ org_id: chat.org.id, action: Like('decision.%') });

describe('a review', () => {
  it('marks the decision, and nothing else', async () => {
    const id = await aDecision(t, chat);
    const { status, body } = await review(t, chat, id, { review_status: 'agreed', review_note: ' Right. ', should_have: 'Nothing.' });
    const marks = { review_status: 'agreed', review_note: 'Right.', should_have: null, reviewed_by: chat.org.owner.id };
    expect([status, body]).toMatchObject([200, { id, ...marks, archived: false }]);
    expect(Date.now() - Date.parse(body.reviewed_at)).toBeLessThan(60_000);
    expect((await instruction()).draft).toBeNull();
  });

  it('can follow any other, archived or not; only a dispute says what it should have been', async () => {
    const id = await aDecision(t, chat);
    await inBulk(t, chat.agent, 'archive', { decision_ids: [id] });
    const steps: [
      string,
      { review_note?: string; should_have?: string | null; should_have_kind?: string | null },
      note: string | null,
      correction: string | null,
      kind: string | null,
    ][] = [
      ['disputed', { should_have: ' Ask first. ', should_have_kind: 'escalate' }, null, 'Ask first.', 'escalate'],
      ['agreed', { review_note: 'On second thought.' }, 'On second thought.', 'Ask first.', 'escalate'],
      [
        'reverted',
        { review_note: 'Refunded twice.', should_have: 'no', should_have_kind: 'act' },
        'Refunded twice.',
        'Ask first.',
        'escalate',
      ],
      ['disputed', {}, null, 'Ask first.', 'escalate'],
      ['disputed', { should_have: 'Refuse.', review_note: '  ', should_have_kind: 'no_act' }, null, 'Refuse.', 'no_act'],
      ['disputed', { should_have: null }, null, null, 'no_act'],
      ['disputed', { should_have_kind: null }, null, null, null],
      ['reverted', { review_note: 'x' }, 'x', null, null],
      ['agreed', {}, null, null, null],
    ];
    for (const [review_status, said, review_note, should_have, should_have_kind] of steps) {
      const { status, body } = await review(t, chat, id, { review_status, ...said });
      expect([said, status, body]).toMatchObject([
        said,
        200,
        { review_status, review_note, should_have, should_have_kind, archived: true },
      ]);
    }
    const line = (from: string, to: string) => ({ action: 'decision.reviewed', metadata: { from, to, chat_id: chat.id } });
    const lines = [line('unreviewed', 'disputed'), line('disputed', 'agreed'), line('agreed', 'reverted')];
    expect((await recorded()).slice(0, 3)).toMatchObject(lines.map((l) => ({ ...l, actor_id: chat.org.owner.id, target_id: id })));
  });

  it('is any member’s where they may open the chat', async () => {
    const { member } = chat.org;
    const shared = await aChat(t, chat.agent, { shared: true });
    const agree = async (to: TestChat) => (await review(t, to, await aDecision(t, to), { review_status: 'agreed' }, member)).body;
    expect(await agree(shared)).toMatchObject({ reviewed_by: member.id });
    expect(await agree(chat)).toMatchObject({ code: 'not_found' });
  });

  it.each<[object, string, string]>([
    [{}, 'review_status', 'missing'],
    [{ review_status: 'unreviewed' }, 'review_status', 'enum'],
    [{ review_status: 'Agreed' }, 'review_status', 'enum'],
    [{ review_status: ['agreed'] }, 'review_status', 'enum'],
    [{ review_status: 'reverted' }, 'review_note', 'missing'],
    [{ review_status: 'reverted', review_note: null }, 'review_note', 'missing'],
    [{ review_status: 'reverted', review_note: ' \n' }, 'review_note', 'missing'],
    [{ review_status: 'agreed', review_note: 1 }, 'review_note', 'string_type'],
    [{ review_status: 'agreed', review_note: 'a\0b' }, 'review_note', 'value_error'],
    [{ review_status: 'disputed', should_have_kind: 'ask' }, 'should_have_kind', 'enum'],
    [{ review_status: 'disputed', should_have: '\ud800' }, 'should_have', 'value_error'],
    [{ review_status: 'disputed', should_have: 'x'.repeat(4_001) }, 'should_have', 'string_too_long'],
  ])('refuses %j, and changes nothing', async (body, field, type) => {
    const problem = { code: 'validation_error', detail: [{ loc: ['body', field], type }] };
    expect(await review(t, chat, await aDecision(t, chat), body)).toMatchObject({ status: 422, body: problem });
    expect(await rowsOf(t, chat)).toMatchObject([{ review_status: 'unreviewed', reviewed_at: null }]);
    expect(await recorded()).toEqual([]);
  });

  it('is not there for what is not', async () => {
    const id = await aDecision(t, chat);
    const nowhere = { ...chat, path: `${chat.org.path}/chats/${uuidv7()}/decisions` };
    for (const [place, of] of [
      [await aChat(t, chat.agent), id],
      [chat, uuidv7()],
      [nowhere, id],
    ] as const)
      for (const answer of [await review(t, place, of, { review_status: 'agreed' }), await draftOf(t, place, of)])
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found', detail: 'Decision not found.' } });
    expect((await review(t, chat, 'slug', { review_status: 'agreed' })).status).toBe(422);
    // What a body lacks by itself is told before anything is looked for.
    const problem = { code: 'validation_error', detail: [{ loc: ['body', 'review_note'], type: 'missing' }] };
    expect(await review(t, chat, uuidv7(), { review_status: 'reverted' })).toMatchObject({ status: 422, body: problem });
  });
});

describe('a correction', () => {
  const saveDraft = (content: string, more = {}) =>
    t.call('PUT', `${instructionPath()}/draft`, { as: chat.org.member, body: { content, ...more } });
  const corrected = (text: string, ...corrections: [id: string, should_have: string][]) =>
    `${text}\n\n${HEADING}\n\n${corrections.map(([id, should_have]) => `- ${should_have} <!-- decision:${id} -->\n`).join('')}`;

  it('begins a draft from the published instruction, once, and publishes nothing', async () => {
    const ofAgent = sql('SELECT live_revision_id, last_revision_version, draft_hash FROM agents WHERE id = $1');
    const live = () => t.db.query(ofAgent, [chat.agent.id]);
    const [before, liveBefore, id] = [await instruction(), await live(), await aDispute(t, chat)];
    const { status, body } = await draftOf(t, chat, id);
    const content = corrected('Be brief.', [id, 'Ask first.']);
    const drafted = { draft_id: expect.any(String), base_revision_id: before.active.id, content };
    expect([status, body]).toEqual([200, { ...drafted, appended: true, already_appended: false }]);
    const after = await instruction();
    expect(after).toMatchObject({ draft: { id: body.draft_id, content }, active: before.active });
    expect(after.base_version).not.toBe(before.base_version);
    expect(await live()).toEqual(liveBefore);

    expect((await draftOf(t, chat, id)).body).toEqual({ ...body, appended: false, already_appended: true });
    expect(await instruction()).toEqual(after);
    expect(await t.audit({ org_id: chat.org.id, action: 'decision.correction_drafted' })).toMatchObject([
      { actor_id: chat.org.owner.id, target_id: id, metadata: { agent_id: chat.agent.id, chat_id: chat.id } },
    ]);
  });

  it('joins a draft that somebody is writing, and whoever had read it before is told', async () => {
    const { draft, base_version } = (await saveDraft('Be kind.')).body;
    const id = await aDispute(t, chat);
    expect((await draftOf(t, chat, id)).body).toMatchObject({ draft_id: draft.id, content: corrected('Be kind.', [id, 'Ask first.']) });
    expect((await saveDraft('Be kinder.', { base_version })).body.code).toBe('version_conflict');
  });

  it('is not written twice when it is published already', async () => {
    const id = await aDispute(t, chat);
    await draftOf(t, chat, id);
    const { active } = await t.make('POST', `${instructionPath()}/draft/publish`, { as: chat.org.owner });
    const published = { draft_id: null, base_revision_id: active.id, content: active.content };
    expect((await draftOf(t, chat, id)).body).toEqual({ ...published, appended: false, already_appended: true });
    expect((await instruction()).draft).toBeNull();
    // The next one goes below it, in a new draft.
    const next = await aDispute(t, chat, 'Wait.');
    expect((await draftOf(t, chat, next)).body.content).toBe(corrected('Be brief.', [id, 'Ask first.'], [next, 'Wait.']));
  });

  it.each<[string, string, ...object[]]>([
    ['nobody has reviewed', 'not_disputed'],
    ['somebody agreed to', 'not_disputed', { review_status: 'agreed' }],
    ['is disputed without a word', 'should_have_missing', { review_status: 'disputed' }],
    ['is disputed in blanks', 'should_have_missing', { review_status: 'disputed', should_have: '  ' }],
    [
      'was disputed once',
      'not_disputed',
      { review_status: 'disputed', should_have: 'Ask.' },
      { review_status: 'reverted', review_note: 'x' },
    ],
  ])('is made of no decision that %s', async (_, code, ...reviews) => {
    const id = await aDecision(t, chat);
    for (const body of reviews) await review(t, chat, id, body);
    expect(await draftOf(t, chat, id)).toMatchObject({ status: 422, body: { code, detail: [{ type: `semantic.${code}` }] } });
    expect((await instruction()).draft).toBeNull();
  });

  it('does not grow the instruction beyond what one may have', async () => {
    await saveDraft('x'.repeat(99_990));
    expect(await draftOf(t, chat, await aDispute(t, chat))).toMatchObject({ status: 422, body: { code: 'instruction_too_long' } });
    expect((await instruction()).draft.content).toHaveLength(99_990);
  });

  it('is not there for an agent that is gone', async () => {
    const id = await aDispute(t, chat);
    await t.make('DELETE', `${chat.org.path}/agents/${chat.agent.id}`, { as: chat.org.owner });
    expect((await draftOf(t, chat, id)).status).toBe(404);
  });

  it('stands once for each decision, however many ask at the same time', async () => {
    const shared = await aChat(t, chat.agent, { shared: true });
    const ids = await Promise.all(Array.from({ length: 6 }, (_, i) => aDispute(t, shared, `Correction ${i}.`)));
    const { owner, member } = chat.org;
    const answers = await Promise.all([...ids, ...ids, ...ids].map((id, i) => draftOf(t, shared, id, i % 2 ? owner : member)));
    expect(answers.map((a) => a.status)).toEqual(Array(18).fill(200));
    expect(answers.filter((a) => a.body.appended)).toHaveLength(6);
    const { draft } = await instruction();
    for (const once of [HEADING, ...ids.map((id) => `<!-- decision:${id} -->`)]) expect(draft.content.split(once)).toHaveLength(2);
    expect(await t.audit({ org_id: chat.org.id, action: 'decision.correction_drafted' })).toHaveLength(6);
  });

  it('and a save that was read before it never both win', async () => {
    const { base_version } = await instruction();
    const id = await aDispute(t, chat);
    const [draft, save] = await Promise.all([draftOf(t, chat, id), saveDraft('Mine.', { base_version })]);
    expect(draft.status).toBe(200);
    const { content } = (await instruction()).draft;
    expect(content).toBe(corrected(save.status === 200 ? 'Mine.' : 'Be brief.', [id, 'Ask first.']));
  });
});
