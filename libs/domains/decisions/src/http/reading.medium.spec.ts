import { entitle } from '@aps/billing/testing';
import { aMember } from '@aps/orgs/testing';
import { sql, type Answer, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import {
  aChat,
  aDecision,
  anAgent,
  changed,
  DECISIONS,
  draftOf,
  inBulk,
  review,
  rowsOf,
  someDecisions,
  type TestAgent,
  type TestChat,
} from '../testing/decisions';

const t = testService(DECISIONS);

const get = (path: string, as: Bearer) => t.call('GET', path, { as });
const ids = (body: { items: { id: string }[] }) => body.items.map((d) => d.id);

describe('the list, newest first across the agent’s chats,', () => {
  let agent: TestAgent;
  let chat: TestChat;
  let made: string[];

  beforeAll(async () => {
    agent = await anAgent(t);
    chat = await aChat(t, agent);
    const other = await aChat(t, agent);
    made = [
      await aDecision(t, chat, { kind: 'act' }),
      await aDecision(t, other, { kind: 'no_act', deviation: true }),
      await aDecision(t, chat, { kind: 'escalate', determination: true }),
      await aDecision(t, other, { kind: 'act', deviation: true, determination: true }),
      await aDecision(t, chat, { kind: 'act' }),
    ];
    await review(t, other, made[1], { review_status: 'agreed' });
    await review(t, chat, made[2], { review_status: 'disputed' });
    await inBulk(t, agent, 'archive', { decision_ids: [made[4]] });
  });
  const list = (query = '', path = agent.path) => get(path + query, agent.org.owner);
  const itemsOf = ({ status, body }: Answer) => [status, ids(body).map((id) => made.indexOf(id)), body.total, body.next_offset];

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
  ])('of %s', async (query, wanted) => expect(itemsOf(await list(query))).toEqual([200, wanted, wanted.length, null]));

  it.each<[string, number[], number | null]>([
    ['?limit=3', [3, 2, 1], 3],
    ['?limit=3&offset=3', [0], null],
    ['?offset=1', [2, 1, 0], null],
    ['?limit=3&offset=9', [], null],
  ])('comes in pages: %s', async (query, wanted, next) => expect(itemsOf(await list(query))).toEqual([200, wanted, 4, next]));

  it.each<[string, number[], number | null]>([
    ['', [0, 2, 4], null],
    ['?limit=2', [0, 2], 2],
    ['?limit=2&offset=2', [4], null],
    ['?offset=7', [], null],
  ])('of a chat is oldest first, with what is archived: %s', async (query, wanted, next) =>
    expect(itemsOf(await list(query, chat.path))).toEqual([200, wanted, 3, next]),
  );

  it('of a chat is refused where the chat or the page is none', async () => {
    expect((await list('?limit=0', chat.path)).status).toBe(422);
    expect((await list('', `${chat.org.path}/chats/${uuidv7()}/decisions`)).status).toBe(404);
    expect((await list('', `${chat.org.path}/chats/not-an-id/decisions`)).status).toBe(422);
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
    const body = { code: 'validation_error', detail: [{ loc: ['query', query.split('=')[0]] }] };
    for (const path of [agent.path, `${agent.path}/groups`]) expect(await list(`?${query}`, path)).toMatchObject({ status: 422, body });
  });

  it('takes the agent by id and by slug, and once more in the query', async () => {
    const bySlug = `${agent.org.path}/agents/${agent.slug}/decisions`;
    // Another organization's agent is none.
    const named = [agent.id, agent.slug, agent.id.toUpperCase(), '', 'no-such', uuidv7(), '%25%20%27', (await anAgent(t)).id];
    for (const query of ['', ...named.map((ref) => `?agent_id=${ref}`)])
      expect([query, (await list(query, bySlug)).body.total, (await list(query)).body.total]).toEqual([query, 4, 4]);
    const other = await anAgent(t, agent.org);
    const detail = [{ loc: ['query', 'agent_id'], msg: expect.any(String), type: 'value_error' }];
    for (const path of [agent.path, bySlug, `${agent.path}/groups`])
      for (const ref of [other.id, other.slug])
        expect(await list(`?agent_id=${ref}`, path)).toMatchObject({ status: 422, body: { detail } });
  });

  it('is not there for an agent that is not', async () => {
    const foreign = await anAgent(t);
    await t.db.execute(sql(`UPDATE agents SET slug = 'foreign' WHERE id = $1`), [foreign.id]);
    for (const ref of [uuidv7(), 'no-such-agent', 'No%20Slug', foreign.id, 'foreign']) {
      const nowhere = { ...agent, path: `${agent.org.path}/agents/${ref}/decisions` };
      for (const path of ['', '/groups']) expect((await list('', nowhere.path + path)).status).toBe(404);
      for (const action of ['archive', 'unarchive', 'review'] as const)
        expect((await inBulk(t, nowhere, action, { decision_ids: made })).status).toBe(404);
    }
  });

  it('is served where the log is off', async () => {
    await entitle(t, { decision_log: false });
    const answers = [await list(), await list('', chat.path), await list('', `${agent.path}/groups`)];
    expect(answers.map(({ status, body }) => [status, body.total])).toEqual([
      [200, 4],
      [200, 3],
      [200, 1],
    ]);
    await entitle(t, { decision_log: true });
  });
});

