import { randomUUID } from 'node:crypto';
import { RolloutsQueries } from '@aps/agents';
import { AgentsHttpModule } from '@aps/agents/http';
import { Agent, Connection, ConnectionTool, Environment, KnowledgeBase, OrgAiSettings } from '@aps/entities';
import { EnvironmentsQueries } from '@aps/environments';
import type { OrgScope } from '@aps/guards';
import { anAgent } from '@aps/agents/testing';
import { BillingModule } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { GovernanceModule, InferenceModule, ModelUsers } from '@aps/inference';
import { addModel } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { sql, type Answer } from '@aps/platform/testing';
import { BASE_MODULES, eventually, testService } from '@aps/testing';
import { ArmChats } from '../arm-chats';
import { RolloutResultsService } from '../results.service';
import { RolloutsHttpModule } from '.';

const t = testService([...BASE_MODULES, BillingModule, InferenceModule, GovernanceModule, AgentsHttpModule, RolloutsHttpModule]);
let org: TestTeam;
let agent: Answer['body'];
beforeAll(() => addModel(t, 'gone-model'));
beforeEach(async () => {
  await entitle(t, { max_agents: -1, direct_model_choice: true });
  org = await aTeam(t);
  agent = await anAgent(t, org, { instruction: 'One.' });
  // Version 2, which is live.
  await asOwner('PATCH', '?deploy=true', { instruction: 'Two.' });
});

const at = (path: string) => `${org.path}/agents/${agent.id}${path}`;
const asOwner = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  t.call(method, at(path), { as: org.owner, body, headers });
const read = async (path = '') => (await t.call('GET', at(path), { as: org.member })).body;
const HALVES = {
  arms: [
    { label: 'a', weight: 5_000, version: 1 },
    { label: 'b', weight: 5_000, version: 2 },
  ],
  control: 'a',
};
const start = (body: object = {}, headers?: Record<string, string>) => asOwner('POST', '/rollouts', { ...HALVES, ...body }, headers);
const problems = ({ status, body }: Answer) => [
  status,
  body.code,
  body.detail.map?.(({ loc }: { loc: unknown[] }) => loc.slice(1).join('.')),
];
const inForce = () =>
  t.db.query(sql(`SELECT kind, status FROM rollouts WHERE agent_id = $1 AND status IN ('live', 'running')`), [agent.id]);

