import { NO_CALLER } from '@aps/platform/database';
import { fileForm, sql, type Bearer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { MemoriesService } from '../memories.service';
import { seedSystemSkills } from '../skills.seed';
import { SkillsService } from '../skills.service';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { anAgent } from '../testing';
import { agentsService } from '../testing/agents';

// Dozens of requests at once: on a busy machine they take longer than a test usually may.

const t = agentsService();
let org: TestTeam;
beforeEach(async () => {
  org = await aTeam(t);
});

const asOwner = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.owner, body });
const asMember = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.member, body });

describe('an instruction', () => {
  it('goes from draft to published to live', async () => {
    await anAgent(t, org, { instruction: "Another agent's." });
    const agent = await anAgent(t, org);
    const path = `/agents/${agent.id}/instruction`;
    expect((await asMember('GET', path)).body).toEqual({ agent_id: agent.id, active: null, draft: null, base_version: 'v0' });
    const saved = await asMember('PUT', `${path}/draft`, { content: 'One.' });
    expect(saved).toMatchObject({ status: 200, body: { active: null, draft: { content: 'One.', state: 'draft', version: null } } });
    expect((await asMember('GET', `/agents/${agent.id}`)).body).toMatchObject({
      instruction: '',
      has_instruction_draft: true,
      draft_dirty: false,
    });

    const published = await asOwner('POST', `${path}/draft/publish`);
    expect(published).toMatchObject({ status: 200, body: { draft: null, active: { content: 'One.', state: 'active', version: 1 } } });
    expect((await asMember('GET', `/agents/${agent.id}`)).body).toMatchObject({
      instruction: 'One.',
      instruction_version: 1,
      has_instruction_draft: false,
      draft_dirty: true,
    });
    const sealed = await asOwner('POST', `/agents/${agent.id}/revisions`);
    expect(sealed.body.config).toMatchObject({ instruction: 'One.', instruction_version: 1 });

    await asMember('PUT', `${path}/draft`, { content: 'Two.' });
    await asOwner('POST', `${path}/draft/publish`);
    await asMember('PUT', `${path}/draft`, { content: 'Three.' });
    const { items, total } = (await asMember('GET', `${path}/revisions`)).body;
    expect(total).toBe(3);
    expect(items.map((r: { state: string; version: number; content: string }) => [r.state, r.version, r.content])).toEqual([
      ['draft', null, 'Three.'],
      ['active', 2, 'Two.'],
      ['superseded', 1, 'One.'],
    ]);
    expect(items[0].base_revision_id).toBe(items[1].id);
  });

  it('refuses to publish or discard what is not there', async () => {
    const agent = await anAgent(t, org, { instruction: 'Stays.' });
    const path = `/agents/${agent.id}/instruction/draft`;
    const refused = await asOwner('POST', `${path}/publish`);
    expect([refused.status, refused.body.code]).toEqual([409, 'no_draft']);
    expect((await asMember('DELETE', path)).status).toBe(404);
    expect((await asMember('GET', `/agents/${agent.id}/instruction`)).body.active).toMatchObject({ content: 'Stays.', state: 'active' });
    await asMember('PUT', path, { content: 'Gone.' });
    expect((await asMember('DELETE', path)).status).toBe(204);
    expect((await asMember('GET', `/agents/${agent.id}/instruction`)).body.draft).toBeNull();
  });

  it('has one winner among fifty saves of one version', async () => {
    const agent = await anAgent(t, org);
    const path = `/agents/${agent.id}/instruction/draft`;
    let base_version = (await asMember('PUT', path, { content: 'Base.' })).body.base_version as string;
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => asMember('PUT', path, { content: `${round}/${i}`, base_version })),
      );
      const winners = answers.flatMap((a, i) => (a.status === 200 ? [i] : []));
      expect(winners).toHaveLength(1);
      const { body } = await asMember('GET', `/agents/${agent.id}/instruction`);
      expect(body.draft.content).toBe(`${round}/${winners[0]}`);
      for (const a of answers.filter((x) => x.status !== 200))
        expect([a.status, a.body.code, a.body.context]).toEqual([409, 'version_conflict', { current_version: body.base_version }]);
      base_version = body.base_version;
    }
  });

  it('is published as it was read, or not at all', async () => {
    const agent = await anAgent(t, org);
    const path = `/agents/${agent.id}/instruction`;
    const read = async () => (await asMember('GET', path)).body as { base_version: string; active: { content: string } | null };
    for (let round = 0; round < 5; round++) {
      await asMember('PUT', `${path}/draft`, { content: 'Read.' });
      const { base_version } = await read();
      const [published, saved] = await Promise.all([
        asOwner('POST', `${path}/draft/publish`, { base_version }),
        asMember('PUT', `${path}/draft`, { content: 'Slipped in.', base_version }),
      ]);
      expect([published.status, saved.status].sort()).toEqual([200, 409]);
      expect((await read()).active?.content ?? 'Read.').toBe('Read.');
    }
    await asMember('PUT', `${path}/draft`, { content: 'Kept.' });
    const { base_version: current_version } = await read();
    for (const stale of [
      await asOwner('POST', `${path}/draft/publish`, { base_version: 'v0' }),
      await asMember('DELETE', `${path}/draft?base_version=v0`),
    ])
      expect([stale.status, stale.body.code, stale.body.context]).toEqual([409, 'version_conflict', { current_version }]);
    expect((await asMember('DELETE', `${path}/draft?base_version=${current_version}`)).status).toBe(204);
  });

  it('never meets a version again', async () => {
    const agent = await anAgent(t, org);
    const path = `/agents/${agent.id}/instruction/draft`;
    const seen = new Set<string>([(await asMember('PUT', path, { content: 'a' })).body.base_version]);
    await asMember('DELETE', path);
    for (const content of ['b', 'c']) seen.add((await asMember('PUT', path, { content })).body.base_version);
    seen.add((await asOwner('POST', `${path}/publish`)).body.base_version);
    seen.add((await asMember('PUT', path, { content: 'd' })).body.base_version);
    expect(seen.size).toBe(5);
    for (const base_version of ['v1', 'v0', 'nonsense', ''])
      expect((await asMember('PUT', path, { content: 'stale', base_version })).status).toBe(409);
    expect((await asMember('PUT', path, { content: 'no base' })).status).toBe(200);
  });
});

