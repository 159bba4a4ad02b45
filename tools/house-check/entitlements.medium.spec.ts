import { CAPS, FEATURES, OrgPlans, type Cap, type EntitlementSet, type Feature } from '@aps/billing';
import { override } from '@aps/billing/testing';
import { ConnectionsHttpModule } from '@aps/connections/http';
import { DecisionRetention, DecisionsMaintenanceModule } from '@aps/decisions';
import { Subscription } from '@aps/entities';
import { EnvironmentsHttpModule } from '@aps/environments/http';
import { ImageValidations, SandboxesModule } from '@aps/environments/jobs';
import { startRegistry } from '@aps/environments/testing';
import { IdentityHttpModule } from '@aps/identity/http';
import { anEmail, aPerson, PASSWORD } from '@aps/identity/testing';
import { inboxesService } from '@aps/inboxes/testing';
import { InferenceHttpModule } from '@aps/inference/http';
import { addRoute } from '@aps/inference/testing';
import { OrgsModule } from '@aps/orgs';
import { OrgsHttpModule } from '@aps/orgs/http';
import { ProjectsHttpModule } from '@aps/projects/http';
import { sql, type Answer } from '@aps/platform/testing';
import { calls, script, type TestOrg } from '@aps/chats/testing';

/** Where an entitlement bites: what it gives, and what is refused without it. */
type Bite = () => Promise<void>;

const app = inboxesService({}, [
  OrgsModule.forRoot(OrgPlans),
  OrgsHttpModule,
  IdentityHttpModule,
  InferenceHttpModule,
  DecisionsMaintenanceModule,
  ProjectsHttpModule,
  ConnectionsHttpModule,
  EnvironmentsHttpModule,
  SandboxesModule,
]);
let org: TestOrg;
beforeEach(async () => {
  org = await app.org();
});

const allow = (what: Partial<EntitlementSet>) => override(app, org.id, what);
const call = (method: string, at: string, body?: unknown): Promise<Answer> =>
  app.call(method, `/api/orgs/${org.id}${at}`, { as: org.owner, body });
const required = (entitlement: Feature) => ({ status: 403, body: { code: 'entitlement_required', context: { entitlement } } });
const exceeded = (entitlement: Cap, limit: number) => ({
  status: 403,
  body: { code: 'entitlement_exceeded', context: { entitlement, limit, current: limit } },
});
const ok = (answer: Answer) => expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
const decision = calls('record_decision', { kind: 'act', summary: 'Do it', basis: 'Rule' });
const decisions = async (chat: string) => (await call('GET', `/chats/${chat}/decisions`)).body.total as number;
const answered = async (message: string): Promise<string> => {
  const chat = await app.chat(org);
  await app.send(org, chat, message);
  await app.settled(org, chat, 1);
  return chat;
};

