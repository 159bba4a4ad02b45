import { Deletions, NO_CALLER } from '@aps/platform/database';
import { hashOf } from '@aps/platform/definitions';
import { sql, times, type Answer } from '@aps/platform/testing';
import { randomUUID } from 'node:crypto';
import { AgentReferences } from '../agent-references';
import { AgentsRepository } from '../agents.repository';
import { entitle } from '@aps/billing/testing';
import { Environment, KnowledgeBase } from '@aps/entities';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { anAgent, aProject } from '../testing';
import { agentsService, MODEL } from '../testing/agents';

// Dozens of requests at once: on a busy machine they take longer than a test usually may.

const t = agentsService();
let org: TestTeam;
beforeEach(async () => {
  await entitle(t, { direct_model_choice: true, per_agent_budgets: true, max_agents: -1 });
  org = await aTeam(t);
});

const asOwner = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.owner, body });
const asMember = (method: string, path: string, body?: unknown) => t.call(method, org.path + path, { as: org.member, body });
/** How what others name is refused to be changed. */
const inUseBy = ({ id, slug, name }: Record<string, unknown>) => ({
  status: 409,
  body: { code: 'agent_in_use', context: { agents: [{ id, slug, name }], team_ids: [], project_ids: [] } },
});

describe('creating an agent', () => {
  it('seals and deploys version 1 in one go, and says so in the audit log', async () => {
    const { status, body } = await asOwner('POST', '/agents', {
      name: 'Über Support',
      instruction: 'Be kind.',
      model: MODEL,
      allowed_tools: ['core', 'core', 'kb:handbook'],
      budget_credits_per_period: 12.5,
      metadata: { z: 1, a: { b: [1, 2] } },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      slug: 'uber-support',
      instruction: 'Be kind.',
      instruction_version: 1,
      has_instruction_draft: false,
      model: MODEL,
      model_mode: null,
      allowed_tools: ['core', 'kb:handbook'],
      denied_tools: [],
      max_steps: 50,
      max_child_depth: 5,
      memory_enabled: false,
      budget_credits_per_period: '12.5',
      live_revision: { version: 1 },
      draft_dirty: false,
      running_rollout_id: null,
      created_by: org.owner.id,
    });
    const revisions = await asMember('GET', `/agents/${body.id}/revisions`);
    expect(revisions.body).toMatchObject({
      total: 1,
      items: [
        {
          id: body.live_revision.id,
          version: 1,
          is_live: true,
          config: { agent_id: body.id, instruction: 'Be kind.', instruction_version: 1 },
        },
      ],
    });
    const [{ hash, config }] = revisions.body.items;
    expect(hash).toBe(hashOf(config));
    const rollouts = await asMember('GET', `/agents/${body.id}/rollouts`);
    expect(rollouts.body).toMatchObject({
      total: 1,
      next_offset: null,
      items: [{ kind: 'deploy', status: 'live', arms: [{ version: 1, weight: 10_000, chat_count: 0, is_control: false }] }],
    });
    expect((await t.audit({ target_id: body.id })).map((row) => row.action)).toEqual([
      'agent.created',
      'agent.instruction_published',
      'agent.revision_sealed',
      'agent.deployed',
    ]);
  });

  it('makes slugs of names that are taken, and refuses given ones that are', async () => {
    expect((await anAgent(t, org, { name: 'Same' })).slug).toBe('same');
    expect((await anAgent(t, org, { name: 'Same' })).slug).toBe('same-2');
    const taken = await asOwner('POST', '/agents', { name: 'x', slug: 'same' });
    expect([taken.status, taken.body.code]).toEqual([409, 'slug_taken']);
    expect((await anAgent(t, await aTeam(t), { name: 'Same' })).slug).toBe('same');
    const asId = await asOwner('POST', '/agents', { name: 'x', slug: randomUUID() });
    expect([asId.status, asId.body.detail[0].loc]).toEqual([422, ['body', 'slug']]);
  });

  it('lists every reference that leads nowhere, without repeating it', async () => {
    const foreign = await anAgent(t, await aTeam(t));
    const { status, body } = await asOwner('POST', '/agents', {
      name: 'x',
      allowed_tools: ['core', 'nonsense', 'agent:nobody'],
      denied_tools: ['kb:Bad Slug'],
      mounted_skills: ['no-such-skill'],
      child_agent_ids: [foreign.id],
    });
    expect([status, body.code]).toEqual([422, 'unknown_reference']);
    expect(body.detail.map((d: { loc: unknown }) => d.loc)).toEqual([
      ['body', 'allowed_tools', 1],
      ['body', 'allowed_tools', 2],
      ['body', 'denied_tools', 0],
      ['body', 'mounted_skills', 0],
      ['body', 'child_agent_ids', 0],
    ]);
    expect(JSON.stringify(body)).not.toMatch(/nonsense|nobody|no-such-skill/);
    expect((await asOwner('GET', '/agents')).body.total).toBe(0);
  });

  it.each([
    [{ model: 'no-such-model' }, 'model_unknown'],
    [{ model_mode: 'normal' }, 'plan_mismatch'],
  ])('refuses what catalog and plan do not have: %j', async (fields, code) =>
    expect(await asOwner('POST', '/agents', { name: 'x', ...fields })).toMatchObject({ status: 422, body: { code } }),
  );
});

