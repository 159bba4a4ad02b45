import { createHash } from 'node:crypto';
import { sql } from '@aps/platform/testing';
import { entitle } from '@aps/billing/testing';
import { aTeam, aMember, type TestTeam } from '@aps/orgs/testing';
import { testService } from '@aps/testing';
import {
  aChat,
  aDecision,
  aPlace,
  anAgent,
  DECISIONS,
  draftOf,
  review,
  someDecisions,
  type TestAgent,
  type TestChat,
} from '../testing/decisions';

const t = testService(DECISIONS);

const ids = (body: { items: { id: string }[] }) => body.items.map((d) => d.id);
const UNKNOWN = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';

describe('a decision', () => {
  it('shows every field', async () => {
    const { org, agent, chat } = await aPlace(t);
    const id = await aDecision(t, chat, {
      tool_slug: 'con_shop.refund',
      rationale: 'It is small.',
      confidence: 0.85,
      arguments: { b: 1, a: [2] },
      basis: '  Refunds \n',
    });
    const { status, body } = await t.call('GET', agent.path, { as: org.owner });
    expect([status, body.total, body.next_offset]).toEqual([200, 1, null]);
    const [{ agent_revision_id, created_at, tool_call_id, ...rest }] = body.items;
    expect(rest).toEqual({
      id,
      chat_id: chat.id,
      agent_id: agent.id,
      turn_id: chat.turn,
      tool_slug: 'con_shop.refund',
      connection_id: null,
      arguments_digest: createHash('sha256').update('{"a":[2],"b":1}').digest('hex'),
      kind: 'act',
      summary: 'Refund it',
      basis: 'Refunds',
      rationale: 'It is small.',
      deviation: false,
      determination: false,
      confidence: '0.85',
      review_status: 'unreviewed',
      review_note: null,
      should_have: null,
      reviewed_by: null,
      reviewed_at: null,
      archived: false,
      archived_at: null,
    });
    expect([agent_revision_id, tool_call_id]).toEqual([expect.any(String), expect.stringMatching(/^call_/)]);
    expect(Date.now() - Date.parse(created_at)).toBeLessThan(60_000);
  });
});