describe('skills', () => {
  const skill = { name: 'Refunds', description: 'Use for refunds.', content: '# Refunds' };
  const aFile = async (as: Bearer = org.owner): Promise<string> =>
    (await t.make('POST', `${org.path}/uploads`, { as, body: fileForm('# Steps', 'steps.md') })).file_id;
  /** Those of the files that will be removed. */
  const expiring = async (...ids: string[]) =>
    (await t.db.query(sql<{ id: string }>('SELECT id FROM files WHERE id = ANY ($1) AND expires_at IS NOT NULL'), [ids])).map(
      ({ id }) => id,
    );

  it('are made, replaced and deleted', async () => {
    const file_id = await aFile();
    const made = await asOwner('POST', '/skills', { ...skill, files: [{ file_id, filename: 'a.md' }, { file_id }] });
    expect([made.status, made.body]).toEqual([
      201,
      expect.objectContaining({ slug: 'refunds', is_system: false, files: [{ file_id, filename: 'a.md' }, { file_id }] }),
    ]);
    expect((await asOwner('POST', '/skills', skill)).body.slug).toBe('refunds-2');
    expect((await asOwner('POST', '/skills', { ...skill, slug: 'refunds' })).body.code).toBe('slug_taken');
    const put = await asOwner('PUT', '/skills/refunds', { ...skill, content: 'New.' });
    expect(put).toMatchObject({ status: 200, body: { id: made.body.id, content: 'New.', files: [] } });
    expect((await asOwner('PUT', '/skills/refunds', { ...skill, content: 'New.' })).body).toEqual(put.body);
    expect((await asMember('GET', '/skills?q=refund')).body).toMatchObject({
      total: 2,
      items: [{ slug: 'refunds' }, { slug: 'refunds-2' }],
    });
    expect((await asOwner('DELETE', '/skills/refunds')).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await asOwner(method, '/skills/refunds')).status).toBe(404);
    expect((await asOwner('PUT', '/skills/refunds', skill)).status).toBe(404);
    expect((await asOwner('POST', '/skills', { ...skill, slug: 'refunds' })).status).toBe(201);
    expect((await t.audit({ target_id: made.body.id })).map(({ action, metadata }) => [action, metadata])).toEqual([
      ['skill.created', { slug: 'refunds' }],
      ['skill.updated', { slug: 'refunds', fields: ['content', 'files'] }],
      ['skill.deleted', { slug: 'refunds' }],
    ]);
  });

  it('find a file however its id is spelt', async () => {
    const file_id = await aFile();
    const made = await asOwner('POST', '/skills', { ...skill, files: [{ file_id: file_id.toUpperCase() }] });
    expect([made.status, made.body.files]).toEqual([201, [{ file_id }]]);
  });

  it('keep their files for as long as they name them, for every member', async () => {
    const [kept, dropped] = [await aFile(), await aFile()];
    const opened = async (id: string) => (await t.call('HEAD', `${org.path}/files/${id}`, { as: org.member })).status;
    expect(await opened(kept)).toBe(404);
    await asOwner('POST', '/skills', { ...skill, slug: 'filed', files: [{ file_id: kept }, { file_id: dropped }] });
    expect([await opened(kept), await opened(dropped)]).toEqual([200, 200]);
    expect(await expiring(kept, dropped)).toEqual([]);
    await asOwner('PUT', '/skills/filed', { ...skill, files: [{ file_id: kept, filename: 'kept.md' }] });
    expect(await expiring(kept, dropped)).toEqual([dropped]);
    expect([await opened(kept), await opened(dropped)]).toEqual([200, 404]);
    await asOwner('DELETE', '/skills/filed');
    expect((await expiring(kept, dropped)).sort()).toEqual([kept, dropped].sort());
  });

  it('name no file that their author may not see', async () => {
    const own = await aFile();
    const files = [own, await aFile(org.member), uuidv7()].map((file_id) => ({ file_id }));
    const refused = { status: 422, body: { code: 'unknown_reference' } };
    const made = await asOwner('POST', '/skills', { ...skill, slug: 'refused', files });
    expect(made).toMatchObject(refused);
    expect(made.body.detail.map(({ loc }: { loc: unknown[] }) => loc)).toEqual([1, 2].map((i) => ['body', 'files', i, 'file_id']));
    expect((await asOwner('PUT', '/skills/refused', { ...skill, files })).status).toBe(404);
    await asOwner('POST', '/skills', { ...skill, slug: 'refused' });
    expect(await asOwner('PUT', '/skills/refused', { ...skill, files })).toMatchObject(refused);
    expect((await asOwner('GET', '/skills/refused')).body.files).toEqual([]);
    expect(await expiring(own)).toEqual([own]);
  });

  it('stay while agents mount them', async () => {
    await asOwner('POST', '/skills', { ...skill, slug: 'mounted' });
    const agent = await anAgent(t, org, { mounted_skills: ['mounted'] });
    await asOwner('PATCH', `/agents/${agent.id}`, { mounted_skills: [] });
    const refused = { code: 'skill_in_use', context: { agents: [{ id: agent.id, slug: agent.slug, name: agent.name }] } };
    expect(await asOwner('DELETE', '/skills/mounted')).toMatchObject({ status: 409, body: refused });
    await asOwner('PATCH', `/agents/${agent.id}?deploy=true`, {});
    expect((await asOwner('DELETE', '/skills/mounted')).status).toBe(204);
  });

  it('of the system are there for everyone and nobody’s to change', async () => {
    await seedSystemSkills(t.db);
    const before = await t.db.query(sql('SELECT id, updated_at FROM skills WHERE org_id IS NULL ORDER BY slug'));
    await seedSystemSkills(t.db);
    expect(await t.db.query(sql('SELECT id, updated_at FROM skills WHERE org_id IS NULL ORDER BY slug'))).toEqual(before);

    const { items } = (await asMember('GET', '/skills')).body;
    expect(items.map((s: { slug: string; is_system: boolean }) => [s.slug, s.is_system])).toEqual([
      ['careful-research', true],
      ['clear-writing', true],
      ['task-planning', true],
    ]);
    for (const [method, body] of [
      ['PUT', skill],
      ['DELETE', undefined],
    ] as const) {
      const refused = await asOwner(method, '/skills/clear-writing', body);
      expect([refused.status, refused.body.code]).toEqual([403, 'read_only']);
    }
    expect((await asOwner('POST', '/skills', { ...skill, slug: 'clear-writing' })).body.code).toBe('slug_taken');
    expect((await anAgent(t, org, { mounted_skills: ['clear-writing'] })).mounted_skills).toEqual(['clear-writing']);
    const mounted = await t.get(SkillsService).bySlugs(t.db, org.scope, ['clear-writing', 'gone']);
    expect(mounted.map((s) => s.slug)).toEqual(['clear-writing']);
    await t.db.execute(sql(`UPDATE skills SET content = 'stale' WHERE slug = 'clear-writing'`));
    await seedSystemSkills(t.db);
    expect((await asMember('GET', '/skills/clear-writing')).body.content).toContain('# Clear writing');
  });

  it('of one’s own come before those of the system', async () => {
    await asOwner('POST', '/skills', { ...skill, slug: 'later-in-system' });
    await t.db.execute(sql(`INSERT INTO skills (id, slug, name, description, content) VALUES ($1, 'later-in-system', 'n', 'd', 'c')`), [
      uuidv7(),
    ]);
    expect((await asMember('GET', '/skills/later-in-system')).body.is_system).toBe(false);
    expect((await asMember('GET', '/skills?q=later-in-system')).body.total).toBe(1);
  });
});