describe('reading agents', () => {
  it('finds them by id and slug, in their organization only', async () => {
    const agent = await anAgent(t, org, { name: 'Find me' });
    expect((await asMember('GET', `/agents/${agent.id}`)).body).toEqual(agent);
    expect((await asMember('GET', `/agents/${agent.id.toUpperCase()}`)).body).toEqual(agent);
    expect((await asMember('GET', '/agents/find-me')).body).toEqual(agent);
    const other = await aTeam(t);
    for (const ref of [agent.id, 'find-me'])
      expect((await t.call('GET', `${other.path}/agents/${ref}`, { as: other.owner })).status).toBe(404);
    expect((await asMember('GET', '/agents/Not%20a%20slug')).status).toBe(422);
    expect((await asMember('GET', '/agents/Not%20a%20slug/rollouts')).status).toBe(404);
  });

  it('pages and filters, newest first', async () => {
    const { id: team_id } = (await asOwner('POST', '/agent-teams', { name: 'Team' })).body;
    const project_id = await aProject(t, org.id);
    await anAgent(t, org, { name: 'One', description: 'takes 50% of it' });
    await anAgent(t, org, { name: 'Two', team_id });
    await anAgent(t, org, { name: 'Three', team_id, project_id });
    const names = async (query: string) => (await asMember('GET', `/agents?${query}`)).body.items.map((a: { name: string }) => a.name);
    expect(await names('')).toEqual(['Three', 'Two', 'One']);
    expect((await asMember('GET', '/agents?limit=2')).body).toMatchObject({ total: 3, next_offset: 2 });
    expect((await asMember('GET', '/agents?limit=2&offset=2')).body).toMatchObject({
      total: 3,
      next_offset: null,
      items: [{ name: 'One' }],
    });
    expect(await names('q=')).toEqual(['Three', 'Two', 'One']);
    expect(await names('q=tw')).toEqual(['Two']);
    expect(await names('q=50%25')).toEqual(['One']);
    expect(await names('q=%25')).toEqual(['One']);
    expect(await names(`team_id=${team_id.toUpperCase()}`)).toEqual(['Three', 'Two']);
    expect(await names('team_id=none')).toEqual(['One']);
    expect(await names(`team_id=${team_id}&project_id=none`)).toEqual(['Two']);
    expect(await names(`project_id=${project_id}`)).toEqual(['Three']);
    expect((await asMember('GET', '/agents?project_id=some')).status).toBe(422);
  });
});

