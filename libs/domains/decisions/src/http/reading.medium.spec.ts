import { createHash } from 'node:crypto';
import { sql } from '@aps/platform/testing';
import { DecisionsTestApp, type TestAgent, type TestChat, type TestOrg } from '../testing/decisions-test-app';

let app: DecisionsTestApp;
beforeAll(async () => {
  app = await DecisionsTestApp.start();
});
afterAll(() => app?.close());

const ids = (body: { items: { id: string }[] }) => body.items.map((d) => d.id);
const UNKNOWN = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';

describe('a decision', () => {
  it('shows every field', async () => {
    const org = await app.org();
    const agent = await app.agent(org);
    const chat = await app.chat(org, agent);
    const id = await app.decision(chat, {
      tool_slug: 'con_shop.refund',
      rationale: 'It is small.',
      confidence: 0.85,
      arguments: { b: 1, a: [2] },
      basis: '  Refunds \n',
    });
    const { status, body } = await app.call('GET', agent.path, { as: org.owner.token });
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
  let org: TestOrg;
  let agent: TestAgent;
  let chat: TestChat;
  let made: string[];

  beforeAll(async () => {
    org = await app.org();
    agent = await app.agent(org);
    chat = await app.chat(org, agent);
    const other = await app.chat(org, agent);
    made = [
      await app.decision(chat, { kind: 'act' }),
      await app.decision(other, { kind: 'no_act', deviation: true }),
      await app.decision(chat, { kind: 'escalate', determination: true }),
      await app.decision(other, { kind: 'act', deviation: true, determination: true }),
      await app.decision(chat, { kind: 'act' }),
    ];
    await app.review(other, made[1], { review_status: 'agreed' });
    await app.review(chat, made[2], { review_status: 'disputed' });
    await app.call('POST', `${agent.path}/archive`, { as: org.owner.token, body: { decision_ids: [made[4]] } });
  });
  const list = (query = '', path = agent.path) => app.call('GET', path + query, { as: org.owner.token });

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
    const other = await app.agent(org);
    for (const path of [agent.path, bySlug, `${agent.path}/groups`]) {
      for (const ref of [other.id, other.slug]) {
        const { status, body } = await list(`?agent_id=${ref}`, path);
        expect([status, body.detail]).toEqual([422, [{ loc: ['query', 'agent_id'], msg: expect.any(String), type: 'value_error' }]]);
      }
    }
    // Another organization's agent is none.
    const foreign = await app.agent(await app.org());
    expect((await list(`?agent_id=${foreign.id}`)).body.total).toBe(4);
  });

  it('is not there for an agent that is not', async () => {
    const foreign = await app.agent(await app.org());
    for (const ref of [UNKNOWN, 'no-such-agent', foreign.id, foreign.slug === agent.slug ? UNKNOWN : foreign.slug]) {
      for (const path of ['', '/groups']) expect((await list('', `${org.path}/agents/${ref}/decisions${path}`)).status).toBe(404);
      for (const path of ['/archive', '/unarchive', '/review']) {
        const body = { decision_ids: made, review_status: 'agreed' };
        expect((await app.call('POST', `${org.path}/agents/${ref}/decisions${path}`, { as: org.owner.token, body })).status).toBe(404);
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
    app.entitle(org, { decision_log: false });
    expect([(await list()).body.total, (await list('', chat.path)).body.total, (await list('', `${agent.path}/groups`)).status]).toEqual([
      4, 3, 200,
    ]);
    app.entitle(org, { decision_log: true });
  });
});

describe('the groups', () => {
  let org: TestOrg;
  let agent: TestAgent;
  let chat: TestChat;
  const groups = (query = '') => app.call('GET', `${agent.path}/groups${query}`, { as: org.owner.token });

  beforeAll(async () => {
    org = await app.org();
    agent = await app.agent(org);
    chat = await app.chat(org, agent);
  });

  it('hold what cites the same basis word for word, the largest first, then the latest', async () => {
    const two = await app.decisions(chat, 2, { basis: 'Rule two' });
    const four = await app.decisions(chat, 4, { basis: ' Rule four\n' });
    const lower = await app.decisions(chat, 2, { basis: 'rule two', kind: 'no_act' });
    await app.decisions(chat, 1, { basis: 'Rule  two' });
    // Made in another order than that of their words.
    const ties = [
      await app.decision(chat, { basis: 'B' }),
      await app.decision(chat, { basis: 'C' }),
      await app.decision(chat, { basis: 'A' }),
    ];
    expect((await groups()).body.items.slice(-4).map((g: { basis: string }) => g.basis)).toEqual(['A', 'C', 'B', 'Rule  two']);
    await app.db.execute(sql('DELETE FROM decisions WHERE id = ANY($1)'), [ties]);
    await app.review(chat, four[0], { review_status: 'agreed' });
    await app.review(chat, four[1], { review_status: 'disputed' });
    const { status, body } = await groups();
    expect([status, body.total, body.next_offset]).toEqual([200, 4, null]);
    expect(body.items.map((g: { basis: string }) => g.basis)).toEqual(['Rule four', 'rule two', 'Rule two', 'Rule  two']);
    const [newest] = await app.db.query(sql<{ created_at: Date }>('SELECT created_at FROM decisions WHERE id = $1'), [four[3]]);
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
    const org = await app.org();
    const agent = await app.agent(org);
    const secret = await app.chat(org, agent, { created_by: org.member.id });
    const gone = await app.chat(org, agent, { deleted: true, shared: true });
    const hidden = [...(await app.decisions(secret, 3, { basis: 'Secret' })), ...(await app.decisions(gone, 2, { basis: 'Gone' }))];
    const shared = await app.chat(org, agent, { created_by: org.member.id, shared: true });
    const nobodys = await app.chat(org, agent, { created_by: null });
    const own = await app.chat(org, agent);
    const seen = [await app.decision(shared), await app.decision(nobodys), await app.decision(own)];
    const admin = await app.person({ [org.id]: 'ADMIN' });
    const get = (path: string, as: { token: string }) => app.call('GET', path, { as: as.token });

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
      expect((await app.review(chat, id, { review_status: 'agreed' })).body.code).toBe('not_found');
      expect((await app.draft(chat, id)).body.code).toBe('not_found');
      // Nor through a chat that may be opened.
      expect((await app.review(own, id, { review_status: 'agreed' })).body.code).toBe('not_found');
      expect((await app.draft(own, id)).body.code).toBe('not_found');
    }
    const bulk = (action: string, body: object) =>
      app.call('POST', `${agent.path}/${action}`, { as: org.owner.token, body: { review_status: 'agreed', ...body } });
    for (const action of ['archive', 'unarchive', 'review']) {
      expect((await bulk(action, { decision_ids: hidden })).body).toEqual({ updated: 0, matched: 0, unchanged: 0 });
    }
    expect((await bulk('review', { filter: {} })).body).toEqual({ updated: 3, matched: 3, unchanged: 0 });
    expect((await bulk('archive', { filter: {} })).body).toEqual({ updated: 3, matched: 3, unchanged: 0 });
    expect((await bulk('unarchive', { filter: {} })).body).toEqual({ updated: 3, matched: 3, unchanged: 0 });
    const untouched = await app.db.query(
      sql('SELECT 1 FROM decisions WHERE id = ANY($1) AND review_status = $2 AND archived_at IS NULL AND updated_at = created_at'),
      [hidden, 'unreviewed'],
    );
    expect(untouched).toHaveLength(5);
  });

  it('is every chat, for who is no member', async () => {
    const org = await app.org();
    const agent = await app.agent(org);
    const chat = await app.chat(org, agent, { shared: true });
    const id = await app.decision(chat);
    const stranger = (await app.org()).owner;
    for (const path of [agent.path, `${agent.path}/groups`, chat.path])
      expect((await app.call('GET', path, { as: stranger.token })).body.code).toBe('not_org_member');
    // In an organization of their own, the ids mean nothing.
    const own = await app.org();
    expect(
      (
        await app.call('POST', `${own.path}/chats/${chat.id}/decisions/${id}/review`, {
          as: own.owner.token,
          body: { review_status: 'agreed' },
        })
      ).status,
    ).toBe(404);
    const theirs = await app.agent(own);
    expect((await app.call('POST', `${theirs.path}/archive`, { as: own.owner.token, body: { decision_ids: [id] } })).body).toEqual({
      updated: 0,
      matched: 0,
      unchanged: 0,
    });
  });

  it('is every chat of a suspended organization', async () => {
    const org = await app.org();
    const agent = await app.agent(org);
    await app.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [org.id]);
    const other = await app.person({ [org.id]: 'MEMBER' });
    expect((await app.call('GET', agent.path, { as: other.token })).body.code).toBe('org_suspended');
  });
});