describe('memories', () => {
  it('are listed newest first, and deleted', async () => {
    const agent = await anAgent(t, org);
    const path = `/agents/${agent.slug}/memories`;
    const made = await asOwner('POST', path, { content: 'First.' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        content: 'First.',
        owner: { kind: 'agent', id: agent.id },
        source: 'human',
        created_by: org.owner.id,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    await asOwner('POST', path, { content: 'Second.' });
    expect((await asMember('GET', `${path}?limit=1`)).body).toMatchObject({ total: 2, next_offset: 1, items: [{ content: 'Second.' }] });
    const other = await anAgent(t, org);
    expect((await asOwner('DELETE', `/agents/${other.id}/memories/${made.body.id}`)).status).toBe(404);
    expect((await asOwner('DELETE', `${path}/${made.body.id}`)).status).toBe(204);
    expect((await asOwner('DELETE', `${path}/${made.body.id}`)).status).toBe(404);
    expect((await t.audit({ target_id: made.body.id })).map((row) => row.action)).toEqual(['memory.created', 'memory.deleted']);
  });

  it('take 8 KiB, counted in bytes', async () => {
    const { id } = await anAgent(t, org);
    const add = async (content: string) => (await asOwner('POST', `/agents/${id}/memories`, { content })).status;
    expect(await add('é'.repeat(4_096))).toBe(201);
    expect(await add('é'.repeat(4_097))).toBe(422);
    expect(await add('')).toBe(422);
  });

  it('are there for whoever runs the agent', async () => {
    const agent = await anAgent(t, org);
    const memories = t.get(MemoriesService);
    const owner = { kind: 'agent', id: agent.id } as const;
    for (const content of ['a', 'b', 'c'])
      await t.db.transaction(NO_CALLER, (tx) => memories.add(tx, org.scope, { owner, content, source: 'agent' }));
    expect((await memories.newest(t.db, org.scope, owner, 2)).map((m) => m.content)).toEqual(['c', 'b']);
    expect(await memories.newest(t.db, (await aTeam(t)).scope, owner, 2)).toEqual([]);
  });
});