describe('editing an agent', () => {
  it('changes the draft only, until it is deployed', async () => {
    const agent = await anAgent(t, org, { description: 'old', instruction: 'One.' });
    const edited = await asOwner('PATCH', `/agents/${agent.id}`, { name: 'New name', description: null, instruction: 'Two.' });
    expect(edited.body).toMatchObject({
      name: 'New name',
      description: null,
      instruction: 'Two.',
      instruction_version: 2,
      draft_dirty: true,
      live_revision: agent.live_revision,
      slug: agent.slug,
    });
    const deployed = await asOwner('PATCH', `/agents/${agent.id}?deploy=true`, {});
    expect(deployed.body).toMatchObject({ draft_dirty: false, live_revision: { version: 2 } });
    const { body } = await asMember('GET', `/agents/${agent.id}/revisions/${deployed.body.live_revision.id}`);
    expect(body.config).toMatchObject({ name: 'New name', description: null, instruction: 'Two.', instruction_version: 2 });
  });

  it('tells the audit log what it has changed, and nothing where that is nothing', async () => {
    const agent = await anAgent(t, org, { max_steps: 7, budget_credits_per_period: '12.5' });
    const wish = { name: 'New', slug: agent.slug, max_steps: 7, budget_credits_per_period: '12.50', denied_tools: [] };
    const first = (await asOwner('PATCH', `/agents/${agent.id}`, wish)).body;
    expect((await asOwner('PATCH', `/agents/${agent.id}`, wish)).body).toEqual(first);
    const told = await t.audit({ target_id: agent.id, action: 'agent.updated' });
    expect(told.map(({ metadata }) => metadata)).toEqual([{ fields: ['name'] }]);
  });

  it('names knowledge bases that are there, and loses those that go silently', async () => {
    const aBase = (slug: string) => t.insert(KnowledgeBase, { org_id: org.id, slug, name: slug });
    const [books, gone] = [await aBase('books'), await aBase('gone')];
    const named = { knowledge_base_ids: [books, gone], allowed_tools: ['kb:books:write', 'kb:nowhere'] };
    const agent = (await asOwner('POST', '/agents', { name: 'Reader', ...named })).body;
    expect(agent).toMatchObject(named);
    await t.db.manager.update(KnowledgeBase, gone, { deleted_at: new Date() });
    expect((await asOwner('PATCH', `/agents/${agent.id}?deploy=true`, { ...named, description: 'x' })).status).toBe(200);
    const { status, body } = await asOwner('POST', '/agents', { name: 'Other', ...named });
    expect([status, body.code, body.detail.map(({ loc }: { loc: unknown[] }) => loc)]).toEqual([
      422,
      'unknown_reference',
      [['body', 'knowledge_base_ids', 1]],
    ]);
    const shares = (tool: string) => asOwner('POST', '/agent-teams', { name: 'Team', shared_allowed_tools: [tool] });
    expect((await shares('kb:books')).status).toBe(201);
    for (const tool of ['kb:gone', 'kb:books:read']) expect((await shares(tool)).body.code).toBe('unknown_reference');
  });

  it('names no team, project, environment or knowledge base that is not there', async () => {
    const agent = await anAgent(t, org);
    const named = { team_id: randomUUID(), project_id: randomUUID(), environment_id: randomUUID(), knowledge_base_ids: [randomUUID()] };
    for (const refused of [await asOwner('POST', '/agents', { name: 'x', ...named }), await asOwner('PATCH', `/agents/${agent.id}`, named)])
      expect([refused.status, refused.body.code, refused.body.detail.map(({ loc }: { loc: unknown[] }) => loc[1])]).toEqual([
        422,
        'unknown_reference',
        Object.keys(named),
      ]);
    const none = { team_id: null, project_id: null, environment_id: null, knowledge_base_ids: [] };
    expect((await asOwner('PATCH', `/agents/${agent.id}`, none)).status).toBe(200);
  });

  it('is not dirty by where the agent belongs, which nothing seals', async () => {
    const agent = await anAgent(t, org);
    const project_id = await aProject(t, org.id);
    const edited = await asOwner('PATCH', `/agents/${agent.id}`, { project_id });
    expect(edited.body).toMatchObject({ project_id, draft_dirty: false });
    const { config } = (await asOwner('GET', `/agents/${agent.id}/revisions/${agent.live_revision.id}`)).body;
    for (const place of ['team_id', 'project_id']) expect(config).not.toHaveProperty(place);
  });

  it('is not dirty any more when the change is taken back', async () => {
    const agent = await anAgent(t, org, { max_steps: 7 });
    expect((await asOwner('PATCH', `/agents/${agent.id}`, { max_steps: 8 })).body.draft_dirty).toBe(true);
    expect((await asOwner('PATCH', `/agents/${agent.id}`, { max_steps: 7 })).body.draft_dirty).toBe(false);
    expect((await asOwner('PATCH', `/agents/${agent.id}`, { instruction: '' })).body).toMatchObject({
      draft_dirty: false,
      instruction_version: 0,
    });
    const environment = await t.insert(Environment, { org_id: org.id, kind: 'REMOTE_MACHINE', name: 'Build machine' });
    expect((await asOwner('PATCH', `/agents/${agent.id}`, { environment_id: environment })).body.draft_dirty).toBe(true);
    const gone = { kind: 'environment', orgId: org.id, id: environment, slug: environment } as const;
    await t.db.transaction(NO_CALLER, (tx) => t.get(Deletions).tell(tx, gone));
    expect((await asOwner('GET', `/agents/${agent.id}`)).body).toMatchObject({ environment_id: null, draft_dirty: false });
  });

  it('takes again what the agent has, though the plan includes it no more', async () => {
    const had = { model: MODEL, reasoning_effort: 'low', budget_credits_per_period: '12.5' };
    const { id } = await anAgent(t, org, had);
    await entitle(t, { direct_model_choice: false, per_agent_budgets: false });
    const patch = (more: object) => asOwner('PATCH', `/agents/${id}`, { ...had, ...more });
    expect(await patch({ name: 'New' })).toMatchObject({ status: 200, body: { ...had, name: 'New' } });
    expect(await patch({ reasoning_effort: 'high' })).toMatchObject({ status: 403, body: { code: 'entitlement_required' } });
  });

  it('leaves an instruction draft alone', async () => {
    const agent = await anAgent(t, org);
    await asMember('PUT', `/agents/${agent.id}/instruction/draft`, { content: 'Mine.' });
    const { body } = await asOwner('PATCH', `/agents/${agent.id}?deploy=true`, { instruction: 'Published.' });
    expect(body).toMatchObject({ instruction: 'Published.', has_instruction_draft: true, draft_dirty: false });
    expect((await asMember('GET', `/agents/${agent.id}/instruction`)).body.draft.content).toBe('Mine.');
  });

  it('refuses itself as child or tool', async () => {
    const agent = await anAgent(t, org, { slug: 'self' });
    const { status, body } = await asOwner('PATCH', `/agents/${agent.id}`, { child_agent_ids: [agent.id], allowed_tools: ['agent:self'] });
    expect([status, body.detail.length]).toEqual([422, 2]);
  });

  it('renames its slug, but not under those who grant it', async () => {
    const agent = await anAgent(t, org, { slug: 'old' });
    const granting = await anAgent(t, org, { allowed_tools: ['agent:old'] });
    expect(await asOwner('PATCH', '/agents/old', { slug: 'new' })).toMatchObject(inUseBy(granting));
    await asOwner('PATCH', `/agents/${granting.id}?deploy=true`, { allowed_tools: [] });
    expect((await asOwner('PATCH', '/agents/old', { slug: 'new' })).body.slug).toBe('new');
    expect((await asMember('GET', '/agents/old')).status).toBe(404);
    expect((await asOwner('PATCH', `/agents/${granting.id}`, { slug: 'new' })).body.code).toBe('slug_taken');
    expect((await asOwner('PATCH', `/agents/${agent.id}`, { slug: 'new' })).status).toBe(200);
  });

  it('renames its slug, but not under those who deny it, in their draft or live', async () => {
    const agent = await anAgent(t, org, { slug: 'payroll' });
    const denying = await anAgent(t, org, { allowed_tools: ['*'], denied_tools: ['agent:payroll'] });
    const rename = () => asOwner('PATCH', `/agents/${agent.id}`, { slug: 'wages' });
    expect(await rename()).toMatchObject(inUseBy(denying));
    await asOwner('PATCH', `/agents/${denying.id}`, { denied_tools: [] });
    expect(await rename()).toMatchObject(inUseBy(denying));
    await asOwner('POST', `/agents/${denying.id}/revisions`);
    await asOwner('PATCH', `/agents/${denying.id}?deploy=true`, { max_steps: 9 });
    expect((await rename()).body.slug).toBe('wages');
    await asOwner('PATCH', `/agents/${denying.id}`, { denied_tools: ['agent:wages'] });
    expect(await asOwner('PATCH', `/agents/${agent.id}`, { slug: 'payroll' })).toMatchObject(inUseBy(denying));
  });
});