describe('the list, newest first across the agent’s chats,', () => {
  let org: TestTeam;
  let agent: TestAgent;
  let chat: TestChat;
  let made: string[];

  beforeAll(async () => {
    ({ org, agent, chat } = await aPlace(t));
    const other = await aChat(t, org, agent);
    made = [
      await aDecision(t, chat, { kind: 'act' }),
      await aDecision(t, other, { kind: 'no_act', deviation: true }),
      await aDecision(t, chat, { kind: 'escalate', determination: true }),
      await aDecision(t, other, { kind: 'act', deviation: true, determination: true }),
      await aDecision(t, chat, { kind: 'act' }),
    ];
    await review(t, other, made[1], { review_status: 'agreed' });
    await review(t, chat, made[2], { review_status: 'disputed' });
    await t.call('POST', `${agent.path}/archive`, { as: org.owner, body: { decision_ids: [made[4]] } });
  });
  const list = (query = '', path = agent.path) => t.call('GET', path + query, { as: org.owner });

  it.each<[string, number[]]>([
    ['', [3, 2, 1, 0]],
    ['?kind=act', [3, 0]],
    ['?kind=escalate', [2]],
    ['?review_status=unreviewed', [3, 0]],
    ['?review_status=agreed', [1]],
    ['?review_status=reverted', []],
    ['?deviation=true', [3, 1]],
    ['?deviation=false', [2, 0]],
    ['?determination=true', [3, 2]],
    ['?determination=false', [3, 2, 1, 0]],
    ['?archived=true', [4]],
    ['?archived=false', [3, 2, 1, 0]],
    ['?archived=true&kind=no_act', []],
    ['?deviation=true&determination=true&kind=act&review_status=unreviewed', [3]],
  ])('of %s', async (query, wanted) => {
    const { status, body } = await list(query);
    expect([status, ids(body), body.total, body.next_offset]).toEqual([200, wanted.map((i) => made[i]), wanted.length, null]);
  });

  it('comes in pages', async () => {
    const pages = [await list('?limit=3'), await list('?limit=3&offset=3'), await list('?offset=1'), await list('?limit=3&offset=9')];
    expect(pages.map(({ body }) => [ids(body).map((id) => made.indexOf(id)), body.total, body.next_offset])).toEqual([
      [[3, 2, 1], 4, 3],
      [[0], 4, null],
      [[2, 1, 0], 4, null],
      [[], 4, null],
    ]);
  });

  it.each([
    'kind=maybe',
    'kind=ACT',
    'review_status=open',
    'review_status=',
    'deviation=perhaps',
    'determination=2',
    'archived=both',
    'limit=0',
    'limit=101',
    'offset=-1',
    'agent_id=%00',
  ])('refuses %s', async (query) => {
    for (const path of [agent.path, `${agent.path}/groups`]) {
      const { status, body } = await list(`?${query}`, path);
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['query', query.split('=')[0]]]);
    }
  });

  it('takes the agent by id and by slug, and once more in the query', async () => {
    const bySlug = `${org.path}/agents/${agent.slug}/decisions`;
    for (const query of [
      '',
      `?agent_id=${agent.id}`,
      `?agent_id=${agent.slug}`,
      `?agent_id=${agent.id.toUpperCase()}`,
      '?agent_id=',
      '?agent_id=no-such',
      `?agent_id=${UNKNOWN}`,
      '?agent_id=%25%20%27',
    ]) {
      expect([query, (await list(query, bySlug)).body.total, (await list(query)).body.total]).toEqual([query, 4, 4]);
    }
    const other = await anAgent(t, org);
    for (const path of [agent.path, bySlug, `${agent.path}/groups`]) {
      for (const ref of [other.id, other.slug]) {
        const { status, body } = await list(`?agent_id=${ref}`, path);
        expect([status, body.detail]).toEqual([422, [{ loc: ['query', 'agent_id'], msg: expect.any(String), type: 'value_error' }]]);
      }
    }
    // Another organization's agent is none.
    const foreign = await anAgent(t, await aTeam(t));
    expect((await list(`?agent_id=${foreign.id}`)).body.total).toBe(4);
  });

  it('is not there for an agent that is not', async () => {
    const foreign = await anAgent(t, await aTeam(t));
    for (const ref of [UNKNOWN, 'no-such-agent', foreign.id, foreign.slug === agent.slug ? UNKNOWN : foreign.slug]) {
      for (const path of ['', '/groups']) expect((await list('', `${org.path}/agents/${ref}/decisions${path}`)).status).toBe(404);
      for (const path of ['/archive', '/unarchive', '/review']) {
        const body = { decision_ids: made, review_status: 'agreed' };
        expect((await t.call('POST', `${org.path}/agents/${ref}/decisions${path}`, { as: org.owner, body })).status).toBe(404);
      }
    }
    expect((await list('', `${org.path}/agents/No%20Slug/decisions`)).status).toBe(422);
  });

  it('of a chat is oldest first, with what is archived', async () => {
    const all = await list('', chat.path);
    expect([ids(all.body), all.body.total, all.body.next_offset]).toEqual([[made[0], made[2], made[4]], 3, null]);
    const page = await list('?limit=2', chat.path);
    expect([ids(page.body), page.body.total, page.body.next_offset]).toEqual([[made[0], made[2]], 3, 2]);
    expect(ids((await list('?limit=2&offset=2', chat.path)).body)).toEqual([made[4]]);
    expect((await list('?offset=7', chat.path)).body).toEqual({ items: [], total: 3, next_offset: null });
    expect((await list('?limit=0', chat.path)).status).toBe(422);
    expect((await list('', `${org.path}/chats/${UNKNOWN}/decisions`)).status).toBe(404);
    expect((await list('', `${org.path}/chats/not-an-id/decisions`)).status).toBe(422);
  });

  it('is served where the log is off', async () => {
    entitle(t, { decision_log: false });
    expect([(await list()).body.total, (await list('', chat.path)).body.total, (await list('', `${agent.path}/groups`)).status]).toEqual([
      4, 3, 200,
    ]);
    entitle(t, { decision_log: true });
  });
});

