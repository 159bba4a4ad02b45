import type { Bearer } from '@aps/platform/testing';
import { AgentsService } from '@aps/agents';
import { connectionId } from '@aps/contracts';
import { Connection } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { sql, type Answer } from '@aps/platform/testing';
import { defineTool, ToolCatalog } from '@aps/tools';
import { z } from 'zod';
import { chatsService, script, type TestOrg } from '../testing/chats';

const web = 'system:web';

describe('toggles', () => {
  const app = chatsService();
  let org: TestOrg;
  /** Of its connections, by slug. */
  const ids: Record<string, string> = {};

  /** A connection of everybody, as a row. @returns its id, as it is shown */
  const connect = async (of: TestOrg, slug: string): Promise<string> =>
    connectionId(
      await app.insert(Connection, {
        ...{ org_id: of.id, slug, label: slug.toUpperCase(), app_key: 'custom-mcp', provider_key: 'custom-mcp' },
        ...{ method: 'none', status: 'active', scope: 'org', owner_user_id: of.owner.id },
      }),
    );

  const get = (chat: string, as: Bearer = org.owner): Promise<Answer> => app.call('GET', `${org.path}/${chat}/toggles`, { as });
  const put = (chat: string, body: unknown, as: Bearer = org.owner): Promise<Answer> =>
    app.call('PUT', `${org.path}/${chat}/toggles`, { as, body });
  const stateOf = ({ body }: Answer): unknown => [
    (body.toggles as { scope: string; enabled: boolean }[]).map((t) => [t.scope, t.enabled]),
    body.enabled_scopes,
  ];

  beforeAll(async () => {
    org = await app.org({ allowed_tools: [web, 'con:mail', 'crm.find', 'system:exec'] });
    for (const slug of ['mail', 'crm', 'other']) ids[slug] = await connect(org, slug);
    const answer = (text: string) => () => Promise.resolve({ kind: 'result' as const, content: text });
    app.get(ToolCatalog).register(
      defineTool({
        slug: 'web_probe',
        name: 'web_probe',
        description: 'web',
        scope: web,
        accessLevel: 'read',
        parameters: z.object({}),
        run: answer('web reached'),
      }),
      defineTool({
        slug: 'mail.probe',
        name: 'mail_probe',
        description: 'mail',
        scope: 'con:mail',
        accessLevel: 'read',
        parameters: z.object({}),
        run: answer('mail reached'),
      }),
    );
  });

  it('lists the web and the connections that the agent is granted, all on', async () => {
    const chat = await app.chat(org);
    expect(await get(chat)).toMatchObject({
      status: 200,
      body: {
        toggles: [
          { scope: web, label: 'Web search', kind: 'web', connection_id: null, enabled: true },
          { scope: 'con:crm', label: 'CRM', kind: 'connection', connection_id: ids.crm, enabled: true },
          { scope: 'con:mail', label: 'MAIL', kind: 'connection', connection_id: ids.mail, enabled: true },
        ],
        enabled_scopes: null,
      },
    });
  });

  it('merges toggles, and replaces by a list', async () => {
    const chat = await app.chat(org);
    expect(stateOf(await put(chat, { toggles: [{ scope: 'con:mail', enabled: false }] }))).toEqual([
      [
        [web, true],
        ['con:crm', true],
        ['con:mail', false],
      ],
      [web, 'con:crm'],
    ]);
    expect(stateOf(await put(chat, { toggles: [{ scope: web, enabled: false }] }))).toEqual([
      [
        [web, false],
        ['con:crm', true],
        ['con:mail', false],
      ],
      ['con:crm'],
    ]);
    expect(stateOf(await get(chat))).toEqual([
      [
        [web, false],
        ['con:crm', true],
        ['con:mail', false],
      ],
      ['con:crm'],
    ]);
    expect(stateOf(await put(chat, { enabled_scopes: [] }))).toEqual([
      [
        [web, false],
        ['con:crm', false],
        ['con:mail', false],
      ],
      [],
    ]);
    expect(stateOf(await put(chat, { enabled_scopes: null }))).toEqual([
      [
        [web, true],
        ['con:crm', true],
        ['con:mail', true],
      ],
      null,
    ]);
  });

  it('writes nothing when nothing changes', async () => {
    const chat = await app.chat(org);
    const row = async () => (await app.db.query(sql('SELECT enabled_scopes, updated_at, xmin::text FROM chats WHERE id = $1'), [chat]))[0];
    const fresh = await row();
    for (const body of [{ toggles: [] }, { toggles: [{ scope: web, enabled: true }] }, { enabled_scopes: null }])
      expect((await put(chat, body)).status).toBe(200);
    expect({ ...(await row()), xmin: null }).toEqual({ ...fresh, xmin: null });
    await put(chat, { enabled_scopes: [web, 'con:crm'] });
    const chosen = await row();
    expect(chosen.updated_at).not.toEqual(fresh.updated_at);
    for (const body of [{ enabled_scopes: ['con:crm', web] }, { toggles: [{ scope: 'con:mail', enabled: false }] }])
      expect((await put(chat, body)).status).toBe(200);
    expect((await row()).updated_at).toEqual(chosen.updated_at);
  });

  it.each<[string, unknown, (string | number)[], string]>([
    ['neither', {}, ['body'], 'value_error'],
    ['both', { toggles: [], enabled_scopes: null }, ['body'], 'value_error'],
    ['no list', { toggles: null }, ['body', 'toggles'], 'list_type'],
    ['a toggle without a state', { toggles: [{ scope: web }] }, ['body', 'toggles', 0, 'enabled'], 'missing'],
    [
      'two words about one scope',
      {
        toggles: [
          { scope: web, enabled: true },
          { scope: web, enabled: false },
        ],
      },
      ['body', 'toggles', 1, 'scope'],
      'value_error',
    ],
    ['a scope twice', { enabled_scopes: [web, web] }, ['body', 'enabled_scopes'], 'value_error'],
    [
      'an unknown scope',
      {
        toggles: [
          { scope: web, enabled: true },
          { scope: 'con:nowhere', enabled: true },
        ],
      },
      ['body', 'toggles', 1, 'scope'],
      'semantic.unknown_reference',
    ],
    [
      'a connection that the agent is not granted',
      { enabled_scopes: [web, 'con:other'] },
      ['body', 'enabled_scopes', 1],
      'semantic.unknown_reference',
    ],
    [
      'core tools, which cannot be switched',
      { toggles: [{ scope: 'core', enabled: false }] },
      ['body', 'toggles', 0, 'scope'],
      'semantic.unknown_reference',
    ],
  ])('refuses %s', async (_, body, loc, type) => {
    const chat = await app.chat(org);
    expect(await put(chat, body)).toMatchObject({ status: 422, body: { detail: [{ loc, type }] } });
    expect(stateOf(await get(chat))).toEqual([
      [
        [web, true],
        ['con:crm', true],
        ['con:mail', true],
      ],
      null,
    ]);
  });

  it('judges the shape of a request before it looks for the chat, and names after', async () => {
    const nowhere = 'b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0001';
    expect((await put(nowhere, {})).status).toBe(422);
    expect((await put(nowhere, { enabled_scopes: ['con:nowhere'] })).status).toBe(404);
  });

  it('loses no switch when members switch at once', async () => {
    const slugs = Array.from({ length: 20 }, (_, i) => `c${i}`);
    const wide = await app.org({ allowed_tools: ['*'] });
    for (const slug of slugs) await connect(wide, slug);
    const chat = await app.chat(wide);
    const answers = await Promise.all(
      slugs.map((slug) =>
        app.call('PUT', `${wide.path}/${chat}/toggles`, { as: wide.owner, body: { toggles: [{ scope: `con:${slug}`, enabled: false }] } }),
      ),
    );
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
    expect((await app.call('GET', `${wide.path}/${chat}/toggles`, { as: wide.owner })).body.enabled_scopes).toEqual([web]);
  });

  it('binds the turns that begin afterwards, and only what can be switched', async () => {
    const chat = await app.chat(org);
    const calls = (replies: number) => async () => {
      await app.send(
        org,
        chat,
        script(
          {
            tool_calls: ['web_probe', 'mail_probe', 'todo_write'].map((name) => ({
              name,
              arguments: name === 'todo_write' ? { todos: [] } : {},
            })),
          },
          { text: 'done' },
        ),
      );
      const { messages } = await app.settled(org, chat, replies);
      return (messages as { role: string; tool_name: string; content: string }[])
        .filter((m) => m.role === 'tool')
        .slice(-3)
        .map((m) => [m.tool_name, m.content.replace(/^There is no tool .*/, 'refused').replace(/^\{.*/, 'done')]);
    };
    expect(await calls(1)()).toEqual([
      ['web_probe', 'web reached'],
      ['mail_probe', 'mail reached'],
      ['todo_write', 'done'],
    ]);
    await put(chat, { toggles: [{ scope: web, enabled: false }] });
    expect(await calls(2)()).toEqual([
      ['web_probe', 'refused'],
      ['mail_probe', 'mail reached'],
      ['todo_write', 'done'],
    ]);
    await put(chat, { enabled_scopes: [web] });
    expect(await calls(3)()).toEqual([
      ['web_probe', 'web reached'],
      ['mail_probe', 'refused'],
      ['todo_write', 'done'],
    ]);
  });

  it('tells nobody of what is somebody else’s alone, and leaves it as it is', async () => {
    const shared = await app.org({ allowed_tools: ['*'] });
    for (const slug of ['mail', 'crm']) await connect(shared, slug);
    await app.db.execute(sql(`UPDATE connections SET scope = 'private' WHERE org_id = $1 AND slug = 'crm'`), [shared.id]);
    const chat = await app.chat(shared);
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    const at = `${shared.path}/${chat}/toggles`;
    const set = async (as: Bearer, body?: object) => stateOf(await app.call(body ? 'PUT' : 'GET', at, { as, body }));
    const off = { toggles: [{ scope: 'con:mail', enabled: false }] };
    expect(await set(shared.member, off)).toEqual([
      [
        [web, true],
        ['con:mail', false],
      ],
      [web],
    ]);
    expect(await set(shared.owner)).toEqual([
      [
        [web, true],
        ['con:crm', true],
        ['con:mail', false],
      ],
      [web, 'con:crm'],
    ]);
    await set(shared.owner, { toggles: [{ scope: 'con:crm', enabled: false }] });
    expect(await set(shared.member, { toggles: [{ scope: 'con:mail', enabled: true }] })).toMatchObject([{}, [web, 'con:mail']]);
    expect(await set(shared.owner)).toMatchObject([{}, [web, 'con:mail']]);
  });

  it('can be set in a chat that is closed', async () => {
    const chat = await app.chat(org);
    await app.db.execute(sql(`UPDATE chats SET status = 'ARCHIVED' WHERE id = $1`), [chat]);
    expect((await put(chat, { enabled_scopes: [] })).body.enabled_scopes).toEqual([]);
  });

  it('is open to whoever may open the chat, by its own agent', async () => {
    const chat = await app.chat(org);
    const off = { enabled_scopes: [] };
    expect([(await get(chat, org.member)).status, (await put(chat, off, org.member)).status]).toEqual([404, 404]);
    const other = await app.get(AgentsService).create(OrgScope.member(org.id, org.owner.id, 'OWNER'), { name: 'Other' });
    for (const method of ['GET', 'PUT']) {
      const body = method === 'PUT' ? off : undefined;
      expect((await app.call(method, `/api/orgs/${org.id}/agents/${other.id}/chats/${chat}/toggles`, { as: org.owner, body })).status).toBe(
        404,
      );
    }
    expect((await get(chat)).body.enabled_scopes).toBeNull();
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    expect((await put(chat, off, org.member)).body.enabled_scopes).toEqual([]);
    await app.db.execute(sql('UPDATE chats SET deleted_at = now() WHERE id = $1'), [chat]);
    expect([(await get(chat)).status, (await put(chat, off)).status]).toEqual([404, 404]);
  });
});