describe('deleting an agent', () => {
  it('frees the slug, and the agent is gone', async () => {
    const agent = await anAgent(t, org, { slug: 'gone' });
    expect((await asOwner('DELETE', `/agents/${agent.id}`)).status).toBe(204);
    for (const path of ['', '/instruction', '/revisions', '/rollouts', '/memories'])
      expect((await asMember('GET', `/agents/${agent.id}${path}`)).status).toBe(404);
    expect((await asOwner('DELETE', `/agents/${agent.id}`)).status).toBe(404);
    expect((await anAgent(t, org, { slug: 'gone' })).id).not.toBe(agent.id);
    expect((await t.audit({ target_id: agent.id })).at(-1)?.action).toBe('agent.deleted');
  });

  it('is refused while another live agent names it, in its draft or live', async () => {
    const child = await anAgent(t, org, { slug: 'child' });
    const parent = await anAgent(t, org, { child_agent_ids: [child.id] });
    const deleteChild = () => asOwner('DELETE', `/agents/${child.id}`);
    expect(await deleteChild()).toMatchObject(inUseBy(parent));
    await asOwner('PATCH', `/agents/${parent.id}`, { child_agent_ids: [] });
    expect(await deleteChild()).toMatchObject(inUseBy(parent));
    await asOwner('PATCH', `/agents/${parent.id}?deploy=true`, { allowed_tools: ['agent:child'] });
    expect(await deleteChild()).toMatchObject(inUseBy(parent));
    expect((await asOwner('DELETE', `/agents/${parent.id}`)).status).toBe(204);
    expect((await deleteChild()).status).toBe(204);
  });
});