describe('the groups', () => {
  let org: TestTeam;
  let agent: TestAgent;
  let chat: TestChat;
  const groups = (query = '') => t.call('GET', `${agent.path}/groups${query}`, { as: org.owner });

  beforeAll(async () => {
    ({ org, agent, chat } = await aPlace(t));
  });

  it('hold what cites the same basis word for word, the largest first, then the latest', async () => {
    const two = await someDecisions(t, chat, 2, { basis: 'Rule two' });
    const four = await someDecisions(t, chat, 4, { basis: ' Rule four\n' });
    const lower = await someDecisions(t, chat, 2, { basis: 'rule two', kind: 'no_act' });
    await someDecisions(t, chat, 1, { basis: 'Rule  two' });
    // Made in another order than that of their words.
    const ties = [
      await aDecision(t, chat, { basis: 'B' }),
      await aDecision(t, chat, { basis: 'C' }),
      await aDecision(t, chat, { basis: 'A' }),
    ];
    expect((await groups()).body.items.slice(-4).map((g: { basis: string }) => g.basis)).toEqual(['A', 'C', 'B', 'Rule  two']);
    await t.db.execute(sql('DELETE FROM decisions WHERE id = ANY($1)'), [ties]);
    await review(t, chat, four[0], { review_status: 'agreed' });
    await review(t, chat, four[1], { review_status: 'disputed' });
    const { status, body } = await groups();
    expect([status, body.total, body.next_offset]).toEqual([200, 4, null]);
    expect(body.items.map((g: { basis: string }) => g.basis)).toEqual(['Rule four', 'rule two', 'Rule two', 'Rule  two']);
    const [newest] = await t.db.query(sql<{ created_at: Date }>('SELECT created_at FROM decisions WHERE id = $1'), [four[3]]);
    expect(body.items[0]).toEqual({
      basis: 'Rule four',
      count: 4,
      unreviewed: 2,
      disputed: 1,
      latest_at: newest.created_at.toISOString(),
      sample_decision_ids: [four[3], four[2], four[1]],
    });
    expect(body.items.slice(1, 3).map((g: { sample_decision_ids: string[] }) => g.sample_decision_ids)).toEqual([
      lower.reverse(),
      two.reverse(),
    ]);
  });

  it('come in pages and by the same filters', async () => {
    const pages = [await groups('?limit=2'), await groups('?limit=2&offset=2'), await groups('?limit=2&offset=8')];
    expect(pages.map(({ body }) => [body.items.map((g: { basis: string }) => g.basis), body.total, body.next_offset])).toEqual([
      [['Rule four', 'rule two'], 4, 2],
      [['Rule two', 'Rule  two'], 4, null],
      [[], 4, null],
    ]);
    expect((await groups('?kind=no_act')).body).toMatchObject({ total: 1, items: [{ basis: 'rule two', count: 2 }] });
    expect((await groups('?review_status=disputed')).body).toMatchObject({
      total: 1,
      items: [{ basis: 'Rule four', count: 1, unreviewed: 0, disputed: 1 }],
    });
    expect((await groups('?archived=true')).body).toEqual({ items: [], total: 0, next_offset: null });
  });
});