describe('the groups', () => {
  let chat: TestChat;
  const groups = async (query = '') => await t.make('GET', `${chat.agent.path}/groups${query}`, { as: chat.org.owner });
  const bases = ({ items }: { items: { basis: string }[] }) => items.map((g) => g.basis);

  beforeAll(async () => {
    chat = await aChat(t);
  });

  it('hold what cites the same basis word for word, the largest first, then the latest', async () => {
    const two = await someDecisions(t, chat, 2, { basis: 'Rule two' });
    const four = await someDecisions(t, chat, 4, { basis: ' Rule four\n' });
    const lower = await someDecisions(t, chat, 2, { basis: 'rule two', kind: 'no_act' });
    const [spaced] = await someDecisions(t, chat, 1, { basis: 'Rule  two' });
    // Made in another order than that of their words.
    const ties: string[] = [];
    for (const basis of ['B', 'C', 'A']) ties.push(await aDecision(t, chat, { basis }));
    expect(bases(await groups()).slice(-4)).toEqual(['A', 'C', 'B', 'Rule  two']);
    await t.db.execute(sql('DELETE FROM decisions WHERE id = ANY($1)'), [ties]);
    await review(t, chat, four[0], { review_status: 'agreed' });
    await review(t, chat, four[1], { review_status: 'disputed' });
    const rows = await rowsOf(t, chat);
    const group = (basis: string, made: string[], unreviewed = made.length, disputed = 0) => {
      const latest_at = rows.find((row) => row.id === made.at(-1))!.created_at.toISOString();
      return { basis, count: made.length, unreviewed, disputed, latest_at, sample_decision_ids: [...made].reverse().slice(0, 3) };
    };
    const items = [group('Rule four', four, 2, 1), group('rule two', lower), group('Rule two', two), group('Rule  two', [spaced])];
    expect(await groups()).toEqual({ items, total: 4, next_offset: null });
  });

  it.each<[string, string[], number, number | null]>([
    ['limit=2', ['Rule four', 'rule two'], 4, 2],
    ['limit=2&offset=2', ['Rule two', 'Rule  two'], 4, null],
    ['limit=2&offset=8', [], 4, null],
    ['kind=no_act', ['rule two'], 1, null],
    ['archived=true', [], 0, null],
  ])('come in pages and by the same filters: %s', async (query, wanted, total, next) => {
    const body = await groups(`?${query}`);
    expect([bases(body), body.total, body.next_offset]).toEqual([wanted, total, next]);
  });

  it('count what the filter finds', async () => {
    const items = [{ basis: 'Rule four', count: 1, unreviewed: 0, disputed: 1 }];
    expect(await groups('?review_status=disputed')).toMatchObject({ total: 1, items });
  });

  it('are all answered where they are many, in the order of pages', async () => {
    const many = await aChat(t);
    const path = `${many.agent.path}/groups`;
    for (let n = 0; n < 120; n++) await someDecisions(t, many, n % 7 === 0 ? 2 : 1, { basis: `Rule "${n}", {its} \\ part` });
    const all = await t.make('GET', `${path}?offset=3`, { as: many.org.owner });
    const [first, second] = await Promise.all(
      [3, 103].map((offset) => t.make('GET', `${path}?limit=100&offset=${offset}`, { as: many.org.owner })),
    );
    expect([first.total, first.next_offset, second.next_offset]).toEqual([120, 103, null]);
    expect(all).toEqual({ items: [...first.items, ...second.items], total: 120, next_offset: null });
  });

  it('know their newest when what was newer has gone', async () => {
    const agent = await anAgent(t, chat.org);
    const [older, newer] = await someDecisions(t, await aChat(t, agent), 2);
    await inBulk(t, agent, 'archive', { decision_ids: [newer] });
    const { created_at } = await t.make('GET', `${agent.path}`, { as: chat.org.owner }).then(({ items }) => items[0]);
    const items = [{ count: 1, latest_at: created_at, sample_decision_ids: [older] }];
    expect(await t.make('GET', `${agent.path}/groups`, { as: chat.org.owner })).toMatchObject({ total: 1, items });
  });
});