describe('references under races', () => {
  /** Lets one who begins to name something meet one who ends it, with `ended` where that comes first: in each round exactly one of them wins. */
  const race = async (ended: number, meet: (round: number) => Promise<Promise<Answer>[]>) => {
    for (let round = 0; round < 15; round++) {
      const answers = await Promise.all(await meet(round));
      expect(['200,409', `422,${ended}`]).toContain(answers.map(({ status }) => status).join());
    }
  };

  it('never outlive what they name: a child is deleted or named, not both', () =>
    race(204, async (round) => {
      const [child, parent] = [await anAgent(t, org), await anAgent(t, org)];
      const naming = round % 2 ? { child_agent_ids: [child.id] } : { allowed_tools: [`agent:${child.slug}`] };
      return [asOwner('PATCH', `/agents/${parent.id}`, naming), asOwner('DELETE', `/agents/${child.id}`)];
    }));

  it('hold a skill in the same way', () =>
    race(204, async (round) => {
      const slug = `skill-${round}`;
      await asOwner('POST', '/skills', { name: 'S', slug, description: 'd', content: 'c' });
      const parent = await anAgent(t, org);
      return [asOwner('PATCH', `/agents/${parent.id}`, { mounted_skills: [slug] }), asOwner('DELETE', `/skills/${slug}`)];
    }));

  it('keep a denial: an agent is renamed or denied, not both', () =>
    race(200, async (round) => {
      const [denied, denying] = [await anAgent(t, org), await anAgent(t, org)];
      const denial = { denied_tools: [`agent:${denied.slug}`] };
      return [asOwner('PATCH', `/agents/${denying.id}`, denial), asOwner('PATCH', `/agents/${denied.id}`, { slug: `renamed-${round}` })];
    }));

  it('keep a denial that goes live again from a rename until its revision is live', async () => {
    const denied = await anAgent(t, org);
    await t.db.transaction(NO_CALLER, async (tx) => {
      const refs = { denied_tools: [`agent:${denied.slug}`, 'agent:gone'] };
      await t.get(AgentReferences).require(tx, org.scope, refs, { deniedMayBeGone: true });
      const renaming = t.db.query(sql('SELECT id FROM agents WHERE id = $1 FOR UPDATE NOWAIT'), [denied.id]);
      await expect(renaming).rejects.toMatchObject({ code: '55P03' });
    });
  });

  it('may point at each other', async () => {
    const [a, b] = [await anAgent(t, org), await anAgent(t, org)];
    const answers = await Promise.all([
      asOwner('PATCH', `/agents/${a.id}`, { child_agent_ids: [b.id] }),
      asOwner('PATCH', `/agents/${b.id}`, { child_agent_ids: [a.id] }),
    ]);
    expect(answers.map((x) => x.status)).toEqual([200, 200]);
  });

  it('do not make a new chat wait for an edit', async () => {
    const agent = await anAgent(t, org);
    await t.db.transaction(NO_CALLER, async (tx) => {
      await t.get(AgentsRepository).lock(tx, org.scope, agent.id);
      // What a foreign key asks for, on another connection; NOWAIT fails where it would have to wait.
      expect(await t.db.query(sql('SELECT id FROM agents WHERE id = $1 FOR KEY SHARE NOWAIT'), [agent.id])).toHaveLength(1);
    });
  });
});

describe('max_agents', () => {
  it('counts live agents, and holds when many are made at once', async () => {
    await entitle(t, { max_agents: 3 });
    const answers = await times(20, () => asOwner('POST', '/agents', { name: 'Same' }));
    expect(answers.filter((a) => a.status === 201)).toHaveLength(3);
    const refused = { code: 'entitlement_exceeded', context: { entitlement: 'max_agents', limit: 3, current: 3 } };
    expect(answers.find((a) => a.status !== 201)).toMatchObject({ status: 403, body: refused });
    const { items } = (await asMember('GET', '/agents')).body;
    expect(items.map((a: { slug: string }) => a.slug).sort()).toEqual(['same', 'same-2', 'same-3']);
    await asOwner('DELETE', '/agents/same');
    expect((await asOwner('POST', '/agents', { name: 'Same' })).body.slug).toBe('same');
  });
});
