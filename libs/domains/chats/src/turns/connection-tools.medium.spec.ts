import { entitle } from '@aps/billing/testing';
import { ConnectionsHttpModule } from '@aps/connections/http';
import { besideTools, connectManaged, tool } from '@aps/connections/testing';
import type { ResolvedModel } from '@aps/inference';
import { ModelCalls } from '@aps/inference/testing';
import { sql, type Answer, type Bearer } from '@aps/platform/testing';
import { ToolSet, type Tool, type ToolGrants } from '@aps/tools';
import { startDemoTools } from '../../../../../tools/demo-tools/server';
import { calls, ChatsService, script, type TestOrg } from '../testing/chats';
import { namedIn, offerOf } from './tool-router';
import type { TranscriptRow } from '../state/chat.types';
import { OUTCOME_UNKNOWN } from './transcript';

const said = (words: string) => ({ content: [{ type: 'text', text: words }] });
const ADDRESS = { type: 'object', properties: { to: { type: 'string', minLength: 3 } }, required: ['to'] };

describe('tools of connections in a turn', () => {
  const app = new (besideTools(ChatsService))({}, [ConnectionsHttpModule]);
  let org: TestOrg;

  beforeAll(async () => {
    await app.start();
    await app.addUnpricedModel('unpriced');
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    Object.assign(app.has, {
      tools: [tool('look', { readOnlyHint: true }), { ...tool('post'), inputSchema: ADDRESS }, tool('wipe', { destructiveHint: true })],
      calls: { look: () => said('seen'), post: () => said('posted'), wipe: () => said('wiped') },
      before: undefined,
    });
    org = await app.org({ allowed_tools: ['*'] });
    app.server.seen.length = 0;
  });
  afterEach(() => entitle(app, { enforces_credits: false }));

  /** Connects the demo. @returns its path */
  const connect = async (body: object = {}, as: Bearer = org.owner): Promise<string> => {
    const made = await app.make('POST', `/api/orgs/${org.id}/connections`, {
      as,
      body: { app_key: 'demo', method: 'none', label: 'Demo', ...body },
    });
    return `/api/orgs/${org.id}/connections/${made.connection.id}`;
  };
  const say = async (content: string, { as = org.owner as Bearer, chat = '' } = {}): Promise<Answer['body']> => {
    const id = chat || (await app.chat(org, { title: 'Test' }, as));
    if (!chat) await app.make('PATCH', `${org.path}/${id}`, { as, body: { shared: true } });
    const before = (await app.read(org, id)).body.messages.filter((m: { role: string }) => m.role === 'user').length;
    await app.make('POST', `${org.path}/${id}/messages`, { as, body: { content } });
    return app.settled(org, id, before + 1);
  };
  const results = (chat: Answer['body']): string[] =>
    chat.messages.filter((m: { role: string }) => m.role === 'tool').map((m: { content: string }) => m.content);
  const made = (name: string) => app.server.seen.filter(({ rpc, params }) => rpc === 'tools/call' && params?.name === name);

  it('are called under a key, with arguments that fit their schema', async () => {
    await connect({ scope: 'org' });
    const chat = await say(
      script(
        { tool_calls: [{ name: 'demo__post', arguments: { to: 'x' } }] },
        { tool_calls: [{ name: 'demo__post', arguments: { to: 'ann' } }] },
        { text: 'done' },
      ),
    );
    expect(results(chat)).toEqual([expect.stringContaining('to: must NOT have fewer than 3 characters'), 'posted']);
    const [{ id: turn }] = await app.db.query(sql<{ id: string }>('SELECT id FROM turns WHERE chat_id = $1'), [chat.id]);
    const key = expect.stringMatching(new RegExp(`^${turn}/4/`)) as string;
    expect(made('post').map(({ params }) => params)).toEqual([
      expect.objectContaining({ arguments: { to: 'ann' }, _meta: expect.objectContaining({ idempotency_key: key }) }),
    ]);
  });

  it('of managed apps are as any other: switched by their chat, called under a key, and in doubt where their provider breaks off', async () => {
    let isBroken = false;
    const demo = await startDemoTools({
      before: (path, _req, res) => isBroken && path.startsWith('/tools/execute/') && Boolean(res.destroy()),
    });
    try {
      app.configure({ DEMO_APPS_URL: new URL(demo.url).origin });
      const connection = await connectManaged(app, org, org.owner, { app_key: 'demo-crm', scope: 'org' });
      const add = (args: object) => calls('demo-crm__DEMO_CRM_CREATE_CONTACT', { ...args });
      const chat = await say(add({ name: 'Grace' }));
      expect(results(chat)).toEqual([expect.stringContaining("must have required property 'email'")]);
      expect(results(await say(add({ name: 'Grace', email: 'grace@example.com' })))).toEqual(['{"id":"3"}']);
      expect(demo.apps.calls.map(({ tool: name, key }) => [name, typeof key])).toEqual([['DEMO_CRM_CREATE_CONTACT', 'string']]);
      const { toggles } = (await app.call('GET', `${org.path}/${chat.id}/toggles`, { as: org.owner })).body;
      expect(toggles).toContainEqual({ scope: 'con:demo-crm', label: 'Demo CRM', kind: 'connection', connection_id: connection.id, enabled: true }); // prettier-ignore
      isBroken = true;
      expect(results(await say(add({ name: 'Ada', email: 'ada@example.com' })))).toEqual([expect.stringContaining(OUTCOME_UNKNOWN)]);
    } finally {
      app.configure({ DEMO_APPS_URL: undefined });
      await demo.close();
    }
  });

  it('of a private connection are there for turns of its owner alone, also in a chat that others write in, and below', async () => {
    await connect({ label: 'Mine' });
    const look = calls('mine__look', {});
    const chat = await say(look);
    expect(results(chat)).toEqual(['seen']);
    const refused = 'There is no tool mine__look, or you may not use it.';
    expect(results(await say(calls('mine__look', {}), { as: org.member, chat: chat.id })).at(-1)).toBe(refused);
    // What the owner wrote is not done with it because the member has it done again.
    await app.make('POST', `${org.path}/${chat.id}/retry`, { as: org.member });
    expect(made('look')).toHaveLength(1);

    const { id: child } = await app.make('POST', `/api/orgs/${org.id}/agents`, {
      as: org.owner,
      body: { name: 'Child', slug: 'child', allowed_tools: ['con:mine'] },
    });
    expect(child).toBeDefined();
    const delegate = script({ tool_calls: [{ name: 'delegate_to_agent', arguments: { agent: 'child', task: look } }] }, { text: 'done' });
    await say(delegate, { as: org.member });
    expect(made('look')).toHaveLength(1);
    await say(delegate);
    expect(made('look')).toHaveLength(2);
  });

  describe('of a private connection are not there for what others have written, although its owner has it done:', () => {
    const refused = ['There is no tool mine__look, or you may not use it.'];
    const look = { tool_calls: [{ name: 'mine__look', arguments: {} }] };
    const shared = async (): Promise<string> => {
      await connect({ label: 'Mine' });
      const chat = await app.chat(org);
      await app.make('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { shared: true } });
      return chat;
    };
    const write = (chat: string, as: Bearer, content: string, more: object = {}) =>
      app.make('POST', `${org.path}/${chat}/messages`, { as, body: { content, ...more } });

    it.each([
      ['the owner', (): Bearer[] => [org.owner, org.owner], ['seen']],
      ['the owner and a member', (): Bearer[] => [org.owner, org.member], refused],
    ])('retried after %s have written', async (_, authors, wanted) => {
      const chat = await shared();
      for (const as of authors()) {
        await write(chat, as, script({ error: { status: 400, message: 'no', times: 1 }, ...look }, { text: 'done' }));
        await app.until(org, chat, (c) => c.status === 'ERRORED');
      }
      const { id } = await app.make('POST', `${org.path}/${chat}/retry`, { as: org.owner });
      expect(results(await app.settled(org, id, 1))).toEqual(wanted);
    });

    it.each([
      ['the owner', () => org.owner, ['seen']],
      ['a member', () => org.member, refused],
    ])('continued after %s has written to the closed chat', async (_, author, wanted) => {
      await entitle(app, { enforces_credits: true, direct_model_choice: true });
      const chat = await shared();
      await write(chat, org.owner, 'hello', { model: 'unpriced' });
      await app.until(org, chat, (c) => c.status === 'ARCHIVED');
      expect(await write(chat, author(), script(look, { text: 'done' }))).toMatchObject({ reason: 'chat_archived' });
      await app.call('POST', `${org.path}/${chat}/continue`, { as: org.owner });
      expect(results(await app.settled(org, chat, 1))).toEqual(wanted);
    });
  });

  it('of a private connection take no arguments of others, who may approve what was asked for', async () => {
    await connect({ label: 'Mine' });
    await connect({ label: 'Ours', scope: 'org' });
    const asked = async (tool_slug: string) => {
      const call = { kind: 'escalate', summary: 'Post it', basis: 'Rule 1', tool_slug, arguments: { to: 'ann' } };
      const chat = await app.chat(org);
      await app.make('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { shared: true } });
      await app.send(org, chat, script({ tool_calls: [{ name: 'record_decision', arguments: call }] }, { text: 'done' }));
      await app.until(org, chat, (c) => c.status === 'PAUSED');
      const path = `/api/orgs/${org.id}/hitl-requests`;
      const { items } = (await app.call('GET', `${path}?chat_id=${chat}`, { as: org.owner })).body;
      return { chat, answer: (as: Bearer, body: object) => app.call('POST', `${path}/${items[0].id}/answer`, { as, body }) };
    };
    const edit = { decision: 'edit', edited_arguments: { to: 'bob' } };
    const [approved, edited, ours] = [await asked('mine__post'), await asked('mine__post'), await asked('ours__post')];
    expect(await approved.answer(org.member, edit)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'decision'] }] } });
    expect((await approved.answer(org.member, { decision: 'approve' })).status).toBe(200);
    expect((await edited.answer(org.owner, edit)).status).toBe(200);
    expect((await ours.answer(org.member, edit)).status).toBe(200);
    for (const { chat } of [approved, edited, ours])
      expect(results(await app.settled(org, chat, 1))).toEqual([expect.stringMatching(/posted$/)]);
    expect(made('post').map(({ params }) => params?.arguments)).toEqual(
      expect.arrayContaining([{ to: 'ann' }, { to: 'bob' }, { to: 'bob' }]),
    );
  });

  it('are not called once their connection is switched off, given away or gone, also within a turn', async () => {
    const path = await connect({ label: 'Mine' });
    Object.assign(app.has, {
      calls: {
        ...app.has.calls,
        look: async () => {
          await app.make('PATCH', path, { as: org.owner, body: { status: 'disabled' } });
          return said('seen');
        },
      },
    });
    const twice = script(
      { tool_calls: [{ name: 'mine__look', arguments: {} }] },
      { tool_calls: [{ name: 'mine__wipe', arguments: {} }] },
      { text: 'done' },
    );
    expect(results(await say(twice))).toEqual(['seen', expect.stringContaining('was not made and had no effect: The connection is gone')]);
    expect(results(await say(calls('mine__wipe', {})))).toEqual(['There is no tool mine__wipe, or you may not use it.']);
    await app.make('PATCH', path, { as: org.owner, body: { status: 'active' } });
    await app.make('PATCH', `${path}/owner`, { as: org.owner, body: { owner_user_id: org.member.id } });
    expect(results(await say(calls('mine__wipe', {})))).toEqual(['There is no tool mine__wipe, or you may not use it.']);
    expect(made('wipe')).toEqual([]);
  });

  it('need a recorded decision where the mode of their connection covers them, which says whose tool it is about', async () => {
    const path = await connect({ scope: 'org', decision_mode: 'destructive' });
    const decided = { name: 'record_decision', arguments: { kind: 'act', summary: 'Wipe it', basis: 'Rule 1', tool_slug: 'demo__wipe' } };
    const chat = await say(
      script(
        { tool_calls: [{ name: 'demo__wipe', arguments: {} }] },
        { tool_calls: [decided] },
        { tool_calls: [{ name: 'demo__wipe', arguments: {} }] },
        { text: 'done' },
      ),
    );
    expect(results(chat)).toEqual([expect.stringContaining('it needs a recorded decision'), expect.stringContaining('recorded'), 'wiped']);
    const { items } = (await app.call('GET', `/api/orgs/${org.id}/chats/${chat.id}/decisions`, { as: org.owner })).body;
    expect(items).toEqual([expect.objectContaining({ tool_slug: 'demo.wipe', connection_id: path.split('/').at(-1) })]);
  });

  it('have an outcome that nobody knows where their server breaks off, unless they only read', async () => {
    await connect({ scope: 'org' });
    const leave = () => setImmediate(() => app.server.drop()) && new Promise(() => undefined);
    Object.assign(app.has, { calls: { post: leave, look: leave } });
    expect(results(await say(calls('demo__post', { to: 'ann' })))).toEqual([OUTCOME_UNKNOWN]);
    expect(results(await say(calls('demo__look', {})))).toEqual([
      expect.stringContaining('failed on our side, and may have had an effect'),
    ]);
  });

  it('tell that their server does not let them in, and the connection says so', async () => {
    const path = await connect({ scope: 'org' });
    Object.assign(app.has, {
      before: (_req: unknown, res: { writeHead(status: number): { end(): unknown } }) => !!res.writeHead(401).end(),
    });
    expect(results(await say(calls('demo__post', { to: 'ann' })))).toEqual([expect.stringContaining('was not made and had no effect')]);
    expect((await app.call('GET', path, { as: org.owner })).body).toMatchObject({
      status: 'error',
      last_error: expect.any(String) as string,
    });
  });

  describe('that are more than a model can be offered', () => {
    const RECEIPTS = sql<{ n: number }>(`SELECT count(*)::int AS n FROM inference_receipts WHERE chat_id = $1 AND feature = 'tool_router'`);
    const all = Array.from({ length: 200 }, (_, i) => tool(`t${i}`));
    afterEach(() => jest.restoreAllMocks());
    beforeEach(async () => {
      Object.assign(app.has, { tools: all, calls: Object.fromEntries(all.map(({ name }) => [name, () => said(`from ${name}`)])) });
      await connect();
    });

    /** @returns the tools of the connection that each call of a turn was offered, and what it was told */
    const asking = () => {
      const asked = jest.spyOn(app.get(ModelCalls), 'streamChat');
      return () =>
        asked.mock.calls
          .filter(([, { feature }]) => feature === 'turn')
          .map(([, { tools = [], system = '' }]) => ({
            all: tools.length,
            system,
            names: tools.flatMap(({ name }) => /^demo__/.exec(name)?.input ?? []),
          }));
    };

    it('are chosen once a turn, beside our own and those that the chat has called', async () => {
      const turns = asking();
      const { id: chat } = await say(calls('demo__t7', {}));
      expect(turns().map(({ names }) => names)).toEqual([['demo__t7'], ['demo__t7']]);
      await say('Use demo__t150 or demo__t3 or demo__none.', { chat });
      const last = turns().at(-1)!;
      expect(last.names).toEqual(['demo__t150', 'demo__t3', 'demo__t7']);
      expect(last.all).toBeGreaterThan(last.names.length);
      expect(last.system).toContain('Of your ');
      expect(await app.db.query(RECEIPTS, [chat])).toEqual([{ n: 2 }]);
    });

    it('are chosen once in a turn that waits and goes on', async () => {
      const turns = asking();
      const chat = await app.chat(org);
      const ask = { tool_calls: [{ name: 'ask_human', arguments: { kind: 'question', prompt: 'Shall demo__t9 be used?' } }] };
      await app.send(org, chat, script(ask, { text: 'done' }));
      await app.until(org, chat, (c) => c.status === 'PAUSED');
      const requests = `/api/orgs/${org.id}/hitl-requests`;
      const { items } = (await app.call('GET', `${requests}?chat_id=${chat}`, { as: org.owner })).body;
      await app.make('POST', `${requests}/${items[0].id}/answer`, { as: org.owner, body: { answer: 'Yes' } });
      await app.settled(org, chat, 1);
      expect(turns().map(({ names }) => names)).toEqual([['demo__t9'], ['demo__t9']]);
      expect(await app.db.query(RECEIPTS, [chat])).toEqual([{ n: 1 }]);
    });

    it('are those that fit, in order, where none is named', async () => {
      const turns = asking();
      const chat = await say('Do what has to be done.');
      const [{ all: offered, names }] = turns();
      expect([offered, names[0]]).toEqual([128, 'demo__t0']);
      expect(await app.db.query(RECEIPTS, [chat.id])).toEqual([{ n: 1 }]);
    });

    it('are those that fit, in order, where none can be chosen', async () => {
      const turns = asking();
      await entitle(app, { enforces_credits: true, direct_model_choice: true });
      await app.db.execute(sql(`INSERT INTO org_ai_settings (org_id, tool_router_default_model) VALUES ($1, 'unpriced')`), [org.id]);
      const chat = await say('Use demo__t150.');
      const [{ all: offered, names }] = turns();
      expect([offered, names[0]]).toEqual([128, 'demo__t0']);
      expect(await app.db.query(RECEIPTS, [chat.id])).toEqual([{ n: 0 }]);
    });
  });
});

