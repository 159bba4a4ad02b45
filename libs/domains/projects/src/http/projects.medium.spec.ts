import { randomUUID } from 'node:crypto';
import { connectionId } from '@aps/contracts';
import { Connection, Inbox } from '@aps/entities';
import { AgentsHttpModule } from '@aps/agents/http';
import { anAgent } from '@aps/agents/testing';
import { BillingModule } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { ConnectionsHttpModule } from '@aps/connections/http';
import { InferenceModule } from '@aps/inference';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { sql } from '@aps/platform/testing';
import { PromptsHttpModule } from '@aps/prompts/http';
import { BASE_MODULES, testService } from '@aps/testing';
import { ProjectsHttpModule } from '.';

const t = testService([
  ...BASE_MODULES,
  BillingModule,
  InferenceModule,
  AgentsHttpModule,
  PromptsHttpModule,
  ConnectionsHttpModule,
  ProjectsHttpModule,
]);
let org: TestTeam;
beforeEach(async () => {
  await entitle(t, { shared_blocks: true, max_agents: -1 });
  org = await aTeam(t);
});

const NOTHING = { agent: 0, agent_team: 0, inbox: 0, process: 0, prompt_template: 0, knowledge_base: 0, skill: 0, connection: 0 };
const asOwner = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.owner, body });
const asMember = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.member, body });
const make = (path: string, body: unknown) => t.make('POST', org.path + path, { as: org.owner, body });
const get = async (path: string) => (await asMember('GET', path)).body;
const add = (project: { id: string }, ...resources: [type: string, id: string][]) =>
  asOwner('POST', `/projects/${project.id}/resources`, {
    resources: resources.map(([entity_type, entity_id]) => ({ entity_type, entity_id })),
  });
const anInbox = () =>
  t.insert(Inbox, { id: `inb_${randomUUID().replaceAll('-', '').slice(6)}`, org_id: org.id, slug: randomUUID(), name: 'In' });
/** A connection of the owner's. @returns its id as it is shown, and as a UUID */
const aConnection = async (scope: Connection['scope'], label: string) => {
  const of = { org_id: org.id, slug: randomUUID(), app_key: 'demo', provider_key: 'demo', method: 'none', status: 'active' } as const;
  const uuid = await t.insert(Connection, { id: randomUUID(), ...of, label, scope, owner_user_id: org.owner.id });
  return { id: connectionId(uuid), uuid };
};