const BITES: Record<Feature | Cap, Bite> = {
  async max_agents() {
    await allow({ max_agents: 2 });
    ok(await call('POST', '/agents', { name: 'Second' }));
    expect(await call('POST', '/agents', { name: 'Third' })).toMatchObject(exceeded('max_agents', 2));
  },

  /** Open invitations hold seats. */
  async max_seats() {
    await allow({ max_seats: 3 });
    ok(await call('POST', '/members/invitations', { email: anEmail() }));
    expect(await call('POST', '/members/invitations', { email: anEmail() })).toMatchObject(exceeded('max_seats', 3));
    const { email } = await aPerson(app);
    expect(await call('POST', '/members/invitations', { email })).toMatchObject(exceeded('max_seats', 3));
  },

  async max_custom_models() {
    const route_id = await addRoute(app, `own-${org.id}`, { owner_org_id: org.id });
    const add = (key: string) => call('POST', '/models', { key, label: key, provider: 'own', route_id });
    await allow({ max_custom_models: 1 });
    ok(await add('one'));
    expect(await add('two')).toMatchObject(exceeded('max_custom_models', 1));
  },

  async max_inboxes() {
    await allow({ max_inboxes: 1 });
    ok(await call('POST', '/inboxes', { name: 'One', slug: 'one' }));
    expect(await call('POST', '/inboxes', { name: 'Two', slug: 'two' })).toMatchObject(exceeded('max_inboxes', 1));
  },

  /** Nothing is lost: it waits until tomorrow, or for another plan. */
  async intake_messages_per_day() {
    const inbox = await app.inbox(org);
    const come = async () => app.evaluated(await app.mail(inbox));
    await allow({ intake_messages_per_day: 1 });
    expect([(await come()).state, (await come()).hold_reason]).toEqual(['accepted', 'plan_intake']);
  },

  async intake_classifier_calls_per_day() {
    const inbox = await app.inbox(org);
    const labels = [{ label: 'any', action: 'drop' }];
    await app.rules(inbox, { stages: [{ id: 'triage', kind: 'classifier', instruction: 'What is it?', labels }] });
    const come = async () => app.evaluated(await app.mail(inbox));
    await allow({ intake_classifier_calls_per_day: 1 });
    expect([(await come()).state, (await come()).hold_reason]).toEqual(['dropped', 'classifier_quota']);
  },

  async max_concurrent_chats() {
    await allow({ max_concurrent_chats: 0 });
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.until(org, chat, ({ pause }) => pause?.kind === 'queued');
    await allow({ max_concurrent_chats: 1 });
    await app.settled(org, chat, 1);
  },

  async max_queue_depth() {
    await allow({ max_queue_depth: 0 });
    const chat = await app.chat(org);
    expect(await app.send(org, chat, 'hello')).toMatchObject({ status: 429, body: { code: 'queue_full' } });
    await allow({ max_queue_depth: 1 });
    ok(await app.send(org, chat, 'hello'));
  },

  /** Reading stays. */
  async decision_log() {
    const chat = await answered(decision);
    expect(await decisions(chat)).toBe(1);
    await allow({ decision_log: false });
    expect(await decisions(await answered(decision))).toBe(0);
    expect(await decisions(chat)).toBe(1);
  },

  async decision_retention_days() {
    for (const [days, left] of [
      [-1, 1],
      [11, 1],
      [9, 0],
    ]) {
      // Each under the least of them: what has been kept for longer once stays for as long as that.
      await allow({ decision_retention_days: 9 });
      const chat = await answered(decision);
      await app.db.execute(sql(`UPDATE decisions SET created_at = now() - interval '10 days' WHERE chat_id = $1`), [chat]);
      await allow({ decision_retention_days: days });
      await app.get(DecisionRetention).purge(100);
      expect([days, await decisions(chat)]).toEqual([days, left]);
    }
  },

  async audit_log() {
    ok(await call('GET', '/audit'));
    await allow({ audit_log: false });
    expect(await call('GET', '/audit')).toMatchObject(required('audit_log'));
  },

  async hitl_routing() {
    const assigned = async () => {
      const chat = await app.chat(org);
      await app.send(org, chat, calls('ask_human', { kind: 'question', prompt: 'You?', assignee: org.owner.id }));
      await app.until(org, chat, ({ pause }) => pause?.kind === 'human');
      return (await call('GET', `/hitl-requests?chat_id=${chat}`)).body.items[0].assignee_user_id as string | null;
    };
    expect(await assigned()).toBe(org.owner.id);
    await allow({ hitl_routing: false });
    expect(await assigned()).toBeNull();
    const chat = await answered(calls('record_decision', { kind: 'escalate', summary: 'Ask', basis: 'Rule' }));
    expect([await decisions(chat), (await call('GET', `/hitl-requests?chat_id=${chat}`)).body.total]).toEqual([1, 0]);
  },

  async per_agent_budgets() {
    const agent = { name: 'Saver', budget_credits_per_period: '5' };
    ok(await call('POST', '/agents', agent));
    await allow({ per_agent_budgets: false });
    expect(await call('POST', '/agents', agent)).toMatchObject(required('per_agent_budgets'));
    expect(await call('PATCH', `/agents/${org.agentId}`, { budget_credits_per_period: 1 })).toMatchObject(required('per_agent_budgets'));
    ok(await call('PATCH', `/agents/${org.agentId}`, { budget_credits_per_period: null }));
  },

  async direct_model_choice() {
    const limits = { chat_default_model: 'mock' };
    ok(await call('PATCH', '/settings/limits', limits));
    expect(await call('POST', '/agents', { name: 'Mode', model_mode: 'trivial' })).toMatchObject({ status: 422 });
    await allow({ direct_model_choice: false });
    expect(await call('PATCH', '/settings/limits', limits)).toMatchObject(required('direct_model_choice'));
    expect(await call('PATCH', '/settings/runtime', { thinking_enabled: true })).toMatchObject(required('direct_model_choice'));
    expect(await call('POST', '/agents', { name: 'Own', model: 'mock' })).toMatchObject(required('direct_model_choice'));
    ok(await call('POST', '/agents', { name: 'Mode', model_mode: 'trivial' }));
    ok(await call('PATCH', '/settings/limits', { chat_default_model: null }));
  },

  async byo_keys() {
    const keys = { provider_1_api_key: 'sk-1' };
    ok(await call('PATCH', '/settings/ai', keys));
    await allow({ byo_keys: false });
    expect(await call('PATCH', '/settings/ai', keys)).toMatchObject(required('byo_keys'));
    const route = { slug: 'own', label: 'Own', dialect: 'dialect_1', base_url: 'https://models.example.com' };
    expect(await call('POST', '/inference-routes', route)).toMatchObject(required('byo_keys'));
    ok(await call('PATCH', '/settings/ai', { provider_1_api_key: null }));
  },

  async enforces_credits() {
    const budget = { budget_limit_usd: '5' };
    ok(await call('PATCH', '/settings/limits', budget));
    const chat = await answered(script({ text: 'hi', usage: { input: 1, output: 1 } }));
    expect((await app.read(org, chat)).body.cost_usd).not.toBeNull();
    await allow({ enforces_credits: true });
    expect(await call('PATCH', '/settings/limits', budget)).toMatchObject({ status: 403, body: { code: 'entitlement_required' } });
    expect((await app.read(org, chat)).body.cost_usd).toBeNull();
    ok(await call('PATCH', '/settings/limits', { budget_limit_usd: null }));
  },

  /** Where there is an identity provider, whoever is a member of such an organization, of whichever role; a wrong password tells nothing of it. */
  async enforced_idp_sso() {
    const login = ({ email }: { email: string }, password = PASSWORD) => app.call('POST', '/api/auth/login', { body: { email, password } });
    const outsider = await aPerson(app);
    for (const who of [org.owner, org.member, outsider]) ok(await login(who));
    await allow({ enforced_idp_sso: true });
    ok(await login(org.owner));
    app.configure({ OIDC_PROVIDERS: JSON.stringify([{ name: 'corp', issuer: 'https://id.example', client_id: 'us' }]) });
    for (const who of [org.owner, org.member]) {
      expect(await login(who)).toMatchObject({ status: 403, body: { code: 'sso_required' } });
      expect(await login(who, 'wrong')).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    }
    ok(await login(outsider));
    app.configure({ OIDC_PROVIDERS: undefined });
  },

  async shared_blocks() {
    for (const path of ['/projects', '/agent-teams']) {
      await allow({ shared_blocks: true });
      const { body } = await call('POST', path, { name: 'Shared', shared_instruction: 'Be kind.' });
      await allow({ shared_blocks: false });
      for (const refused of [
        await call('POST', path, { name: 'Shared', shared_instruction: 'Be kind.' }),
        await call('PATCH', `${path}/${body.id}`, { shared_instruction: 'Be nice.' }),
        await call('POST', `${path}/${body.id}/memories`, { content: 'They are kind.' }),
      ])
        expect(refused).toMatchObject({ status: 403, body: { code: 'entitlement_required', context: { entitlement: 'shared_blocks' } } });
      ok(await call('PATCH', `${path}/${body.id}`, { shared_instruction: null, shared_allowed_tools: ['core'] }));
    }
  },

  /** Also where nothing answers. */
  async max_integrations() {
    app.configure({ DEMO_TOOLS_URL: 'http://127.0.0.1:9/mcp' });
    await allow({ max_integrations: 1 });
    const connect = () => call('POST', '/connections', { app_key: 'demo', method: 'none' });
    ok(await connect());
    expect(await connect()).toMatchObject(exceeded('max_integrations', 1));
  },

  /** Of images alone. */
  async max_custom_environments() {
    await allow({ max_custom_environments: 1 });
    const image = { kind: 'CUSTOM_IMAGE', image_ref: 'debian' };
    ok(await call('POST', '/environments', image));
    expect(await call('POST', '/environments', image)).toMatchObject(exceeded('max_custom_environments', 1));
    ok(await call('POST', '/environments', { kind: 'REMOTE_MACHINE', name: 'Build' }));
  },

  /** What a registry says of an image is more than nothing. */
  async max_custom_image_gb() {
    const registry = await startRegistry({});
    app.configure({ EGRESS_ALLOW: registry.host, CUSTOM_IMAGE_REGISTRIES: registry.host });
    const { environment } = (await call('POST', '/environments', { kind: 'CUSTOM_IMAGE', image_ref: `${registry.host}/acme/tools:1` }))
      .body;
    registry.put('acme/tools:1');
    const sizes = async (max_custom_image_gb: number) => {
      await allow({ max_custom_image_gb });
      await app.db.execute(sql(`UPDATE environments SET probe_id = id, image_state = 'validating' WHERE id = $1`), [environment.id]);
      await app.get(ImageValidations).run(org.id, environment.id, environment.id, new AbortController().signal);
      const { validation } = (await call('GET', `/environments/${environment.id}`)).body;
      return validation.checks.find(({ name }: { name: string }) => name === 'size').ok as boolean;
    };
    expect([await sizes(0), await sizes(1)]).toEqual([false, true]);
    await registry.close();
  },
};