describe('a chat that the caller may not open', () => {
  it('adds to no list, count, group or bulk action, and its decisions are not there', async () => {
    const agent = await anAgent(t);
    const { owner, member } = agent.org;
    const secret = await aChat(t, agent, { created_by: member.id });
    const gone = await aChat(t, agent, { deleted_at: new Date(), shared: true });
    const hidden = [...(await someDecisions(t, secret, 3, { basis: 'Secret' })), ...(await someDecisions(t, gone, 2, { basis: 'Gone' }))];
    const shared = await aChat(t, agent, { created_by: member.id, shared: true });
    const nobodys = await aChat(t, agent, { created_by: null });
    const own = await aChat(t, agent);
    const seen = [await aDecision(t, shared), await aDecision(t, nobodys), await aDecision(t, own)];

    const list = await get(agent.path, owner);
    expect([ids(list.body), list.body.total]).toEqual([[...seen].reverse(), 3]);
    expect((await get(`${agent.path}/groups`, owner)).body).toMatchObject({ total: 1, items: [{ basis: 'Rule 1', count: 3 }] });
    expect((await get(`${agent.path}?limit=1`, owner)).body).toMatchObject({ total: 3, next_offset: 1 });
    // Roles open nothing.
    expect(ids((await get(agent.path, await aMember(t, agent.org, 'ADMIN'))).body)).toEqual([seen[1], seen[0]]);
    expect((await get(agent.path, member)).body.total).toBe(5);

    for (const [chat, id] of [
      [secret, hidden[0]],
      [gone, hidden[3]],
    ] as const) {
      const answers = [await get(chat.path, owner)];
      // Nor through a chat that may be opened.
      for (const by of [chat, own]) answers.push(await review(t, by, id, { review_status: 'agreed' }), await draftOf(t, by, id));
      expect(answers.map(({ body }) => body.code)).toEqual(Array(5).fill('not_found'));
    }
    const before = [...(await rowsOf(t, secret)), ...(await rowsOf(t, gone))];
    const bulk = async (action: 'archive' | 'unarchive' | 'review', selection: object) => (await inBulk(t, agent, action, selection)).body;
    for (const action of ['review', 'archive', 'unarchive'] as const) {
      expect(await bulk(action, { decision_ids: hidden })).toEqual(changed(0));
      expect(await bulk(action, { filter: {} })).toEqual(changed(3));
    }
    expect([...(await rowsOf(t, secret)), ...(await rowsOf(t, gone))]).toEqual(before);
    expect(before).toEqual(Array(5).fill(expect.objectContaining({ review_status: 'unreviewed', archived_at: null })));
  });
});