describe('projects', () => {
  it('are made, edited, ordered and deleted as teams are', async () => {
    const { status, body } = await asOwner('POST', '/projects', { name: 'Care', color: '#2f7d6b', icon: 'heart' });
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: expect.any(String), slug: 'care', name: 'Care', description: null, color: '#2f7d6b', icon: 'heart', display_order: 0 },
        ...{ shared_instruction: null, shared_allowed_tools: [], shared_mounted_skills: [], resource_counts: NOTHING },
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ]);
    const cleared = { color: null, icon: null };
    expect((await asOwner('PATCH', `/projects/${body.id}`, { ...cleared, slug: 'caring' })).body).toMatchObject({
      ...cleared,
      slug: 'caring',
    });
    expect((await asOwner('PATCH', `/projects/${body.id}`, { color: 'x'.repeat(33) })).status).toBe(422);
    expect((await asMember('GET', '/projects/caring')).status).toBe(422);
    const other = await make('/projects', { name: 'Other', slug: 'other' });
    expect((await asOwner('PATCH', `/projects/${other.id}`, { slug: 'caring' })).body.code).toBe('slug_taken');
    expect((await asMember('PUT', '/projects/reorder', { project_ids: [other.id] })).status).toBe(204);
    expect((await get('/projects')).items.map(({ id }: { id: string }) => id)).toEqual([other.id, body.id]);
    expect((await asOwner('POST', `/projects/${other.id}/memories`, { content: 'm' })).body.owner).toEqual({
      kind: 'project',
      id: other.id,
    });
    expect((await asOwner('DELETE', `/projects/${other.id}`)).status).toBe(204);
    for (const path of ['', '/memories', '/resources']) expect((await asMember('GET', `/projects/${other.id}${path}`)).status).toBe(404);
  });

  it('have resources of every type that there is, each in one project at most, and count them', async () => {
    const [one, two] = [await make('/projects', { name: 'One' }), await make('/projects', { name: 'Two' })];
    const agent = await anAgent(t, org, { name: 'Scout' });
    const team = await make('/agent-teams', { name: 'Team' });
    const prompt = await make('/prompt-templates', { name: 'Greet', text: 'Hello.' });
    const skill = await make('/skills', { name: 'Rare', description: 'd', content: 'c' });
    const inbox = await anInbox();
    const { id: skillId } = (await t.db.query(sql<{ id: string }>('SELECT id FROM skills WHERE org_id = $1'), [org.id]))[0];
    expect(await get('/projects')).toMatchObject({ total: 2, uncategorized_count: 5 });
    const all: [string, string][] = [
      ['agent', agent.id.toUpperCase()],
      ['agent_team', team.id],
      ['prompt_template', prompt.id],
      ['skill', skillId],
      ['inbox', inbox],
      ['agent', agent.id],
    ];
    expect((await add(one, ...all)).body).toEqual({ added: 5, moved: 0, unchanged: 0 });
    expect((await add(two, all[0], all[1])).body).toEqual({ added: 0, moved: 2, unchanged: 0 });
    expect((await add(two, all[0], all[2])).body).toEqual({ added: 0, moved: 1, unchanged: 1 });
    expect(await get('/projects?limit=1')).toMatchObject({
      total: 2,
      uncategorized_count: 0,
      items: [{ resource_counts: { ...NOTHING, skill: 1, inbox: 1 } }],
    });
    expect(await get(`/projects/${two.id}/resources`)).toMatchObject({
      total: 3,
      next_offset: null,
      items: [
        { entity_type: 'prompt_template', entity_id: prompt.id, name: 'Greet', slug: 'greet', added_at: expect.any(String) },
        { entity_type: expect.stringMatching(/^agent/) },
        { entity_type: expect.stringMatching(/^agent/) },
      ],
    });
    // An agent's own field and what its project says are one fact, whoever writes it.
    expect(await get(`/agents/${agent.id}`)).toMatchObject({ project_id: two.id, draft_dirty: false });
    await asOwner('PATCH', `/agents/${agent.id}`, { project_id: one.id });
    expect(await get(`/projects/${one.id}/resources?limit=1`)).toMatchObject({ total: 3, items: [{ name: 'Scout', slug: 'scout' }] });
    expect((await get(`/agent-teams?project_id=${two.id}`)).items).toMatchObject([{ id: team.id, project_id: two.id }]);
    expect((await get('/agent-teams?project_id=none')).total).toBe(0);
    // What is deleted is in no project, and none keeps what is deleted with it.
    await asOwner('DELETE', `/skills/${skill.slug}`);
    expect((await asOwner('DELETE', `/projects/${two.id}/resources/agent_team/${team.id}`)).status).toBe(204);
    expect((await asOwner('DELETE', `/projects/${one.id}`)).status).toBe(204);
    expect(await get('/projects')).toMatchObject({
      total: 1,
      uncategorized_count: 3,
      items: [{ resource_counts: { ...NOTHING, prompt_template: 1 } }],
    });
    expect(await t.db.query(sql('SELECT entity_id FROM project_resources WHERE org_id = $1'), [org.id])).toEqual([
      { entity_id: prompt.id },
    ]);
  });

  it('are not changed by what they are already', async () => {
    const [one, two] = [await make('/projects', { name: 'One', shared_allowed_tools: ['core'] }), await make('/projects', { name: 'Two' })];
    const agent = await anAgent(t, org);
    await add(one, ['agent', agent.id]);
    const before = [await get(`/projects/${one.id}`), await get(`/agents/${agent.id}`), await t.audit({ org_id: org.id })];
    const same = { name: 'One', slug: 'one', description: null, shared_allowed_tools: ['core'] };
    expect((await asOwner('PATCH', `/projects/${one.id}`, same)).body).toEqual(before[0]);
    expect((await asMember('PUT', '/projects/reorder', { project_ids: [one.id, two.id] })).status).toBe(204);
    expect((await add(one, ['agent', agent.id])).body).toEqual({ added: 0, moved: 0, unchanged: 1 });
    expect([await get(`/projects/${one.id}`), await get(`/agents/${agent.id}`), await t.audit({ org_id: org.id })]).toEqual(before);
    await asOwner('PATCH', `/projects/${one.id}`, { ...same, color: 'red' });
    expect((await t.audit({ org_id: org.id, action: 'project.updated' })).map(({ metadata }) => metadata)).toEqual([{ fields: ['color'] }]);
  });

  it('take all of what is to be in them or nothing, and nothing that is not there', async () => {
    const project = await make('/projects', { name: 'One' });
    const agent = await anAgent(t, org);
    const foreign = await anAgent(t, await aTeam(t));
    const system = randomUUID();
    const made = sql(`INSERT INTO skills (id, org_id, slug, name, description, content) VALUES ($1, NULL, $2, '', '', '')`);
    await t.db.execute(made, [system, `system-${system}`]);
    const absent: [string, string][] = [
      ['agent', foreign.id],
      ['agent', 'not-an-id'],
      ['skill', system],
      ['agent_team', agent.id],
      ['knowledge_base', agent.id],
      ['connection', 'con_1'],
      ['process', 'prc_1'],
    ];
    const { status, body } = await add(project, ['agent', agent.id], ...absent);
    expect([status, body.code, body.detail.map(({ loc }: { loc: unknown[] }) => loc[2])]).toEqual([
      422,
      'unknown_reference',
      [1, 2, 3, 4, 5, 6, 7],
    ]);
    expect((await get(`/projects/${project.id}`)).resource_counts).toEqual(NOTHING);
    for (const wrong of [[], Array.from({ length: 501 }, () => ['agent', agent.id]), [['folder', agent.id]]])
      expect((await add(project, ...(wrong as [string, string][]))).status).toBe(422);
    const path = `/projects/${project.id}/resources`;
    for (const [type, id, refused] of [
      ['agent', agent.id, 404],
      ['connection', 'con_1', 404],
      ['agent', 'x', 404],
      ['folder', agent.id, 422],
    ] as const)
      expect((await asOwner('DELETE', `${path}/${type}/${id}`)).status).toBe(refused);
  });

  it('have connections, and of others’ private ones nothing', async () => {
    const [one, two] = [await make('/projects', { name: 'One' }), await make('/projects', { name: 'Two' })];
    const [shared, own] = [await aConnection('org', 'Tracker'), await aConnection('private', 'Mine')];
    // Another administrator's.
    await t.db.execute(sql(`UPDATE memberships SET role = 'ADMIN' WHERE org_id = $1 AND user_id = $2`), [org.id, org.member.id]);
    const counts = async (as: typeof asOwner) => {
      const { uncategorized_count, items } = (await as('GET', '/projects')).body;
      return [uncategorized_count, ...items.map((project: { resource_counts: object }) => project.resource_counts)];
    };
    const listed = async (as: typeof asOwner, path: string) => {
      const { total, items } = (await as('GET', path)).body;
      return [total, items.map(({ entity_id, id }: Record<string, string>) => entity_id ?? id)];
    };
    expect([await counts(asOwner), await counts(asMember)]).toEqual([
      [2, NOTHING, NOTHING],
      [1, NOTHING, NOTHING],
    ]);
    expect((await listed(asOwner, '/connections?project_id=none'))[0]).toBe(2);
    const refs = { resources: [shared, own].map(({ id }) => ({ entity_type: 'connection', entity_id: id })) };
    const refused = await asMember('POST', `/projects/${one.id}/resources`, refs);
    expect([refused.status, refused.body.detail]).toEqual([422, [expect.objectContaining({ loc: ['body', 'resources', 1, 'entity_id'] })]]);
    expect((await add(one, ['connection', shared.uuid], ['connection', shared.id])).body).toEqual({ added: 1, moved: 0, unchanged: 0 });
    expect((await asOwner('POST', `/projects/${one.id}/resources`, refs)).body).toEqual({ added: 1, moved: 0, unchanged: 1 });
    expect([await counts(asOwner), await counts(asMember)]).toEqual([
      [0, { ...NOTHING, connection: 2 }, NOTHING],
      [0, { ...NOTHING, connection: 1 }, NOTHING],
    ]);
    expect(await get(`/projects/${one.id}/resources`)).toMatchObject({
      total: 1,
      items: [{ entity_type: 'connection', entity_id: shared.id, name: 'Tracker', slug: expect.any(String) }],
    });
    for (const path of [`/projects/${one.id}/resources`, `/connections?project_id=${one.id}`])
      expect([await listed(asOwner, path), await listed(asMember, path)]).toEqual([
        [2, expect.arrayContaining([own.id, shared.id])],
        [1, [shared.id]],
      ]);
    expect((await listed(asOwner, '/connections?project_id=none'))[0]).toBe(0);
    expect(await get(`/connections/${shared.id}`)).toMatchObject({ project_id: one.id });
    const path = `/projects/${one.id}/resources/connection`;
    expect((await asMember('DELETE', `${path}/${own.id}`)).status).toBe(404);
    // Who shares it lets others see where it is, and since when.
    const added = async () => (await asOwner('GET', `/projects/${one.id}/resources`)).body.items;
    const before = await added();
    expect((await asOwner('PATCH', `/connections/${own.id}/scope`, { scope: 'org' })).status).toBe(200);
    expect([await counts(asMember), await added()]).toEqual([[0, { ...NOTHING, connection: 2 }, NOTHING], before]);
    expect((await asOwner('PATCH', `/connections/${own.id}/scope`, { scope: 'private' })).status).toBe(200);
    expect((await counts(asMember))[1]).toEqual({ ...NOTHING, connection: 1 });
    expect((await asOwner('DELETE', `${path}/${shared.uuid}`)).status).toBe(204);
    expect((await add(two, ['connection', shared.id])).body).toMatchObject({ added: 1 });
    // Whoever deletes a project takes out of it what they do not see, too.
    expect((await asMember('DELETE', `/projects/${one.id}`)).status).toBe(204);
    expect([await counts(asOwner), await counts(asMember)]).toEqual([
      [1, { ...NOTHING, connection: 1 }],
      [0, { ...NOTHING, connection: 1 }],
    ]);
    expect((await asOwner('DELETE', `/connections/${shared.id}`)).status).toBe(204);
    expect(await counts(asOwner)).toEqual([1, NOTHING]);
  });

  it('filter skills, of which those of the system are in none', async () => {
    const project = await make('/projects', { name: 'One' });
    const [kept, loose] = [
      await make('/skills', { name: 'Kept', description: 'd', content: 'c' }),
      await make('/skills', { name: 'Loose', description: 'd', content: 'c' }),
    ];
    const made = sql(`INSERT INTO skills (id, org_id, slug, name, description, content) VALUES ($1, NULL, $2, '', '', '')`);
    await t.db.execute(made, [randomUUID(), `system-${randomUUID()}`]);
    await add(project, ['skill', kept.id]);
    for (const [of, slug] of [
      [project.id, kept.slug],
      ['none', loose.slug],
    ])
      expect(await get(`/skills?project_id=${of}`)).toMatchObject({ total: 1, items: [{ slug }] });
    expect(await get(`/skills/${kept.slug}`)).toMatchObject({ project_id: project.id });
  });

  it('are deleted, or joined: nothing is in one that is gone', async () => {
    for (let round = 0; round < 5; round++) {
      const [gone, other] = [await make('/projects', { name: 'x' }), await make('/projects', { name: 'y' })];
      const agents = await Promise.all([anAgent(t, org), anAgent(t, org), anAgent(t, org)]);
      await Promise.all([
        asOwner('PATCH', `/agents/${agents[0].id}`, { project_id: gone.id }),
        add(gone, ['agent', agents[1].id], ['agent', agents[2].id]),
        add(other, ['agent', agents[2].id], ['agent', agents[1].id]),
        asOwner('DELETE', `/projects/${gone.id}`),
      ]);
      const rows = sql<{ n: number }>(`
        SELECT (SELECT count(*) FROM agents WHERE project_id = $1)::int + (SELECT count(*) FROM project_resources WHERE project_id = $1)::int
          + abs((SELECT count(*) FROM agents WHERE project_id = $2)::int - (SELECT count(*) FROM project_resources WHERE project_id = $2)::int) AS n`);
      expect(await t.db.query(rows, [gone.id, other.id])).toEqual([{ n: 0 }]);
    }
  });
});