describe('a chat that the caller may not open', () => {
  it('adds to no list, count, group or bulk action, and its decisions are not there', async () => {
    const org = await aTeam(t);
    const agent = await anAgent(t, org);
    const secret = await aChat(t, org, agent, { created_by: org.member.id });
    const gone = await aChat(t, org, agent, { deleted_at: new Date(), shared: true });
    const hidden = [...(await someDecisions(t, secret, 3, { basis: 'Secret' })), ...(await someDecisions(t, gone, 2, { basis: 'Gone' }))];
    const shared = await aChat(t, org, agent, { created_by: org.member.id, shared: true });
    const nobodys = await aChat(t, org, agent, { created_by: null });
    const own = await aChat(t, org, agent);
    const seen = [await aDecision(t, shared), await aDecision(t, nobodys), await aDecision(t, own)];
    const admin = await aMember(t, org, 'ADMIN');
    const get = (path: string, as: { token: string }) => t.call('GET', path, { as: as });

    const list = await get(agent.path, org.owner);
    expect([ids(list.body), list.body.total]).toEqual([[...seen].reverse(), 3]);
    expect((await get(`${agent.path}/groups`, org.owner)).body).toMatchObject({ total: 1, items: [{ basis: 'Rule 1', count: 3 }] });
    expect((await get(`${agent.path}?limit=1`, org.owner)).body).toMatchObject({ total: 3, next_offset: 1 });
    // Roles open nothing.
    expect(ids((await get(agent.path, admin)).body)).toEqual([seen[1], seen[0]]);
    expect((await get(agent.path, org.member)).body.total).toBe(5);

    for (const chat of [secret, gone]) {
      const id = hidden[chat === secret ? 0 : 3];
      expect((await get(chat.path, org.owner)).body.code).toBe('not_found');
      expect((await review(t, chat, id, { review_status: 'agreed' })).body.code).toBe('not_found');
      expect((await draftOf(t, chat, id)).body.code).toBe('not_found');
      // Nor through a chat that may be opened.
      expect((await review(t, own, id, { review_status: 'agreed' })).body.code).toBe('not_found');
      expect((await draftOf(t, own, id)).body.code).toBe('not_found');
    }
    const bulk = (action: string, body: object) =>
      t.call('POST', `${agent.path}/${action}`, { as: org.owner, body: { review_status: 'agreed', ...body } });
    for (const action of ['archive', 'unarchive', 'review']) {
      expect((await bulk(action, { decision_ids: hidden })).body).toEqual({ updated: 0, matched: 0, unchanged: 0 });
    }
    expect((await bulk('review', { filter: {} })).body).toEqual({ updated: 3, matched: 3, unchanged: 0 });
    expect((await bulk('archive', { filter: {} })).body).toEqual({ updated: 3, matched: 3, unchanged: 0 });
    expect((await bulk('unarchive', { filter: {} })).body).toEqual({ updated: 3, matched: 3, unchanged: 0 });
    const untouched = await t.db.query(
      sql('SELECT 1 FROM decisions WHERE id = ANY($1) AND review_status = $2 AND archived_at IS NULL AND updated_at = created_at'),
      [hidden, 'unreviewed'],
    );
    expect(untouched).toHaveLength(5);
  });

  it('is every chat, for who is no member', async () => {
    const org = await aTeam(t);
    const agent = await anAgent(t, org);
    const chat = await aChat(t, org, agent, { shared: true });
    const id = await aDecision(t, chat);
    const stranger = (await aTeam(t)).owner;
    for (const path of [agent.path, `${agent.path}/groups`, chat.path])
      expect((await t.call('GET', path, { as: stranger })).body.code).toBe('not_org_member');
    // In an organization of their own, the ids mean nothing.
    const own = await aTeam(t);
    expect(
      (
        await t.call('POST', `${own.path}/chats/${chat.id}/decisions/${id}/review`, {
          as: own.owner,
          body: { review_status: 'agreed' },
        })
      ).status,
    ).toBe(404);
    const theirs = await anAgent(t, own);
    expect((await t.call('POST', `${theirs.path}/archive`, { as: own.owner, body: { decision_ids: [id] } })).body).toEqual({
      updated: 0,
      matched: 0,
      unchanged: 0,
    });
  });

  it('is every chat of a suspended organization', async () => {
    const org = await aTeam(t);
    const agent = await anAgent(t, org);
    await t.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [org.id]);
    const other = await aMember(t, org, 'MEMBER');
    expect((await t.call('GET', agent.path, { as: other })).body.code).toBe('org_suspended');
  });
});
