import { randomUUID } from 'node:crypto';
import { entitle, override } from '@aps/billing/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { sql } from '@aps/platform/testing';
import { anAgent, aProject } from '../testing';
import { agentsService } from '../testing/agents';

const t = agentsService();
let org: TestTeam;
beforeEach(async () => {
  await entitle(t, { shared_blocks: true, max_agents: -1 });
  org = await aTeam(t);
});

const asOwner = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.owner, body });
const asMember = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.member, body });
const make = (path: string, body: unknown) => t.make('POST', org.path + path, { as: org.owner, body });
describe('teams', () => {
  it('are made, edited and found by id or slug', async () => {
    const { status, body } = await asOwner('POST', '/agent-teams', {
      name: 'Über Care',
      shared_allowed_tools: ['core', 'core'],
      org_id: randomUUID(),
    });
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: expect.any(String), slug: 'uber-care', name: 'Über Care', description: null, avatar_seed: null, project_id: null },
        ...{ shared_instruction: null, shared_allowed_tools: ['core'], shared_mounted_skills: [], display_order: 0, agent_count: 0 },
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ]);
    const full = { description: 'd', avatar_seed: 'fox', shared_instruction: 'Be kind.', shared_mounted_skills: ['clear-writing'] };
    expect((await asOwner('PATCH', '/agent-teams/uber-care', { ...full, slug: 'care', shared_mounted_skills: [] })).body).toMatchObject({
      ...full,
      slug: 'care',
      shared_mounted_skills: [],
      shared_allowed_tools: ['core'],
    });
    const cleared = { description: null, avatar_seed: null, shared_instruction: null };
    expect((await asOwner('PATCH', `/agent-teams/${body.id}`, { ...cleared, shared_allowed_tools: [] })).body).toMatchObject({
      ...cleared,
      shared_allowed_tools: [],
      name: 'Über Care',
    });
    for (const ref of [body.id, 'care']) expect((await asMember('GET', `/agent-teams/${ref}`)).body.id).toBe(body.id);
    for (const wrong of [
      { name: null },
      { shared_allowed_tools: null },
      { shared_mounted_skills: null },
      { name: '' },
      { name: 'x'.repeat(201) },
    ])
      expect((await asOwner('PATCH', '/agent-teams/care', wrong)).status).toBe(422);
    await asOwner('POST', '/agent-teams', { name: 'Care' });
    expect((await asMember('GET', '/agent-teams')).body.items.map((team: { slug: string }) => team.slug)).toEqual(['care', 'care-2']);
    for (const taken of [
      await asOwner('POST', '/agent-teams', { name: 'x', slug: 'care' }),
      await asOwner('PATCH', '/agent-teams/care-2', { slug: 'care' }),
    ])
      expect([taken.status, taken.body.code]).toEqual([409, 'slug_taken']);
    expect(await t.audit({ org_id: org.id, target_kind: 'team', action: 'team.updated' })).toHaveLength(2);
  });

  it('share nothing that is not there, and keep what they share from being deleted', async () => {
    const skill = await make('/skills', { name: 'Rare', description: 'd', content: 'c' });
    const agent = await anAgent(t, org, { name: 'Scout' });
    const wrong = {
      shared_allowed_tools: ['agent:scout', 'agent:nobody', 'odd', 'kb:none', 'con:none', 'none.tool', 'prompt:any', 'system:web'],
      shared_mounted_skills: [skill.slug, 'nothing'],
    };
    const { status, body } = await asOwner('POST', '/agent-teams', { name: 'x', ...wrong });
    expect([status, body.code, body.detail.map(({ loc }: { loc: unknown[] }) => loc)]).toEqual([
      422,
      'unknown_reference',
      [
        ['body', 'shared_allowed_tools', 1],
        ...[2, 3, 4, 5].map((i) => ['body', 'shared_allowed_tools', i]),
        ['body', 'shared_mounted_skills', 1],
      ],
    ]);
    const team = await make('/agent-teams', { name: 'x', shared_allowed_tools: ['agent:scout', '*'], shared_mounted_skills: [skill.slug] });
    const project = await aProject(t, org.id, { shared_allowed_tools: ['agent:scout'] });
    const used = { agents: [], team_ids: [team.id], project_ids: [project] };
    for (const refused of [
      await asOwner('DELETE', `/agents/${agent.id}`),
      await asOwner('PATCH', `/agents/${agent.id}`, { slug: 'other' }),
    ])
      expect(refused).toMatchObject({ status: 409, body: { code: 'agent_in_use', context: used } });
    expect(await asOwner('DELETE', `/skills/${skill.slug}`)).toMatchObject({
      status: 409,
      body: { code: 'skill_in_use', context: { agents: [], team_ids: [team.id], project_ids: [] } },
    });
  });

  it('share instructions and memories where the plan has that, and keep and clear them where it has it no more', async () => {
    const said = { shared_instruction: 'Be kind.' };
    const team = await make('/agent-teams', { name: 'x', ...said });
    await override(t, org.id, { shared_blocks: false });
    const path = `/agent-teams/${team.id}`;
    for (const refused of [
      await asOwner('POST', '/agent-teams', { name: 'y', ...said }),
      await asOwner('PATCH', path, { shared_instruction: 'Be nice.' }),
      await asOwner('POST', `${path}/memories`, { content: 'x' }),
    ])
      expect(refused).toMatchObject({ status: 403, body: { code: 'entitlement_required', context: { entitlement: 'shared_blocks' } } });
    for (const kept of [
      { ...said, name: 'z' },
      { shared_allowed_tools: ['core'] },
      { shared_instruction: '' },
      { shared_instruction: null },
    ])
      expect(await asOwner('PATCH', path, kept)).toMatchObject({ status: 200, body: kept });
    expect((await asOwner('POST', '/agent-teams', { name: 'y', shared_instruction: '' })).status).toBe(201);
  });

  it('stand in the order that a member chooses, whole, the others after it', async () => {
    const teams = [];
    for (const name of ['a', 'b', 'c', 'd']) teams.push(await make('/agent-teams', { name }));
    const [a, b, c, d] = teams.map(({ id }) => id as string);
    const order = async () => (await asMember('GET', '/agent-teams')).body.items.map(({ id }: { id: string }) => id);
    expect((await asMember('PUT', '/agent-teams/reorder', { team_ids: [c, randomUUID(), a, c] })).status).toBe(204);
    expect(await order()).toEqual([c, a, b, d]);
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => asMember('PUT', '/agent-teams/reorder', { team_ids: i % 2 ? [d, c, b, a] : [a, b, c, d] })),
    );
    expect([
      [d, c, b, a],
      [a, b, c, d],
    ]).toContainEqual(await order());
    const last = await make('/agent-teams', { name: 'e' });
    expect((await order()).at(-1)).toBe(last.id);
    expect((await asMember('PUT', '/agent-teams/reorder', { team_ids: Array.from({ length: 1_001 }, () => a) })).status).toBe(422);
  });

  it('have agents, and leave them when they are deleted, with all that they remembered', async () => {
    const team = await make('/agent-teams', { name: 'x' });
    const [one, two] = [await anAgent(t, org, { team_id: team.id }), await anAgent(t, org, { team_id: team.id })];
    expect((await asMember('GET', `/agent-teams/${team.slug}`)).body.agent_count).toBe(2);
    expect((await asOwner('PATCH', `/agents/${two.id}`, { team_id: null })).body).toMatchObject({ team_id: null, draft_dirty: false });
    expect((await asMember('GET', '/agent-teams')).body.items).toMatchObject([{ agent_count: 1 }]);
    expect((await asOwner('POST', `/agent-teams/${team.slug}/memories`, { content: 'm' })).body).toMatchObject({
      content: 'm',
      owner: { kind: 'team', id: team.id },
      source: 'human',
      created_by: org.owner.id,
    });
    expect((await asOwner('DELETE', `/agent-teams/${team.slug}`)).status).toBe(204);
    expect((await asMember('GET', `/agents/${one.id}`)).body.team_id).toBeNull();
    expect(await t.db.query(sql<{ id: string }>('SELECT id FROM memories WHERE owner_id = $1'), [team.id])).toEqual([]);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/memories'],
    ])
      expect((await asOwner(method, `/agent-teams/${team.id}${path}`, method === 'PATCH' ? {} : undefined)).status).toBe(404);
    expect((await asOwner('PATCH', `/agents/${one.id}`, { team_id: team.id })).body.code).toBe('unknown_reference');
    expect((await make('/agent-teams', { name: 'x' })).slug).toBe(team.slug);
  });

  it('are deleted, or joined: never joined when they are gone', async () => {
    for (let round = 0; round < 5; round++) {
      const team = await make('/agent-teams', { name: 'x' });
      const agents = await Promise.all([anAgent(t, org), anAgent(t, org)]);
      await Promise.all([
        ...agents.map(({ id }) => asOwner('PATCH', `/agents/${id}`, { team_id: team.id })),
        asOwner('POST', `/agent-teams/${team.id}/memories`, { content: 'm' }),
        asOwner('DELETE', `/agent-teams/${team.id}`),
      ]);
      const left = sql<{ n: number }>(
        'SELECT (SELECT count(*) FROM agents WHERE team_id = $1)::int + (SELECT count(*) FROM memories WHERE owner_id = $1)::int AS n',
      );
      expect(await t.db.query(left, [team.id])).toEqual([{ n: 0 }]);
    }
  });
});