describe('every entitlement bites where it should', () => {
  it.each(Object.entries(BITES))('%s', (_, bite) => bite());

  it('and none that there is not', () => {
    expect(Object.keys(BITES).sort()).toEqual([...FEATURES, ...CAPS].sort());
  });
});

it('a downgrade deletes nothing: what is over a cap stays, and only more is refused', async () => {
  await call('POST', '/members/invitations', { email: anEmail() });
  await call('POST', '/agents', { name: 'Second', budget_credits_per_period: 5, model: 'mock' });
  await call('PATCH', '/settings/ai', { provider_1_api_key: 'sk-1' });
  await call('PATCH', '/settings/limits', { chat_default_model: 'mock' });
  const chat = await answered(decision);
  const all = async () =>
    Promise.all(
      [
        '/agents',
        '/members',
        '/members/invitations',
        '/settings/ai',
        '/settings/limits',
        `/chats/${chat}/decisions`,
        `/agents/${org.agentId}/chats`,
      ].map(async (at) => (await call('GET', at)).body),
    );
  const before = await all();
  await app.db.manager.update(Subscription, { org_id: org.id }, { status: 'unsubscribed' });
  await allow({});
  await app.get(DecisionRetention).purge(100);
  expect(await all()).toEqual(before);
  expect(await call('POST', '/agents', { name: 'Third' })).toMatchObject({ status: 403, body: { code: 'entitlement_exceeded' } });
});
