import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule, OrgPlans } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { prefixedId } from '@aps/contracts';
import { InferenceModule } from '@aps/inference';
import { addModel } from '@aps/inference/testing';
import { OrgsModule } from '@aps/orgs';
import { OrgsHttpModule } from '@aps/orgs/http';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { sql, type Answer } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { InboxesHttpModule } from '.';

const t = testService([
  ...BASE_MODULES,
  AgentsHttpModule,
  BillingModule,
  InferenceModule,
  OrgsModule.forRoot(OrgPlans),
  OrgsHttpModule,
  InboxesHttpModule,
]);
let org: TestTeam;
let path: string;
let slugs = 0;
beforeAll(() => addModel(t, 'test-model'));
beforeEach(async () => {
  org = await aTeam(t);
  path = `${org.path}/inboxes`;
});

type Body = Record<string, unknown>;
const make = (body: Body = {}) => t.make('POST', path, { as: org.owner, body: { name: 'Orders', slug: `orders${++slugs}`, ...body } });
const create = (body: Body = {}) => t.call('POST', path, { as: org.owner, body: { name: 'Orders', slug: `orders${++slugs}`, ...body } });
const patch = (id: unknown, body: Body, as = org.owner) => t.call('PATCH', `${path}/${id as string}`, { as, body });
const get = (below = '', as = org.owner) => t.make('GET', path + below, { as });
const anAgent = async () => (await t.make('POST', `${org.path}/agents`, { as: org.owner, body: { name: 'Clerk' } })).id as string;
const channel = (id: unknown, body: Body, as = org.owner) => t.call('POST', `${path}/${id as string}/channels`, { as, body });
const locs = ({ body }: Answer) => (body.detail as { loc: unknown[] }[]).map(({ loc }) => loc.join('.'));
const channelsOf = (body: Body) => body.channels as (Body & { id: string; webhook_url: string; address: string })[];

