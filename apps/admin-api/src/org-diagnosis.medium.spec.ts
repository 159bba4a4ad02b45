import { PlanEntitlements } from '@aps/billing';
import { addCredits, entitle } from '@aps/billing/testing';
import type { JobName } from '@aps/contracts';
import { Agent, AgentRevision, Chat, KnowledgeBase, KnowledgeSource, OutboxRow, Subscription, Turn } from '@aps/entities';
import { InferenceSettings, seedInference } from '@aps/inference';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { outcome, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('The diagnosis of an organization', () => {
  const { t, call } = adminService({ OPENAI_API_KEY: 'sk-of-the-environment' });
  let org: TestTeam;
  const diagnosis = async () =>
    (await call('GET', `/orgs/${org.id}/diagnosis`)).body as { healthy: boolean; findings: Record<string, unknown>[] };
  const findings = async () => (await diagnosis()).findings.map(({ kind, ref, action }) => [kind, ref, action]);
  const aWorker = (over: { draining?: boolean; silent?: boolean } = {}) =>
    t.db.execute(
      sql(`INSERT INTO workers (id, app, version, started_at, last_seen_at, draining, queues)
        VALUES ($1, 'chat-worker', 'dev', now(), now() - make_interval(secs => $2), $3, '[{"name": "turns", "active": 0, "concurrency": 8}]')`),
      [uuidv7(), over.silent ? 90 : 0, over.draining ?? false],
    );
  const anAgent = async (model: string | null = null) => {
    const id = await t.insert(Agent, { org_id: org.id, slug: uuidv7().replaceAll('-', ''), name: 'Agent', model });
    const revision = await t.insert(AgentRevision, { org_id: org.id, agent_id: id, version: 1, hash: 'x', config: { model } });
    await t.db.execute(sql('UPDATE agents SET live_revision_id = $2 WHERE id = $1'), [id, revision]);
    return { id, revision };
  };
  const aTurn = async (turn: Partial<Turn>, agent: { id: string; revision: string }) => {
    const of = { org_id: org.id, agent_id: agent.id, agent_revision_id: agent.revision };
    const chat = await t.insert(Chat, { ...of, origin_kind: 'user' });
    await t.db.execute(sql('UPDATE chats SET root_chat_id = id WHERE id = $1'), [chat]);
    const id = await t.insert(Turn, { org_id: org.id, chat_id: chat, seq: 1, cause: 'message', ...turn } as Partial<Turn>);
    await t.db.execute(sql('UPDATE chats SET current_turn_id = $2 WHERE id = $1'), [chat, id]);
    if (!turn.parked) await aJob('turn.run', id, turn.dispatched_at!);
  };
  /** As whoever dispatches a run writes it. */
  const aJob = (job: JobName, id: string, created_at: Date) =>
    t.db.manager.insert(OutboxRow, { id, job, version: 1, payload: {}, available_at: created_at, created_at });
  const ago = (s: number) => new Date(Date.now() - s * 1_000);

  beforeAll(async () => {
    await entitle(t, { max_concurrent_chats: 2 });
    await seedInference(t.db, { mockBaseUrl: 'http://127.0.0.1:1/v1' });
  });
  beforeEach(async () => {
    org = await aTeam(t);
    await t.db.execute(sql('DELETE FROM workers'));
    await aWorker();
  });

  it('finds nothing where nothing is', async () => {
    await anAgent('mock');
    expect(await diagnosis()).toEqual({ org_id: org.id, healthy: true, findings: [] });
    expect(outcome(await call('GET', `/orgs/${uuidv7()}/diagnosis`))).toEqual([404, 'not_found']);
  });

  it('tells who has no subscription that counts to choose a plan, whatever credits are left', async () => {
    await t.db.manager.update(Subscription, { org_id: org.id }, { status: 'expired' });
    t.get(PlanEntitlements).drop(org.id);
    await addCredits(t, org.id, '500', 'purchased');
    expect((await diagnosis()).findings).toMatchObject([
      { kind: 'credits', sentence: 'Your organization has no subscription that counts; choose a plan.' },
    ]);
  });

  it('names a suspension, with a sentence that can be sent', async () => {
    await call('POST', `/orgs/${org.id}/suspend`);
    expect(await diagnosis()).toMatchObject({
      healthy: false,
      findings: [{ kind: 'suspended', since: expect.any(String), action: 'unsuspend', sentence: expect.stringContaining('suspended') }],
    });
  });

  it('names a budget that is used up, with its figures', async () => {
    await t.db.execute(sql('INSERT INTO org_ai_settings (org_id, budget_limit_usd) VALUES ($1, 0)'), [org.id]);
    expect(await findings()).toEqual([['budget', 'budget_limit_usd', 'raise_budget']]);
    expect((await diagnosis()).findings[0].sentence).toBe(
      'Your budget of 0 US dollars for this month is used up (0 spent); raise it, or wait for the next month.',
    );
  });

  it('names turns over the cap, turns that nobody takes, and turns whose worker is silent', async () => {
    const agent = await anAgent();
    await aTurn({ status: 'queued', parked: true, dispatched_at: ago(60) }, agent);
    await aTurn({ status: 'queued', dispatched_at: ago(60) }, agent);
    await aTurn({ status: 'queued', dispatched_at: ago(1) }, agent);
    await aTurn({ status: 'running', dispatched_at: ago(60), lease_owner: 'gone', lease_expires_at: ago(10), fence: '1' }, agent);
    await aTurn({ status: 'running', dispatched_at: ago(60), lease_owner: 'here', lease_expires_at: ago(-10), fence: '1' }, agent);
    expect(await findings()).toEqual([
      ['worker', 'gone', 'check_workers'],
      ['cap', 'max_concurrent_chats', 'wait_or_raise_cap'],
      ['queue', 'turns', 'scale_workers'],
    ]);
    expect((await diagnosis()).findings.map(({ sentence }) => sentence)).toContain(
      'One turn waits because your plan runs 2 chats at a time.',
    );
    const [{ since }] = (await diagnosis()).findings;
    expect(Math.abs(Date.parse(since as string) - ago(10).getTime())).toBeLessThan(5_000);
  });

  it('names runs of every kind that wait, have lost their worker, or have none that begins them', async () => {
    const kb_id = await t.insert(KnowledgeBase, { org_id: org.id, slug: uuidv7(), name: 'Base' });
    const aSource = (source: Partial<KnowledgeSource>) =>
      t.insert(KnowledgeSource, {
        org_id: org.id,
        kb_id,
        kind: 'text',
        title: 'Source',
        dispatched_at: ago(60),
        ...source,
      } as KnowledgeSource);
    await aJob('knowledge.index', await aSource({ status: 'queued' }), ago(60));
    await aJob('knowledge.index', await aSource({ status: 'queued' }), ago(1));
    await aSource({ status: 'queued', parked: true });
    await aSource({ status: 'ready', finished_at: ago(60) });
    for (const lease of [ago(10), ago(-10)])
      await aSource({ status: 'running', lease_owner: `lease-${lease < ago(0)}`, lease_expires_at: lease, fence: '1' });
    // Whose job goes out anew.
    await aSource({ status: 'running', lease_owner: 'swept', lease_expires_at: null, fence: '1' });
    const unserved = ['worker', 'knowledge', 'check_workers'];
    const rest = [
      ['worker', 'lease-true', 'check_workers'],
      ['cap', 'knowledge_source', 'wait_or_raise_cap'],
      ['queue', 'knowledge', 'scale_workers'],
    ];
    expect(await findings()).toEqual([unserved, ...rest]);
    expect((await diagnosis()).findings.map(({ sentence }) => sentence)).toEqual([
      'No worker begins new sources of knowledge bases at the moment; what you send is kept, and is worked on as soon as one does.',
      '2 sources of knowledge bases have lost the worker; another one takes over.',
      'One source of a knowledge base waits because as many of them run as may at a time.',
      'One source of a knowledge base waits for a worker longer than they should.',
    ]);
    await t.db.execute(sql(`UPDATE workers SET queues = queues || '[{"name": "knowledge", "active": 0, "concurrency": 8}]'`));
    expect(await findings()).toEqual(rest);
  });

  it('tells when no worker begins anything', async () => {
    await t.db.execute(sql('DELETE FROM workers'));
    await aWorker({ draining: true });
    await aWorker({ silent: true });
    expect(await findings()).toEqual([['worker', null, 'check_workers']]);
  });

  it('names models that cannot be called, and keys that cannot be read', async () => {
    await anAgent('gemini-3.5-flash');
    expect(await findings()).toEqual([['route', 'gemini-3.5-flash', 'fix_route']]);
    await t.db.execute(
      sql(
        `INSERT INTO org_route_settings (org_id, route_id, api_key) SELECT $1, id, 'nonsense' FROM inference_routes WHERE slug = 'google'`,
      ),
      [org.id],
    );
    await t.db.execute(sql(`INSERT INTO org_ai_settings (org_id, ai_gateway_token) VALUES ($1, 'nonsense')`), [org.id]);
    // What the environment has is spent in the place of this one.
    await t.db.execute(sql(`INSERT INTO route_keys (route_id, api_key) SELECT id, 'nonsense' FROM inference_routes WHERE slug = 'openai'`));
    await t.db.execute(
      sql(`INSERT INTO route_keys (route_id, api_key) SELECT id, 'nonsense' FROM inference_routes WHERE slug = 'anthropic'`),
    );
    const held = t.get(InferenceSettings);
    for (const holder of [org.id, null]) held.drop(holder);
    expect(await findings()).toEqual([
      ['key_unreadable', 'google', 'store_key'],
      ['key_unreadable', 'ai_gateway_token', 'store_key'],
      ['key_unreadable', 'anthropic', 'store_key'],
    ]);
    await entitle(t, { byo_keys: false });
    expect((await findings()).map(([, ref]) => ref)).toEqual(['gemini-3.5-flash', 'anthropic']);
    await entitle(t, { byo_keys: true });
  });
});
