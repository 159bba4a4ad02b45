import { uuidv7 } from 'uuidv7';
import { sql, times } from '@aps/platform/testing';
import { AgentRevisions } from '../revisions.queries';
import { AgentsQueries } from '../agents.queries';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { anAgent } from '../testing';
import { agentsService } from '../testing/agents';

// Dozens of requests at once: on a busy machine they take longer than a test usually may.

const t = agentsService();
let org: TestTeam;
beforeEach(async () => {
  org = await aTeam(t);
});

const asOwner = (method: string, path: string, body?: unknown) => t.call(method, `${org.path}/agents/${path}`, { as: org.owner, body });

describe('sealing', () => {
  it('makes a revision of what changed, and none of what did not', async () => {
    const agent = await anAgent(t, org);
    const same = await asOwner('POST', `${agent.id}/revisions`);
    expect([same.status, same.body.id]).toEqual([200, agent.live_revision.id]);
    await asOwner('PATCH', agent.id, { max_steps: 9 });
    const next = await asOwner('POST', `${agent.id}/revisions`);
    expect(next).toMatchObject({ status: 201, body: { version: 2, is_live: false, config: { max_steps: 9 } } });
    expect((await asOwner('GET', agent.id)).body).toMatchObject({ draft_dirty: true, live_revision: { version: 1 } });
  });

  it('makes one revision of fifty seals at once, and leaves no gap in the versions', async () => {
    const agent = await anAgent(t, org);
    for (const max_steps of [11, 12]) {
      await asOwner('PATCH', agent.id, { max_steps });
      const answers = await times(50, () => asOwner('POST', `${agent.id}/revisions`));
      expect(answers.filter((a) => a.status === 201)).toHaveLength(1);
      expect(answers.filter((a) => a.status === 200)).toHaveLength(49);
      expect(new Set(answers.map((a) => a.body.id)).size).toBe(1);
    }
    const { items } = (await asOwner('GET', `${agent.id}/revisions`)).body;
    expect(items.map((r: { version: number }) => r.version)).toEqual([3, 2, 1]);
  });

  it('leaves no gap when edits and seals race', async () => {
    const agent = await anAgent(t, org);
    await times(30, (i) =>
      i % 2 ? asOwner('POST', `${agent.id}/revisions`) : asOwner('PATCH', `${agent.id}?deploy=true`, { max_steps: i + 1 }),
    );
    const { items } = (await asOwner('GET', `${agent.id}/revisions`)).body;
    expect(items.map((r: { version: number }) => r.version)).toEqual(Array.from(items, (_, i) => items.length - i));
    expect((await asOwner('GET', agent.id)).body).toMatchObject({ draft_dirty: false, live_revision: { version: items.length } });
  });
});