describe('inboxes', () => {
  it('are made as empty shells', async () => {
    const made = await make({ slug: 'orders' });
    expect(made).toEqual({
      ...{ id: made.id, slug: 'orders', name: 'Orders', status: 'active', project_id: null, target_kind: null, target_id: null },
      ...{ settings: {}, retention_days: 30, spike_protection_enabled: false, channels: [], current_revision: null },
      ...{ rate_limit_messages_per_day: null, rate_limit_classifier_calls_per_day: null },
      ...{ rate_limit_per_sender_per_hour: null, rate_limit_per_sender_per_minute: null },
      ...{ volume_24h: 0, verdicts_24h: { accepted: 0, dropped: 0, quarantined: 0 } },
      ...{ created_at: made.created_at, updated_at: made.updated_at },
    });
    expect(made.id).toMatch(/^inb_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(await get(`/${made.id as string}`)).toEqual(made);
  });

  it('are made with settings, by the same rules as they are changed', async () => {
    expect((await make({ settings: { reply: 'tool', mine: { a: 1 }, gone: null } })).settings).toEqual({ reply: 'tool', mine: { a: 1 } });
    const refused = await create({ settings: { reply: 'yes', reply_delay_s: -1 } });
    expect([refused.status, locs(refused)]).toEqual([422, ['body.settings.reply', 'body.settings.reply_delay_s']]);
    expect((await create({ settings: null })).status).toBe(422);
  });

  it('are made with a target and channels, or not at all', async () => {
    const target_id = await anAgent();
    const made = await make({ slug: 'mail', channels: ['email', 'email', 'webhook', 'webhook'], target_kind: 'agent', target_id });
    expect(made).toMatchObject({ target_kind: 'agent', target_id });
    const [open, coded, ...hooks] = channelsOf(made);
    expect(open).toMatchObject({ kind: 'email', has_code: false, config: { public: true }, enabled: true, webhook_url: null });
    expect(open.address).toMatch(/^mail@[a-z0-9-]+\.inbound\.localhost$/);
    expect(coded).toMatchObject({ has_code: true, config: { public: false } });
    expect(coded.address).toMatch(new RegExp(`^mail-${coded.address_token as string}@`));
    expect(coded.address_token).toMatch(/^[a-hjkmnp-z2-9]{6}$/);
    expect(new Set(hooks.map(({ webhook_url }) => webhook_url)).size).toBe(2);
    expect(hooks[0].webhook_url).toMatch(/\/api\/hooks\/in\/[A-Za-z0-9_-]{43}$/);

    const gone = await create({ slug: 'none', channels: ['email'], target_kind: 'agent', target_id: uuidv7() });
    expect([gone.status, gone.body.code]).toEqual([422, 'unknown_reference']);
    expect(await get()).toMatchObject({ total: 1 });
  });

  it('have no address that no mail can go to', async () => {
    const refused = (answer: Answer) => expect([answer.status, locs(answer)]).toEqual([422, ['body']]);
    refused(await create({ slug: 'a'.repeat(58), channels: ['email', 'email'] }));
    expect(await get()).toMatchObject({ total: 0 });
    expect(channelsOf(await make({ slug: 'a'.repeat(57), channels: ['email', 'email'] }))[1].address).toMatch(/^[a-z0-9-]{64}@/);

    const { id, channels } = await make({ slug: 'b'.repeat(64), channels: ['email', 'webhook'] });
    refused(await channel(id, { kind: 'email' }));
    refused(await channel(id, { kind: 'email', has_code: true }));
    const [{ id: open }] = channelsOf({ channels });
    refused(await t.call('PATCH', `${path}/${id as string}/channels/${open}`, { as: org.owner, body: { has_code: true } }));

    // A label of a domain has at most 63 characters.
    await t.db.execute(sql('UPDATE organizations SET slug = $2 WHERE id = $1'), [org.id, 'o'.repeat(64)]);
    refused(await create({ channels: ['email'] }));
    expect((await create({ channels: ['webhook'] })).status).toBe(201);
  });

  it('take kind and id of a target together', async () => {
    const target_id = await anAgent();
    for (const body of [
      { target_id },
      { target_kind: 'agent' },
      { target_kind: 'process', target_id },
      { target_kind: 'agent', target_id: prefixedId('prc') },
    ])
      expect([body, (await create(body)).status]).toEqual([body, 422]);
    const unknown = await create({ target_kind: 'process', target_id: prefixedId('prc') });
    expect([unknown.status, unknown.body.code]).toEqual([422, 'unknown_reference']);

    const { id } = await make();
    expect((await patch(id, { target_kind: 'agent', target_id })).body).toMatchObject({ target_kind: 'agent', target_id });
    expect((await patch(id, { target_id: target_id.toUpperCase() })).body).toMatchObject({ target_id });
    expect(locs(await patch(id, { target_kind: 'process' }))).toEqual(['body.target_id']);
    expect(locs(await patch(id, { target_kind: null, target_id }))).toEqual(['body.target_id']);
    expect((await patch(id, { target_id: null })).body).toMatchObject({ target_kind: null, target_id: null });
    expect(locs(await patch(id, { target_id }))).toEqual(['body.target_kind']);
  });

  it('name an agent of their organization', async () => {
    const other = await aTeam(t);
    const { id: target_id } = await t.make('POST', `${other.path}/agents`, { as: other.owner, body: { name: 'Theirs' } });
    expect((await create({ target_kind: 'agent', target_id })).body.code).toBe('unknown_reference');
  });

  it('keep the id of their target as it is made, however it was spelt', async () => {
    const target_id = await anAgent();
    const made = await make({ target_kind: 'agent', target_id: target_id.toUpperCase() });
    expect(made).toMatchObject({ target_id });
    expect((await patch(made.id, { target_id: target_id.toUpperCase() })).body).toMatchObject({ target_id });
    expect(await get(`?target_id=${target_id.toUpperCase()}`)).toMatchObject({ items: [{ id: made.id }], total: 1 });
  });

  it('are changed by any member, setting by setting', async () => {
    const { id } = await make();
    const limits = { rate_limit_messages_per_day: 5, rate_limit_per_sender_per_hour: null, retention_days: 365, status: 'paused' };
    const changed = await patch(id, { ...limits, settings: { reply: 'auto', mine: { a: 1 } } }, org.member);
    expect(changed.body).toMatchObject({ ...limits, settings: { reply: 'auto', mine: { a: 1 } } });
    expect((await patch(id, { settings: { mine: null, reply_delay_s: 60 } })).body.settings).toEqual({ reply: 'auto', reply_delay_s: 60 });
    const audited = sql<{ action: string }>(`SELECT action FROM audit_log WHERE target_id = $1 ORDER BY id`);
    const before = await t.db.query(audited, [id]);
    expect((await patch(id, { status: 'paused' })).status).toBe(200);
    expect(await t.db.query(audited, [id])).toEqual(before);
    expect(before.map(({ action }) => action)).toEqual(['inbox.created', 'inbox.updated', 'inbox.updated']);
  });

  it.each<[Body, string]>([
    [{ rate_limit_messages_per_day: 0 }, 'body.rate_limit_messages_per_day'],
    [{ rate_limit_per_sender_per_minute: -1 }, 'body.rate_limit_per_sender_per_minute'],
    [{ retention_days: 366 }, 'body.retention_days'],
    [{ retention_days: null }, 'body.retention_days'],
    [{ status: 'off' }, 'body.status'],
    [{ settings: { reply: 'yes' } }, 'body.settings.reply'],
    [{ settings: { reply_delay_s: 3601 } }, 'body.settings.reply_delay_s'],
    [{ settings: { from_name: 'a\r\nBcc: x' } }, 'body.settings.from_name'],
    [{ settings: { much: 'x'.repeat(20_000) } }, 'body.settings'],
  ])('refuse %j', async (body, loc) => {
    const { id } = await make();
    const refused = await patch(id, body);
    expect([refused.status, locs(refused)]).toEqual([422, [loc]]);
  });

  it('are made and deleted by administrators alone, and counted against the plan', async () => {
    expect((await t.call('POST', path, { as: org.member, body: { name: 'x', slug: 'x' } })).body.code).toBe('insufficient_role');
    await entitle(t, { max_inboxes: 1 });
    const { id } = await make();
    expect((await create()).body).toMatchObject({
      code: 'entitlement_exceeded',
      context: { entitlement: 'max_inboxes', limit: 1, current: 1 },
    });
    expect((await t.call('DELETE', `${path}/${id as string}`, { as: org.member })).status).toBe(403);
    expect((await t.call('DELETE', `${path}/${id as string}`, { as: org.owner })).status).toBe(204);
    expect((await create()).status).toBe(201);
    await entitle(t, { max_inboxes: -1 });
  });

  it('free their slug and addresses when they are deleted', async () => {
    const { id, ...first } = await make({ slug: 'once', channels: ['email', 'webhook'] });
    expect((await create({ slug: 'once' })).body.code).toBe('slug_taken');
    await t.call('DELETE', `${path}/${id as string}`, { as: org.owner });
    for (const below of ['', '/channels'])
      expect((await t.call('GET', `${path}/${id as string}${below}`, { as: org.owner })).status).toBe(404);
    const second = await make({ slug: 'once', channels: ['email'] });
    expect(channelsOf(second)[0].address).toBe(channelsOf(first)[0].address);
    expect((await t.call('DELETE', `${path}/${id as string}`, { as: org.owner })).status).toBe(404);
  });

  it('leave the slug of a deleted organization to nobody else for 90 days, where mail came to it', async () => {
    const { owner, member: other } = org;
    const named = async (kind: 'email' | 'webhook', slug: string) => {
      const { id } = await t.make('POST', '/api/orgs', { as: owner, body: { name: slug, slug } });
      await t.make('POST', `/api/orgs/${id}/inboxes`, { as: owner, body: { name: 'Support', slug: 'support', channels: [kind] } });
      return `/api/orgs/${id}`;
    };
    const mark = uuidv7().slice(-12);
    const [mailed, hooked] = [await named('email', `mailed-${mark}`), await named('webhook', `hooked-${mark}`)];
    expect((await t.call('PATCH', mailed, { as: owner, body: { slug: `renamed-${mark}` } })).status).toBe(200);
    const { items } = await t.make('GET', `${mailed}/inboxes`, { as: owner });
    // What has had an address goes on being written to.
    expect((await t.call('DELETE', `${mailed}/inboxes/${items[0].id}`, { as: owner })).status).toBe(204);
    for (const deleted of [mailed, hooked]) expect((await t.call('DELETE', deleted, { as: owner })).status).toBe(202);
    const takes = async (slug: string) =>
      (await t.call('POST', '/api/orgs', { as: other, body: { name: 'Other', slug: `${slug}-${mark}` } })).status;
    expect([await takes('mailed'), await takes('renamed'), await takes('hooked')]).toEqual([409, 409, 201]);
    await t.db.execute(sql(`UPDATE former_slugs SET since = since - interval '90 days' WHERE slug LIKE $1`), [`%${mark}`]);
    expect(await takes('renamed')).toBe(201);
  });

  it('are listed newest first, and by target and project', async () => {
    const target_id = await anAgent();
    const [{ id: a }, { id: b }] = [await make(), await make({ target_kind: 'agent', target_id })];
    const ids = async (query: string) => ((await get(query)).items as { id: string }[]).map(({ id }) => id);
    expect(await get('?limit=1')).toMatchObject({ items: [{ id: b }], total: 2, next_offset: 1 });
    expect(await ids('?target_kind=agent')).toEqual([b]);
    expect(await ids(`?target_id=${target_id}`)).toEqual([b]);
    expect(await ids(`?target_id=${target_id.toUpperCase()}`)).toEqual([b]);
    expect(await ids(`?target_kind=process&target_id=${prefixedId('prc')}`)).toEqual([]);
    expect(await get('?target_kind=process')).toMatchObject({ items: [], total: 0 });
    expect(await ids('?project_id=none')).toEqual([b, a]);
    expect(await ids(`?project_id=${uuidv7()}`)).toEqual([]);
    for (const query of [`?target_kind=process&target_id=${target_id}`, '?target_id=x', '?target_kind=human'])
      expect([query, (await t.call('GET', path + query, { as: org.owner })).status]).toEqual([query, 422]);
    expect((await t.call('GET', `${path}/garbage`, { as: org.owner })).status).toBe(404);
  });
});

describe('channels of an inbox', () => {
  it('show their URL to administrators alone, and a code to everybody', async () => {
    const { id } = await make();
    const made = await channel(id, { kind: 'webhook' }, org.member);
    expect([made.status, made.body.webhook_url, made.body.address_token]).toEqual([201, null, null]);
    const [seen] = (await get(`/${id as string}/channels`)) as unknown as Body[];
    expect(seen.webhook_url).toBe(`https://app.example/api/hooks/in/${seen.address_token as string}`);
    expect(((await get(`/${id as string}/channels`, org.member)) as unknown as Body[])[0]).toMatchObject({
      webhook_url: null,
      address_token: null,
    });
    expect(channelsOf(await get(`/${id as string}`, org.member))[0].webhook_url).toBeNull();
    expect((await channel(id, { kind: 'email' }, org.member)).body.address_token).toMatch(/^.{6}$/);
    const kept = sql<{ all: string }>(`SELECT to_json(c)::text AS all FROM inbox_channels c WHERE id = $1`);
    expect((await t.db.query(kept, [made.body.id]))[0].all).not.toContain(seen.address_token as string);
  });

  it('have the code in the address where config.public is false, which has_code may say as well', async () => {
    const { id } = await make({ slug: 'twice' });
    const coded = async (body: Body) => (await channel(id, { kind: 'email', ...body })).body;
    expect(await coded({ has_code: true })).toMatchObject({ has_code: true, config: { public: false } });
    expect(await coded({ config: { public: false } })).toMatchObject({ has_code: true });
    expect(await coded({})).toMatchObject({ has_code: false });
    expect(await coded({})).toMatchObject({ has_code: true });
    expect(await coded({ has_code: false })).toMatchObject({ code: 'address_taken' });
    expect(await coded({ config: { public: true } })).toMatchObject({ code: 'address_taken' });
    for (const body of [{ has_code: true, config: { public: true } }, { config: { public: 'yes' } }])
      expect([body, (await channel(id, { kind: 'email', ...body })).status]).toEqual([body, 422]);
    for (const body of [{ has_code: true }, { config: { public: true } }])
      expect([body, (await channel(id, { kind: 'webhook', ...body })).status]).toEqual([body, 422]);
  });

  it('have no address that another has, however it is spelt', async () => {
    const { channels } = await make({ slug: 'spelt' });
    expect(channels).toEqual([]);
    const first = await make({ slug: 'a' });
    const { address_token } = (await channel(first.id, { kind: 'email', has_code: true })).body;
    const second = await make({ slug: `a-${address_token as string}` });
    expect((await channel(second.id, { kind: 'email', has_code: false })).body.code).toBe('address_taken');
    expect((await channel(second.id, { kind: 'email' })).body.has_code).toBe(true);
  });

  it('turn the code on and off', async () => {
    const { id } = await make({ slug: 'turn', channels: ['email', 'email'] });
    const [open, coded] = channelsOf(await get(`/${id as string}`));
    const turn = (which: Body, body: Body) =>
      t.call('PATCH', `${path}/${id as string}/channels/${which.id as string}`, { as: org.member, body });
    expect((await turn(coded, { has_code: false })).body.code).toBe('address_taken');
    expect((await turn(open, { has_code: true })).body).toMatchObject({ has_code: true, address_token: open.address_token });
    expect((await turn(coded, { config: { public: true } })).body).toMatchObject({ has_code: false, address: open.address });
    expect((await turn(coded, { enabled: false })).body).toMatchObject({ enabled: false, has_code: false });
  });

  it('change their configuration key by key, and keep its secret to themselves', async () => {
    const { id } = await make();
    const signature = { scheme: 'hmac_sha256_hex', header: 'X-Sign', secret: 'super-secret-of-the-sender' };
    const { body: made } = await channel(id, { kind: 'webhook', config: { subject_path: '$.title', mine: 1, signature } });
    const shown = { scheme: 'hmac_sha256_hex', header: 'x-sign', secret: 'sup…nder' };
    expect(made.config).toEqual({ subject_path: '$.title', mine: 1, signature: shown });
    const change = (config: Body) =>
      t.call('PATCH', `${path}/${id as string}/channels/${made.id as string}`, { as: org.owner, body: { config } });
    expect((await change({ mine: null, body_path: '$.text' })).body.config).toEqual({
      subject_path: '$.title',
      body_path: '$.text',
      signature: shown,
    });
    expect((await change({ signature: shown })).body.code).toBe('masked_secret');
    expect((await change({ signature: { scheme: 'github' } })).body.config).toMatchObject({
      signature: { scheme: 'github', secret: 'sup…nder' },
    });
    expect((await change({ signature: { scheme: 'none' } })).body.config).toMatchObject({ signature: { scheme: 'none' } });
    expect(locs(await change({ signature: { scheme: 'github' } }))).toEqual(['body.config.signature.secret']);
    const all = sql<{ all: string }>(
      `SELECT (SELECT json_agg(c) FROM inbox_channels c)::text || (SELECT json_agg(a) FROM audit_log a)::text AS all`,
    );
    expect((await t.db.query(all))[0].all).not.toContain('super-secret');
  });

  it.each<[Body, string[]]>([
    [{ subject_path: '$.[' }, ['body.config.subject_path']],
    [{ body_path: 5, dedupe_path: 'x' }, ['body.config.body_path', 'body.config.dedupe_path']],
    [{ signature: { scheme: 'md5' } }, ['body.config.signature.scheme', 'body.config.signature.secret']],
    [{ signature: { scheme: 'hmac_sha256_hex', secret: 'x' } }, ['body.config.signature.header']],
    [{ signature: { scheme: 'none', more: 1 } }, ['body.config.signature.more']],
    [{ signature: [] }, ['body.config.signature']],
    [{ much: 'x'.repeat(20_000) }, ['body.config']],
  ])('refuse the configuration %j', async (config, wanted) => {
    const { id } = await make();
    const refused = await channel(id, { kind: 'webhook', config });
    expect([refused.status, locs(refused)]).toEqual([422, wanted]);
  });

  it('get another URL by rotating, and none by mail', async () => {
    const { id } = await make({ channels: ['webhook', 'email'] });
    const [hook, mail] = channelsOf(await get(`/${id as string}`));
    const rotate = (which: { id: string }, as = org.owner) =>
      t.call('POST', `${path}/${id as string}/channels/${which.id}/rotate-token`, { as });
    const rotated = await rotate(hook);
    expect(rotated.status).toBe(200);
    expect(rotated.body.webhook_url).not.toBe(hook.webhook_url);
    expect((await rotate(hook, org.member)).status).toBe(403);
    expect((await rotate(mail)).body.code).toBe('not_a_webhook');
  });

  it('are deleted for good by any member, and at most twenty', async () => {
    const { id } = await make({ channels: Array.from({ length: 20 }, () => 'webhook') });
    expect((await channel(id, { kind: 'webhook' })).body.code).toBe('limit_reached');
    const [first] = channelsOf(await get(`/${id as string}`));
    const remove = () => t.call('DELETE', `${path}/${id as string}/channels/${first.id}`, { as: org.member });
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
    expect((await channel(id, { kind: 'webhook' })).status).toBe(201);
  });
});