describe('the effective context of an agent', () => {
  it('is what it has of its own, of its team and of its project, and where each comes from', async () => {
    const skill = (name: string) => make('/skills', { name, description: 'd', content: 'c' });
    const [mine, ours, all] = [await skill('Mine'), await skill('Ours'), await skill('All')];
    await anAgent(t, org, { name: 'Scout' });
    const project = await aProject(t, org.id, {
      ...{ shared_instruction: ' Be brief. ', shared_allowed_tools: ['system:web'], shared_mounted_skills: [all.slug, 'gone'] },
    });
    const team = await make('/agent-teams', {
      name: 'Team',
      ...{ shared_instruction: 'Be kind.', shared_allowed_tools: ['agent:scout', 'core'], shared_mounted_skills: [ours.slug, all.slug] },
    });
    await t.db.execute(sql('UPDATE agent_teams SET project_id = $2 WHERE id = $1'), [team.id, project]);
    const agent = await anAgent(t, org, {
      ...{ instruction: 'Be right.', team_id: team.id, memory_enabled: true },
      ...{ allowed_tools: ['agent:scout', 'system:exec'], denied_tools: ['system:web'], mounted_skills: [mine.slug, ours.slug] },
    });
    const remember = (path: string) => make(`${path}/memories`, { content: 'x'.repeat(5) });
    const memories = [await remember(`/agents/${agent.id}`), await remember(`/agent-teams/${team.id}`)];
    const sources = {
      platform: { kind: 'platform', id: null },
      project: { kind: 'project', id: project },
      team: { kind: 'team', id: team.id },
    };
    const own = { kind: 'agent', id: agent.id };
    const context = async () => (await asMember('GET', `/agents/${agent.id}/effective-context`)).body;
    const before = await context();
    expect(before).toEqual({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      instruction: [
        { source: sources.project, text: 'Be brief.' },
        { source: sources.team, text: 'Be kind.' },
        { source: own, text: 'Be right.' },
      ],
      tools: [
        { scope: 'core', sources: [sources.platform, sources.team], denied: false },
        { scope: 'system:web', sources: [sources.project], denied: true },
        { scope: 'agent:scout', sources: [sources.team, own], denied: false },
        { scope: 'system:exec', sources: [own], denied: false },
      ],
      skills: [
        { slug: all.slug, source: sources.project },
        { slug: ours.slug, source: sources.team },
        { slug: mine.slug, source: own },
      ],
      memories: memories.map(({ id, owner }) => ({ id, owner })),
      memory_tokens: 4,
    });
    expect(await context()).toEqual(before);
    // What it is told, and not how it is written down, makes the hash.
    await t.make('PUT', `${org.path}/skills/${mine.slug}`, { as: org.owner, body: { name: 'Mine', description: 'other', content: 'c' } });
    const edited = await context();
    await asOwner('PATCH', `/agent-teams/${team.id}`, { shared_allowed_tools: ['core', 'agent:scout'] });
    const reordered = await context();
    expect([edited.sha256 === before.sha256, reordered.sha256 === edited.sha256]).toEqual([false, true]);
    await asOwner('PATCH', '/agents/scout', { name: 'Seeker' });
    expect((await context()).sha256).not.toBe(edited.sha256);
    // A project of its own stands before that of its team; what is shared is told whether or not it has memories of its own.
    const other = await aProject(t, org.id, { shared_instruction: 'Be bold.' });
    await asOwner('PATCH', `/agents/${agent.id}?deploy=true`, { project_id: other, memory_enabled: false });
    const after = await context();
    expect([after.instruction[0], after.memories, after.sha256 === before.sha256]).toEqual([
      { source: { kind: 'project', id: other }, text: 'Be bold.' },
      [{ id: memories[1].id, owner: memories[1].owner }],
      false,
    ]);
    // Of each owner the newest fifty, and of all no more than 8,000 tokens.
    const long = 'y'.repeat(8_000);
    for (let i = 0; i < 5; i++) await make(`/agent-teams/${team.id}/memories`, { content: long });
    expect(await context()).toMatchObject({ memories: [{}, {}, {}, {}], memory_tokens: 8_000 });
  });
});