describe('deploying', () => {
  it('replaces what is live, forwards and backwards', async () => {
    const agent = await anAgent(t, org);
    await asOwner('PATCH', agent.id, { max_steps: 9 });
    const second = (await asOwner('POST', `${agent.id}/revisions`)).body;
    const forwards = await asOwner('POST', `${agent.id}/revisions/${second.id}/deploy`);
    const arms = [{ revision_id: second.id, version: 2, weight: 10_000 }];
    const live = { kind: 'deploy', status: 'live', ended_at: null, started_by: org.owner.id, arms };
    expect(forwards).toMatchObject({ status: 200, body: live });
    const backwards = await asOwner('POST', `${agent.id}/revisions/${agent.live_revision.id}/deploy`);
    expect((await asOwner('GET', agent.id)).body).toMatchObject({ live_revision: { version: 1 }, draft_dirty: true });
    const { items } = (await asOwner('GET', `${agent.id}/rollouts`)).body;
    expect(items.map((r: { status: string }) => r.status)).toEqual(['live', 'superseded', 'superseded']);
    expect(items[0].id).toBe(backwards.body.id);
    expect(items[1]).toMatchObject({ id: forwards.body.id, ended_at: expect.any(String) });
    expect((await asOwner('GET', `${agent.id}/rollouts/${items[1].id}`)).body).toEqual(items[1]);
  });

  it('changes nothing when the revision is live', async () => {
    const agent = await anAgent(t, org);
    const again = await asOwner('POST', `${agent.id}/revisions/${agent.live_revision.id}/deploy`);
    expect(again.status).toBe(200);
    expect((await asOwner('GET', `${agent.id}/rollouts`)).body.total).toBe(1);
  });

  it('ends a running experiment, even with the revision that is live', async () => {
    const agent = await anAgent(t, org);
    const experiment = uuidv7();
    await t.db.execute(
      sql(`INSERT INTO rollouts (id, org_id, agent_id, kind, status, arms) VALUES ($1, $2, $3, 'experiment', 'running', '[]')`),
      [experiment, org.id, agent.id],
    );
    expect((await asOwner('GET', agent.id)).body.running_rollout_id).toBe(experiment);
    await asOwner('POST', `${agent.id}/revisions/${agent.live_revision.id}/deploy`);
    expect((await asOwner('GET', `${agent.id}/rollouts/${experiment}`)).body).toMatchObject({
      kind: 'experiment',
      status: 'superseded',
      ended_at: expect.any(String),
    });
    expect((await asOwner('GET', agent.id)).body.running_rollout_id).toBeNull();
  });

  it('takes only revisions of the agent', async () => {
    const [agent, other] = [await anAgent(t, org), await anAgent(t, org)];
    const foreign = await anAgent(t, await aTeam(t));
    for (const id of [other.live_revision.id, foreign.live_revision.id, uuidv7()]) {
      expect((await asOwner('POST', `${agent.id}/revisions/${id}/deploy`)).status).toBe(404);
      expect((await asOwner('GET', `${agent.id}/revisions/${id}`)).status).toBe(404);
    }
    const [{ id: foreignRollout }] = await t.db.query(sql<{ id: string }>('SELECT id FROM rollouts WHERE agent_id = $1'), [other.id]);
    expect((await asOwner('GET', `${agent.id}/rollouts/${foreignRollout}`)).status).toBe(404);
  });

  it('refuses an old revision that names what is gone', async () => {
    const child = await anAgent(t, org);
    const agent = await anAgent(t, org, { child_agent_ids: [child.id] });
    await asOwner('PATCH', `${agent.id}?deploy=true`, { child_agent_ids: [] });
    expect((await asOwner('DELETE', child.id)).status).toBe(204);
    const { status, body } = await asOwner('POST', `${agent.id}/revisions/${agent.live_revision.id}/deploy`);
    expect([status, body.code, body.detail[0].loc]).toEqual([422, 'unknown_reference', ['path', 'revision_id']]);
  });

  it('takes a revision that denies an agent which is gone, forwards and backwards', async () => {
    const denied = await anAgent(t, org);
    const agent = await anAgent(t, org, { denied_tools: [`agent:${denied.slug}`] });
    expect((await asOwner('DELETE', denied.id)).status).toBe(204);
    expect((await asOwner('PATCH', `${agent.id}?deploy=true`, { max_steps: 9 })).body.live_revision.version).toBe(2);
    expect((await asOwner('POST', `${agent.id}/revisions/${agent.live_revision.id}/deploy`)).status).toBe(200);
    // As it was read, with something new.
    const denied_tools = [`agent:${denied.slug}`, 'system:web'];
    expect((await asOwner('PATCH', agent.id, { denied_tools })).status).toBe(200);
    expect((await asOwner('PATCH', agent.id, { denied_tools: [...denied_tools, 'agent:never-there'] })).status).toBe(422);
    // Its own slug by now.
    expect((await asOwner('PATCH', `${agent.id}?deploy=true`, { slug: denied.slug })).status).toBe(200);
  });

  it.each([
    ['where its agent belonged', 'team_id', 200],
    ['an environment that is gone', 'environment_id', 200],
    ['a model that is gone', 'model', 422],
  ])('is told of an old revision that has sealed %s', async (_, field, status) => {
    const agent = await anAgent(t, org);
    const { id } = agent.live_revision;
    await asOwner('PATCH', `${agent.id}?deploy=true`, { max_steps: 9 });
    await t.db.execute(sql(`UPDATE agent_revisions SET config = config || jsonb_build_object($2::text, $3::text) WHERE id = $1`), [
      ...[id, field, uuidv7()],
    ]);
    const deployed = await asOwner('POST', `${agent.id}/revisions/${id}/deploy`);
    expect([deployed.status, deployed.body.code]).toEqual([status, status === 200 ? undefined : 'unknown_reference']);
  });

  it('leaves exactly one live rollout when many deploy at once', async () => {
    const agent = await anAgent(t, org);
    const ids: string[] = [agent.live_revision.id];
    for (const max_steps of [2, 3, 4]) {
      await asOwner('PATCH', agent.id, { max_steps });
      ids.push((await asOwner('POST', `${agent.id}/revisions`)).body.id);
    }
    const answers = await times(40, (i) => asOwner('POST', `${agent.id}/revisions/${ids[i % ids.length]}/deploy`));
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([200]));
    const { items } = (await asOwner('GET', `${agent.id}/rollouts`)).body;
    const live = items.filter((r: { status: string }) => r.status === 'live');
    expect(live).toHaveLength(1);
    expect(live[0].arms[0].revision_id).toBe((await asOwner('GET', agent.id)).body.live_revision.id);
    // Newest first is the order in which they happened: the live one is the newest.
    expect(items[0].status).toBe('live');
  });
});

describe('what chats run on', () => {
  it('is the live revision, by one look', async () => {
    const agent = await anAgent(t, org);
    const queries = t.get(AgentsQueries);
    const rollout = (await asOwner('GET', `${agent.id}/rollouts`)).body.items[0];
    expect(await queries.forNewChat(t.db, org.scope, agent.id)).toEqual({
      agent_id: agent.id,
      revision_id: agent.live_revision.id,
      rollout_id: rollout.id,
      arm_label: null,
    });
    expect(await queries.forNewChat(t.db, (await aTeam(t)).scope, agent.id)).toBeNull();
    await asOwner('DELETE', agent.id);
    expect(await queries.forNewChat(t.db, org.scope, agent.id)).toBeNull();
  });

  it('is remembered and cannot be changed by who reads it', async () => {
    const agent = await anAgent(t, org, { instruction: 'Stay.', metadata: { a: { b: 1 } } });
    const revisions = t.get(AgentRevisions);
    const config = await revisions.config(agent.live_revision.id);
    expect(config).toMatchObject({ agent_id: agent.id, instruction: 'Stay.', max_steps: 50, metadata: { a: { b: 1 } } });
    expect(await revisions.config(agent.live_revision.id)).toBe(config);
    expect(() => (config.allowed_tools as string[]).push('*')).toThrow(TypeError);
    await expect(revisions.config(uuidv7())).rejects.toMatchObject({ code: 'not_found' });
  });
});
