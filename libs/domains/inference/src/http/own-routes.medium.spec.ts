import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { InferenceRoute } from '@aps/entities';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { outcome, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { MAX_OWN_ROUTES } from '../governance/own-routes.service';
import { addModel, addRoute } from '../testing/catalog';
import { inferenceService } from '../testing/inference';

const CANARY = 'sk-canary-0123456789-zzzz4f2a';

describe('own routes', () => {
  const t = inferenceService();
  let org: TestTeam;
  beforeEach(async () => {
    org = await aTeam(t);
  });
  afterEach(() => entitleAsBefore(t));
  const path = (id = '') => `/api/orgs/${org.id}/inference-routes${id && `/${id}`}`;
  const list = async (of = org) =>
    (await t.make('GET', `/api/orgs/${of.id}/inference-routes`, { as: of.owner })) as { items: { id: string }[] };
  const aSlug = () => `own-${uuidv7()}`;
  const wish = (over: object = {}) => ({ slug: aSlug(), label: 'Ours', dialect: 'dialect_1', base_url: 'https://own.example/v1', ...over });
  const post = (body: unknown) => t.call('POST', path(), { as: org.owner, body });
  const made = async (over: object = {}) =>
    (await t.make('POST', path(), { as: org.owner, body: wish(over) })) as { id: string; slug: string };
  const patch = (id: string, body: unknown) => t.call('PATCH', path(id), { as: org.owner, body });
  const remove = (id: string) => t.call('DELETE', path(id), { as: org.owner });
  const audited = async () =>
    (await t.audit({ org_id: org.id }))
      .filter(({ action }) => action.startsWith('inference_route.'))
      .map(({ action, metadata }) => [action, metadata]);

  it('are made, listed to their organization alone, changed by the field, and deleted', async () => {
    const answer = await post(wish({ slug: `ours-${org.id}`, base_url: 'HTTPS://Own.example:443/v1/' }));
    const route = {
      id: expect.any(String),
      slug: `ours-${org.id}`,
      label: 'Ours',
      dialect: 'dialect_1',
      base_url: 'https://own.example/v1',
      enabled: true,
      pin_count: 0,
      api_key: null,
      is_set: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    };
    expect([answer.status, answer.body]).toEqual([201, route]);
    const { id } = answer.body as { id: string };
    expect(await list()).toEqual({ items: [route], total: 1, next_offset: null });
    expect((await list(await aTeam(t))).items).toEqual([]);
    const changed = await patch(id, {
      label: 'Renamed',
      enabled: false,
      base_url: 'https://other.example',
      slug: 'x',
      dialect: 'dialect_3',
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { slug: route.slug, dialect: 'dialect_1', label: 'Renamed', enabled: false, base_url: 'https://other.example' },
    });
    for (const same of [{}, { label: 'Renamed' }, { base_url: 'https://OTHER.example/' }]) {
      const { updated_at, ...rest } = (await patch(id, same)).body;
      expect({ updated_at, ...rest }).toEqual(changed.body);
    }
    expect((await remove(id)).status).toBe(204);
    expect((await list()).items).toEqual([]);
    expect(await audited()).toEqual([
      ['inference_route.created', { slug: route.slug, label: 'Ours', dialect: 'dialect_1', base_url: 'https://own.example/v1' }],
      ['inference_route.updated', { changes: { label: 'Renamed', enabled: false, base_url: 'https://other.example' } }],
      ['inference_route.deleted', { slug: route.slug }],
    ]);
  });

  it('are pages of a list', async () => {
    for (const n of [1, 2, 3]) await made({ slug: `${n}-${org.id}` });
    const page = await t.make('GET', `${path()}?limit=1&offset=1`, { as: org.owner });
    expect(page).toMatchObject({ items: [{ slug: `2-${org.id}` }], total: 3, next_offset: 2 });
  });

  it('show the key that is set with those of all routes, masked, also one that cannot be opened any more', async () => {
    const { id, slug } = await made();
    await t.make('PATCH', `/api/orgs/${org.id}/settings/ai/routes`, { as: org.owner, body: { routes: { [slug]: { api_key: CANARY } } } });
    expect(await list()).toMatchObject({ items: [{ id, api_key: 'sk-…4f2a', is_set: true }] });
    await t.db.execute(sql(`UPDATE org_route_settings SET api_key = 'e1.${uuidv7()}.AAAA' WHERE route_id = $1`), [id]);
    expect(await list()).toMatchObject({ items: [{ id, api_key: '…', is_set: true }] });
    expect((await remove(id)).status).toBe(204);
    expect(await t.db.query(sql('SELECT 1 FROM org_route_settings WHERE route_id = $1'), [id])).toEqual([]);
  });

  it('refuse what is wrong', async () => {
    const { id, slug } = await made();
    for (const [over, at] of [
      [{ slug: 'Not_A_Slug' }, 'slug'],
      [{ slug: uuidv7() }, 'slug'],
      [{ label: '' }, 'label'],
      [{ dialect: 'dialect_4' }, 'dialect'],
      [{ base_url: 'http://own.example/v1' }, 'base_url'],
      [{ base_url: 'https://internal.example/v1' }, 'base_url'],
      [{ base_url: 'https://127.0.0.1/v1' }, 'base_url'],
      [{ base_url: 'https://own.example/v1?key=x' }, 'base_url'],
      [{ base_url: null }, 'base_url'],
    ] as const) {
      const answer = await post(wish(over));
      expect([over, answer.status, answer.body.code, answer.body.detail[0].loc]).toEqual([over, 422, 'validation_error', ['body', at]]);
    }
    for (const body of [{ base_url: 'https://internal.example/v1' }, { label: null }, { enabled: 'no' }])
      expect([body, ...outcome(await patch(id, body))]).toEqual([body, 422, 'validation_error']);
    for (const taken of [slug, 'openai', 'mock', 'google']) expect(outcome(await post(wish({ slug: taken })))).toEqual([409, 'slug_taken']);
    expect((await list()).items).toHaveLength(1);
    expect(await audited()).toHaveLength(1);
  });

  it('are nobody else’s, and none of the platform', async () => {
    const other = await aTeam(t);
    const foreign = await t.insert(InferenceRoute, { slug: aSlug(), label: 'x', dialect: 'dialect_1', owner_org_id: other.id });
    const [platforms] = await t.db.query(sql<{ id: string }>(`SELECT id FROM inference_routes WHERE slug = 'openai'`));
    for (const id of [foreign, platforms.id, uuidv7()]) {
      expect(outcome(await patch(id, { enabled: false, base_url: 'https://internal.example' }))).toEqual([404, 'not_found']);
      expect(outcome(await remove(id))).toEqual([404, 'not_found']);
    }
    expect((await remove('openai')).status).toBe(422);
  });

  it('are switched off while models are on them, and deleted only without any', async () => {
    const { id } = await made();
    await addModel(t, 'on-1', { route_id: id, owner_org_id: org.id });
    await addModel(t, 'on-2', { route_id: id, owner_org_id: org.id, enabled: false });
    expect((await patch(id, { enabled: false })).body).toMatchObject({ enabled: false, pin_count: 1 });
    expect(await remove(id)).toMatchObject({ status: 409, body: { code: 'route_in_use', context: { models: ['on-1', 'on-2'] } } });
    await t.db.execute(sql(`DELETE FROM model_catalog WHERE key = 'on-1'`));
    expect(outcome(await remove(id))).toEqual([409, 'route_in_use']);
    await t.db.execute(sql(`DELETE FROM model_catalog WHERE key = 'on-2'`));
    expect((await remove(id)).status).toBe(204);
  });

  it('need byo_keys to be made, not to be changed or deleted', async () => {
    const { id } = await made();
    await entitle(t, { byo_keys: false });
    expect(await post(wish())).toMatchObject({ status: 403, body: { code: 'entitlement_required', context: { entitlement: 'byo_keys' } } });
    expect((await list()).items).toHaveLength(1);
    expect((await patch(id, { enabled: false })).status).toBe(200);
    expect((await remove(id)).status).toBe(204);
  });

  it('are no more than an organization may own, whoever makes them at once', async () => {
    for (let n = 1; n < MAX_OWN_ROUTES; n++) await addRoute(t, aSlug(), { owner_org_id: org.id });
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(wish())));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(11).fill(409)]);
    expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({ code: 'limit_reached', context: { limit: MAX_OWN_ROUTES } });
    expect((await list()).items).toHaveLength(MAX_OWN_ROUTES);
  });

  it('let one of two who want a slug at once have it', async () => {
    const slug = aSlug();
    const other = await aTeam(t);
    const asked = [org, other].map((of) => t.call('POST', `/api/orgs/${of.id}/inference-routes`, { as: of.owner, body: wish({ slug }) }));
    expect((await Promise.all(asked)).map(outcome).sort()).toEqual([
      [201, undefined],
      [409, 'slug_taken'],
    ]);
  });
});