describe('what of its tools a turn is offered', () => {
  const long = 'x'.repeat(2_000);
  const toolOf = (slug: string, description = slug, scope = 'con:demo'): Tool =>
    ({ name: slug, slug, description, scope, schema: { type: 'object' } }) as unknown as Tool;
  const grants = { allowed_tools: ['*'], denied_tools: [], enabled_scopes: null } as unknown as ToolGrants;
  const offer = (tools: Tool[], { called = [] as string[], chosen = undefined as string[] | undefined, window = 8_000 }) => {
    const rows = called.map((name) => ({ tool_calls: [{ name }] })) as unknown as TranscriptRow[];
    return offerOf(new ToolSet(grants, tools), rows, { context_window: window } as ResolvedModel, chosen).map(({ name }) => name);
  };

  it('goes on behind a tool that is too large', () => {
    const large = toolOf('large', 'x'.repeat(9_000));
    expect(offer([large, toolOf('small'), toolOf('own', long, 'core')], {})).toEqual(['small', 'own']);
    expect(offer([large, toolOf('small'), toolOf('other')], { chosen: ['large', 'other'] })).toEqual(['other']);
  });

  it('leaves half of the room for what is chosen', () => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => toolOf(name, long));
    expect(offer(all, { called: ['a', 'b', 'c', 'd'] })).toEqual(['b', 'c', 'd']);
    expect(offer(all, { called: ['a', 'b', 'c', 'd'], chosen: ['e', 'f'] })).toEqual(['d', 'e', 'f']);
    const many = Array.from({ length: 300 }, (_, i) => toolOf(`t${i}`));
    const called = many.slice(0, 200).map(({ name }) => name);
    expect(offer(many, { called, chosen: ['t299'], window: 200_000 })).toEqual([...called.slice(-64), 't299']);
  });

  it('is what the beginning of an answer names, however long that is', () => {
    const tools = new ToolSet(grants, [toolOf('a'), toolOf('b'), toolOf('c')]);
    expect(namedIn(`b, a: none of z, or b\n${'a '.repeat(100_000)}c`, tools)).toEqual(['b', 'a']);
  });

  it('counts what scripts of three bytes come to', () => {
    const wide = ['a', 'b', 'c', 'd'].map((name) => toolOf(name, '工具'.repeat(500)));
    expect(offer(wide, {})).toEqual(['a', 'b']);
  });
});