describe('an experiment', () => {
  it('begins in place of what is in force, and says so wherever the agent is shown', async () => {
    const { status, body } = await start({ label: ' Shorter ', hypothesis: '', unit: 'originator', min_sample: 50 });
    const { items: revisions } = await read('/revisions');
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        ...{ kind: 'experiment', status: 'running', label: 'Shorter', hypothesis: null, unit: 'originator', control: 'a', min_sample: 50 },
        ...{ promoted_arm: null, deployed_rollout_id: null, started_by: org.owner.id, ended_at: null },
        arms: [
          { label: 'a', weight: 5_000, version: 1, revision_id: revisions[1].id, chat_count: 0, is_control: true },
          { label: 'b', weight: 5_000, version: 2, revision_id: revisions[0].id, chat_count: 0, is_control: false },
        ],
      }),
    ]);
    expect(await read()).toMatchObject({ running_rollout_id: body.id, live_revision: { version: 1 } });
    expect((await read('/rollouts')).items).toMatchObject([
      { status: 'running' },
      { status: 'superseded', ended_at: expect.any(String) },
      {},
    ]);
    const second = (await start({ min_sample: undefined })).body;
    expect(second.min_sample).toBe(30);
    expect((await read(`/rollouts/${body.id}`)).status).toBe('superseded');
    expect(await inForce()).toEqual([{ kind: 'experiment', status: 'running' }]);
    await asOwner('POST', `/revisions/${revisions[0].id}/deploy`);
    expect((await read(`/rollouts/${second.id}`)).status).toBe('superseded');
    expect(await inForce()).toEqual([{ kind: 'deploy', status: 'live' }]);
    expect(await t.audit({ org_id: org.id, action: 'rollout.started' })).toHaveLength(2);
  });

  it('is refused with every problem of its arms at once', async () => {
    const arms = [
      { label: 'a', weight: 4_000, version: 1, use_draft: false },
      { label: 'a', weight: 4_000, version: 1, use_draft: true },
      { label: 'c', weight: 1_000 },
    ];
    expect(problems(await start({ arms, control: 'x' }))).toEqual([
      422,
      'validation_error',
      ['arms.1.label', 'arms.1', 'arms.2', 'arms', 'control'],
    ]);
    for (const wrong of [[], [HALVES.arms[0]], Array.from({ length: 6 }, (_, i) => ({ label: `${i}`, weight: 1_000, version: 1 }))])
      expect((await start({ arms: wrong })).status).toBe(422);
    const other = await anAgent(t, org);
    const named = (fields: object[]) => fields.map((field, i) => ({ label: `${i}`, weight: 5_000, ...field }));
    const unknown = named([{ version: 3 }, { revision_id: other.live_revision.id }]);
    expect(problems(await start({ arms: unknown, control: '0' }))).toEqual([
      422,
      'unknown_revision',
      ['arms.0.version', 'arms.1.revision_id'],
    ]);
    const same = await start({ arms: named([{ version: 2 }, { use_draft: true }]), control: '0' });
    expect(same).toMatchObject({ status: 422, body: { code: 'identical_arms' } });
    expect((await read('/revisions')).total).toBe(2);
    const allowed = await start({ arms: named([{ version: 2 }, { use_draft: true }]), control: '0', allow_identical: true });
    expect(allowed.body.arms.map(({ version }: { version: number }) => version)).toEqual([2, 2]);
  });

  it('is refused, and cannot be promoted, with an arm that names what is gone; and can be stopped all the same', async () => {
    const [skill, scout] = [
      await t.make('POST', `${org.path}/skills`, { as: org.owner, body: { name: 'Rare', description: 'd', content: 'c' } }),
      await anAgent(t, org, { name: 'Scout' }),
    ];
    const names = { mounted_skills: [skill.slug], allowed_tools: ['agent:scout'], child_agent_ids: [scout.id], model: 'gone-model' };
    await asOwner('PATCH', '', names);
    const arms = [
      { label: 'a', weight: 1, version: 1 },
      { label: 'draft', weight: 9_999, use_draft: true },
    ];
    const begun = (await start({ arms })).body;
    const version = begun.arms[1].version as number;
    await t.db.execute(sql(`UPDATE skills SET deleted_at = now() WHERE org_id = $1`), [org.id]);
    await t.db.execute(sql(`UPDATE agents SET deleted_at = now() WHERE id = $1`), [scout.id]);
    await t.db.execute(sql(`UPDATE model_catalog SET enabled = false WHERE key = 'gone-model'`));
    const gone = [
      { arm: 'draft', kind: 'tool', slug: 'agent:scout' },
      { arm: 'draft', kind: 'skill', slug: 'rare' },
      { arm: 'draft', kind: 'agent', slug: scout.id },
      { arm: 'draft', kind: 'model', slug: 'gone-model' },
    ];
    expect(
      await start({
        arms: [
          { label: 'a', weight: 1, version: 1 },
          { label: 'draft', weight: 9_999, version },
        ],
      }),
    ).toMatchObject({
      status: 422,
      body: { code: 'arm_unusable', context: { problems: gone } },
    });
    const promoted = await asOwner('POST', `/rollouts/${begun.id}/promote`, { arm: 'draft' });
    expect(promoted).toMatchObject({ status: 422, body: { code: 'arm_unusable', context: { problems: gone } } });
    expect((await read(`/rollouts/${begun.id}`)).status).toBe('running');
    // Its control is what is gone, now.
    await t.db.execute(sql(`UPDATE rollouts SET control = 'draft' WHERE id = $1`), [begun.id]);
    expect((await asOwner('POST', `/rollouts/${begun.id}/stop`)).body).toMatchObject({ status: 'stopped' });
    expect((await read()).live_revision.version).toBe(version);
    await t.db.execute(sql(`UPDATE model_catalog SET enabled = true WHERE key = 'gone-model'`));
  });

  it('is refused with an arm whose grants lead nowhere, and promoted without what is gone since, as in a deployment', async () => {
    const wiki = await t.insert(KnowledgeBase, { id: randomUUID(), org_id: org.id, slug: 'wiki', name: 'Wiki' });
    await asOwner('PATCH', '', {
      allowed_tools: ['con:gone', 'gone-2.find', 'kb:nowhere'],
      denied_tools: ['con:gone', 'kb:gone'],
    });
    const arms = [
      { label: 'a', weight: 1, version: 1 },
      { label: 'b', weight: 9_999, use_draft: true },
    ];
    expect((await start({ arms })).body).toMatchObject({
      code: 'arm_unusable',
      context: {
        problems: [
          { arm: 'b', kind: 'connection', slug: 'gone' },
          { arm: 'b', kind: 'connection', slug: 'gone-2' },
          { arm: 'b', kind: 'knowledge_base', slug: 'nowhere' },
        ],
      },
    });
    const connection = await t.insert(Connection, {
      ...{ org_id: org.id, slug: 'crm', label: 'CRM', app_key: 'custom-mcp', provider_key: 'custom-mcp', method: 'none', status: 'active' },
      ...{ scope: 'private', owner_user_id: org.owner.id },
    });
    const tool = { connection_id: connection, org_id: org.id, description: 'd', input_schema: {}, access_level: 'read' } as const;
    await t.db.manager.insert(ConnectionTool, [
      { ...tool, name: 'refund' },
      { ...tool, name: 'withdrawn', gone_at: new Date() },
    ]);
    await asOwner('PATCH', '', { allowed_tools: ['crm.refund', 'crm.refnd', 'crm.withdrawn'], denied_tools: ['crm.never'] });
    expect((await start({ arms })).body).toMatchObject({
      code: 'arm_unusable',
      context: {
        problems: [
          { arm: 'b', kind: 'tool', slug: 'crm.refnd' },
          { arm: 'b', kind: 'tool', slug: 'crm.withdrawn' },
        ],
      },
    });
    await asOwner('PATCH', '', { allowed_tools: ['con:crm', 'crm.refund', 'kb:wiki'], denied_tools: [], knowledge_base_ids: [wiki] });
    const begun = await start({ arms });
    expect(begun.status).toBe(201);
    await t.db.execute(sql(`UPDATE connections SET deleted_at = now() WHERE id = $1`), [connection]);
    await t.db.execute(sql(`UPDATE knowledge_bases SET deleted_at = now() WHERE id = $1`), [wiki]);
    expect((await asOwner('POST', `/rollouts/${begun.body.id}/promote`, { arm: 'b' })).status).toBe(200);
  });

  it('is refused with a model that is not allowed, and promoted with one that was, as deployed', async () => {
    await asOwner('PATCH', '', { model: 'gone-model' });
    const arms = [
      { label: 'a', weight: 1, version: 1 },
      { label: 'b', weight: 9_999, use_draft: true },
    ];
    const { body } = await start({ arms });
    await t.db.manager.insert(OrgAiSettings, { org_id: org.id, agent_model_allowlist: ['another'] });
    const b = { label: 'b', weight: 9_999, version: 3 };
    expect((await start({ arms: [arms[0], b] })).body).toMatchObject({
      code: 'arm_unusable',
      context: { problems: [{ arm: 'b', kind: 'model', slug: 'gone-model' }] },
    });
    expect((await asOwner('POST', `/rollouts/${body.id}/promote`, { arm: 'b' })).status).toBe(200);
    expect((await asOwner('POST', `/revisions/${body.arms[1].revision_id}/deploy`)).status).toBe(200);
  });

  it('has its results before the second of another organization that has asked for many', async () => {
    const asked: string[] = [];
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const chats: ArmChats = {
      counted: async (_, { orgId }) => {
        asked.push(orgId);
        await held;
        return [];
      },
      assigned: () => Promise.resolve([]),
      decisions: () => Promise.resolve([]),
    };
    const results = t.get(RolloutResultsService);
    const before = results['chats'];
    Object.assign(results, { chats });
    results['known'].clear();
    const scopeOf = ({ id, owner }: TestTeam) => ({ orgId: id, actor: { userId: owner.id } }) as OrgScope;
    const many = [(await start()).body.id, (await start()).body.id].map((id: string) => results.of(scopeOf(org), agent.id, id));
    const first = org.id;
    await eventually(
      () => Promise.resolve(asked),
      (found) => found.length === 1,
    );
    org = await aTeam(t);
    agent = await anAgent(t, org, { instruction: 'One.' });
    await asOwner('PATCH', '?deploy=true', { instruction: 'Two.' });
    const { id } = (await start()).body;
    const other = results.of(scopeOf(org), agent.id, id);
    await eventually(
      () => Promise.resolve(results['known']['entries'].size),
      (size) => size === 3,
    );
    letGo();
    await Promise.all([...many, other]);
    Object.assign(results, { chats: before });
    expect(asked).toEqual([first, org.id, first]);
  });

  it('keeps what its arms name from being deleted or renamed, for as long as it runs', async () => {
    const skill = await t.make('POST', `${org.path}/skills`, { as: org.owner, body: { name: 'Rare', description: 'd', content: 'c' } });
    const scout = await anAgent(t, org, { name: 'Scout' });
    const names = { mounted_skills: [skill.slug], allowed_tools: ['agent:scout'], model: 'gone-model' };
    await asOwner('PATCH', '', names);
    const { body } = await start({
      arms: [
        { label: 'a', weight: 1, version: 1 },
        { label: 'draft', weight: 9_999, use_draft: true },
      ],
    });
    await asOwner('PATCH', '', { mounted_skills: [], allowed_tools: [], model: null });
    const remove = (path: string) => t.call('DELETE', org.path + path, { as: org.owner });
    const used = { agents: [{ id: agent.id }] };
    expect(await remove(`/skills/${skill.slug}`)).toMatchObject({ status: 409, body: { code: 'skill_in_use', context: used } });
    expect(await remove(`/agents/${scout.id}`)).toMatchObject({ status: 409, body: { code: 'agent_in_use', context: used } });
    const users = t.get(ModelUsers);
    const outside = () => users.agentsOutside(t.db, { orgId: org.id } as OrgScope, ['other']);
    expect([await users.naming(t.db, ['gone-model'], 10, org.id), await outside()]).toMatchObject([
      [{ id: agent.id, model_key: 'gone-model' }],
      [{ id: agent.id, model: 'gone-model' }],
    ]);
    await asOwner('POST', `/rollouts/${body.id}/stop`);
    expect([(await remove(`/skills/${skill.slug}`)).status, (await remove(`/agents/${scout.id}`)).status]).toEqual([204, 204]);
    expect([await users.naming(t.db, ['gone-model'], 10, org.id), await outside()]).toEqual([[], []]);
  });

  it('waits for who deletes the environment of its agent, and does not keep them waiting', async () => {
    const environment = await t.insert(Environment, { org_id: org.id, kind: 'REMOTE_MACHINE', name: 'Build machine' });
    await asOwner('PATCH', '?deploy=true', { environment_id: environment });
    let starting: Promise<Answer>;
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql('SELECT 1 FROM environments WHERE id = $1 FOR UPDATE'), [environment]);
      starting = start({ arms: [HALVES.arms[0], { ...HALVES.arms[1], version: 3 }] });
      const waits = sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      await eventually(
        () => t.db.query(waits),
        (waiting) => waiting.length > 0,
      );
      // As whoever deletes it does; fails where it would have to wait.
      await tx.query(sql('SELECT 1 FROM agents WHERE id = $1 FOR NO KEY UPDATE NOWAIT'), [agent.id]);
      await tx.manager.update(Agent, agent.id, { environment_id: null });
      await tx.manager.update(Environment, environment, { deleted_at: new Date() });
    });
    expect(await starting!).toMatchObject({
      status: 422,
      body: { code: 'arm_unusable', context: { problems: [{ arm: 'b', kind: 'environment', slug: environment }] } },
    });
  });

  it('counts as a use of the environment that an arm names, as do the draft and what is live', async () => {
    const environment = await t.insert(Environment, { org_id: org.id, kind: 'REMOTE_MACHINE', name: 'Build machine' });
    const scope = { orgId: org.id, actor: { userId: org.owner.id } } as OrgScope;
    const users = async () => (await t.get(EnvironmentsQueries).usage(scope, environment)).agents.map(({ id }) => id);
    await asOwner('PATCH', '', { environment_id: environment });
    const found = [await users()];
    // Version 3, which is live; the draft names it no more.
    await asOwner('PATCH', '?deploy=true', { description: 'At work.' });
    await asOwner('PATCH', '', { environment_id: null });
    found.push(await users());
    const arms = [
      { label: 'a', weight: 5_000, version: 2 },
      { label: 'b', weight: 5_000, version: 3 },
    ];
    const { body } = await start({ arms });
    expect([...found, await users()]).toEqual(Array(3).fill([agent.id]));
    await asOwner('POST', `/rollouts/${body.id}/stop`);
    expect(await users()).toEqual([]);
  });

  it('of a draft tries the instruction that is being written, and publishes it when it is promoted', async () => {
    await asOwner('PUT', '/instruction/draft', { content: 'Three.' });
    const arms = [
      { label: 'a', weight: 5_000, version: 2 },
      { label: 'new', weight: 5_000, use_draft: true },
    ];
    const { body } = await start({ arms });
    expect((await read(`/revisions/${body.arms[1].revision_id}`)).config.instruction).toBe('Three.');
    expect(await read()).toMatchObject({ instruction: 'Two.', has_instruction_draft: true });
    const ended = (await asOwner('POST', `/rollouts/${body.id}/promote`, { arm: 'new' })).body;
    expect(ended).toMatchObject({
      id: body.id,
      status: 'promoted',
      promoted_arm: 'new',
      deployed_rollout_id: expect.any(String),
      ended_at: expect.any(String),
    });
    expect(await read()).toMatchObject({
      ...{ instruction: 'Three.', instruction_version: 3, has_instruction_draft: false, draft_dirty: false, running_rollout_id: null },
      live_revision: { version: body.arms[1].version },
    });
    expect(await read(`/rollouts/${ended.deployed_rollout_id}`)).toMatchObject({ kind: 'deploy', status: 'live' });
    // A draft that says something else by then stays.
    await asOwner('PUT', '/instruction/draft', { content: 'Four.' });
    const again = (
      await start({
        arms: [
          { label: 'a', weight: 5_000, version: 2 },
          { label: 'new', weight: 5_000, use_draft: true },
        ],
      })
    ).body;
    await asOwner('PUT', '/instruction/draft', { content: 'Five.' });
    await asOwner('POST', `/rollouts/${again.id}/promote`, { arm: 'new' });
    expect(await read('/instruction')).toMatchObject({ active: { content: 'Four.' }, draft: { content: 'Five.' } });
  });

  it('of a draft begins with what was read, and with nothing else', async () => {
    const { base_version } = (await asOwner('PUT', '/instruction/draft', { content: 'Read.' })).body;
    const arms = [
      { label: 'a', weight: 5_000, version: 2 },
      { label: 'new', weight: 5_000, use_draft: true },
    ];
    const saved = (await asOwner('PUT', '/instruction/draft', { content: 'Unread.' })).body;
    const refused = { code: 'version_conflict', context: { current_version: saved.base_version } };
    expect(await start({ arms, base_version })).toMatchObject({ status: 409, body: refused });
    expect((await start({ base_version })).status).toBe(201);
    expect((await start({ arms, base_version: saved.base_version })).status).toBe(201);
  });

  it('of a draft without an instruction of its own publishes none when it is promoted: what was published meanwhile stays', async () => {
    await asOwner('PATCH', '', { description: 'Something else.' });
    const arms = [
      { label: 'a', weight: 5_000, version: 2 },
      { label: 'new', weight: 5_000, use_draft: true },
    ];
    const { body } = await start({ arms });
    await asOwner('PUT', '/instruction/draft', { content: 'With a sentence more.' });
    expect((await asOwner('POST', '/instruction/draft/publish')).status).toBe(200);
    expect((await asOwner('POST', `/rollouts/${body.id}/promote`, { arm: 'new' })).status).toBe(200);
    expect(await read()).toMatchObject({ instruction: 'With a sentence more.', live_revision: { version: body.arms[1].version } });
  });

  it('ends once, of many at once; and who comes too late is told what runs', async () => {
    const { body } = await start();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        i % 2 ? asOwner('POST', `/rollouts/${body.id}/stop`) : asOwner('POST', `/rollouts/${body.id}/promote`, { arm: 'b' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    const late = answers.find(({ status }) => status === 409)!;
    expect(late.body).toMatchObject({ code: 'rollout_not_running', context: { rollout_id: null, label: null, status: null } });
    const next = (await start({ label: 'Next' })).body;
    const told = { code: 'rollout_not_running', context: { rollout_id: next.id, label: 'Next', status: 'running' } };
    expect((await asOwner('POST', `/rollouts/${body.id}/stop`)).body).toMatchObject(told);
    expect(await asOwner('POST', `/rollouts/${next.id}/promote`, { arm: 'c' })).toMatchObject({
      status: 422,
      body: { code: 'unknown_arm', context: { labels: ['a', 'b'] } },
    });
    expect((await asOwner('POST', `/rollouts/${randomUUID()}/stop`)).status).toBe(404);
    expect(await inForce()).toEqual([{ kind: 'experiment', status: 'running' }]);
  });

  it('is begun once under one key, and ends with its agent', async () => {
    const key = { 'Idempotency-Key': 'once' };
    const [one, two] = [await start({}, key), await start({}, key)];
    expect([two.body, two.headers.get('idempotency-replayed')]).toEqual([one.body, 'true']);
    await asOwner('DELETE', '');
    const ended = sql(`SELECT status, ended_at IS NOT NULL AS has_end, deployed_rollout_id FROM rollouts WHERE id = $1`);
    expect(await t.db.query(ended, [one.body.id])).toEqual([{ status: 'stopped', has_end: true, deployed_rollout_id: null }]);
  });

  it('is begun and ended once under one key, though the answer was lost after the commit', async () => {
    const lost = async (path: string, body?: object) => {
      jest.spyOn(t.get(RolloutsQueries), 'get').mockRejectedValueOnce(new Error('Connection terminated unexpectedly'));
      const key = { 'Idempotency-Key': path };
      expect((await asOwner('POST', path, body, key)).status).toBe(503);
      return asOwner('POST', path, body, key);
    };
    const begun = await lost('/rollouts', HALVES);
    expect(begun).toMatchObject({ status: 201, body: { kind: 'experiment', status: 'running' } });
    const promoted = await lost(`/rollouts/${begun.body.id}/promote`, { arm: 'b' });
    expect(promoted).toMatchObject({ status: 200, body: { id: begun.body.id, status: 'promoted', promoted_arm: 'b' } });
    const second = await start();
    expect(await lost(`/rollouts/${second.body.id}/stop`)).toMatchObject({ status: 200, body: { id: second.body.id, status: 'stopped' } });
    expect((await read('/rollouts')).items.filter(({ kind }: { kind: string }) => kind === 'experiment')).toHaveLength(2);
  });

  it('may be named, and no deployment', async () => {
    const { body } = await start({ label: 'x', hypothesis: 'y' });
    await asOwner('POST', `/rollouts/${body.id}/stop`);
    const edited = await asOwner('PATCH', `/rollouts/${body.id}`, { label: '', hypothesis: 'z' });
    expect(edited.body).toMatchObject({ label: null, hypothesis: 'z', status: 'stopped' });
    const deployment = (await read('/rollouts')).items[0];
    expect(await asOwner('PATCH', `/rollouts/${deployment.id}`, { label: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'not_an_experiment' },
    });
    expect((await asOwner('PATCH', `/rollouts/${body.id}`, { label: 'x'.repeat(201) })).status).toBe(422);
  });

  it('is not begun where the deployment has none, but can be read and ended there', async () => {
    const { body } = await start();
    t.configure({ AGENT_EXPERIMENTS_ENABLED: 'off' });
    expect(await start()).toMatchObject({ status: 403, body: { code: 'experiments_disabled' } });
    expect((await read(`/rollouts/${body.id}`)).status).toBe('running');
    expect((await asOwner('POST', `/rollouts/${body.id}/stop`)).status).toBe(200);
    t.configure({ AGENT_EXPERIMENTS_ENABLED: undefined });
  });
});
