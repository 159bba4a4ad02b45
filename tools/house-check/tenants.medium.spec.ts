import { Membership } from '@aps/entities';
import { anApiToken, aPerson } from '@aps/identity/testing';
import type { Answer, Bearer } from '@aps/platform/testing';
import { bodySchema, buildDocument, resolve, type Document, type Schema } from './testing/document';
import { House } from './testing/house';
import { sample } from './testing/sample';
import { allRoutes, paramsOf, templateOf, type Route } from './testing/surface';
import { contentsOf, fill, isLetIn, tenant, valuesOf, type Tenant } from './testing/tenant';

/** Tables of organizations that the walk need not fill, each with its reason. */
const EMPTY: Record<string, string> = {};

let house: House;
let a: Tenant;
let b: Tenant;
let routes: Route[];
let document: Document;
let before: Awaited<ReturnType<typeof contentsOf>>;
/** A member of both, as the trap of pinned tokens needs one. */
let pinnedToA: Bearer;
let pinnedToB: Bearer;

beforeAll(async () => {
  house = await new House().start();
  [document, a, b] = [await buildDocument(), await tenant(house, 'a'), await tenant(house, 'b')];
  routes = (await allRoutes()).filter((r) => r.app === 'api-gateway' && r.path.includes(':org_id'));
  const both = await aPerson(house);
  await house.insert(Membership, { org_id: a.id, user_id: both.id, role: 'OWNER' });
  await house.insert(Membership, { org_id: b.id, user_id: both.id, role: 'OWNER' });
  pinnedToA = await anApiToken(house, both, { org_id: a.id });
  pinnedToB = await anApiToken(house, both, { org_id: b.id });
  before = await contentsOf(house.db, a.id);
});
afterAll(() => house?.close());

const operation = (route: Route) => document.paths[templateOf(route.path)]?.[route.method.toLowerCase()];
/** Bodies of which some field must be there and none is required. */
const CHOICES: Record<string, unknown> = {
  'POST /api/orgs/:org_id/agents/:agent_id/rollouts': {
    arms: [1, 2].map((version) => ({ label: `v${version}`, weight: 5_000, version })),
    control: 'v1',
  },
  'POST /api/orgs/:org_id/agents/:agent_id/simulations': { use_draft: true },
  'PATCH /api/orgs/:org_id/agents/:agent_id/chats/:chat_id': { title: 'x' },
  'PUT /api/orgs/:org_id/agents/:agent_id/chats/:chat_id/toggles': { enabled_scopes: [] },
};
/** A body that passes validation, so that what comes after it decides. */
const bodyOf = (route: Route): unknown => {
  const choice = CHOICES[`${route.method} ${route.path}`];
  if (choice) return choice;
  const schema = operation(route) && bodySchema(document, operation(route));
  return schema && sample(document, schema);
};

/** Calls every route and lists the answers that are not as wanted; `leak` is text that no answer may hold. */
async function walk(
  calls: { name: string; route: Route; path: string; as: Bearer; body?: unknown }[],
  wanted: (answer: Answer) => boolean,
): Promise<string[]> {
  const odd: string[] = [];
  for (const { name, route, path, as, body } of calls) {
    const answer = await house.call(route.method, path, { as, body: body ?? bodyOf(route) });
    if (!wanted(answer) || answer.text.includes(a.mark))
      odd.push(`${route.method} ${route.path} [${name}]: ${answer.status} ${answer.text.slice(0, 160)}`);
  }
  return odd;
}

const refusedAsStranger = ({ status, body }: Answer) =>
  status === 403 && body.code === 'not_org_member' && body.detail === 'You are not a member of this organization.' && !body.context;
const notThere = ({ status, body }: Answer) => status === 404 && body.code === 'not_found';
/** Bulk actions pass over what the caller cannot see. */
const foundNothing = ({ status, body }: Answer) => status === 200 && body.matched === 0 && body.updated === 0;

it('the walk covers every route, and both organizations have rows of every kind', async () => {
  expect(routes.length).toBeGreaterThan(50);
  const empty = Object.entries(before).filter(([table, { rows }]) => rows === 0 && !EMPTY[table]);
  expect(empty.map(([table]) => table)).toEqual([]);
  expect(Object.keys(EMPTY).filter((table) => before[table]?.rows !== 0)).toEqual([]);
});

it('lets the owner in everywhere, so that refusals below are refusals of strangers', async () => {
  const reads = routes
    .filter((r) => r.method === 'GET')
    .map((route) => ({ name: 'own', route, path: fill(route.path, b.params), as: b.owner }));
  expect(await walk(reads, isLetIn)).toEqual([]);
});

it.each([
  ['A member', () => b.member],
  ['An owner', () => b.owner],
  ['A pinned token (its user owns both)', () => pinnedToB],
])('%s of B is a stranger on every route of A', async (_, who) => {
  const calls = routes.map((route) => ({ name: 'foreign organization', route, path: fill(route.path, a.params), as: who() }));
  expect(await walk(calls, refusedAsStranger)).toEqual([]);
});

it('a token pinned to A opens nothing of B, though its user is an owner there', async () => {
  const calls = routes.map((route) => ({ name: 'pinned elsewhere', route, path: fill(route.path, b.params), as: pinnedToA }));
  expect(await walk(calls, refusedAsStranger)).toEqual([]);
});

it('an organization that does not exist answers as one that is not yours', async () => {
  const params = { ...b.params, org_id: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11' };
  const calls = routes.map((route) => ({ name: 'unknown', route, path: fill(route.path, params), as: b.owner }));
  expect(await walk(calls, refusedAsStranger)).toEqual([]);
});

it('ids of A in the paths of B are not there, alone and together, as ids and as slugs', async () => {
  const calls = routes.flatMap((route) => {
    // A type is no row's.
    const names = paramsOf(route.path).filter((name) => name !== 'org_id' && a.params[name] !== b.params[name]);
    if (!names.length) return [];
    const as = b.owner;
    const foreign = Object.assign({}, ...names.map((name) => valuesOf(name, a.params))) as Record<string, string>;
    const one = names.map((name) => ({ name, route, path: fill(route.path, { ...b.params, ...valuesOf(name, a.params) }), as }));
    const slugs = names
      .filter((name) => route.access?.params?.[name] === 'uuid_or_slug')
      .map((name) => ({ name: `slug of ${name}`, route, path: fill(route.path, { ...b.params, [name]: a.slugs[name] }), as }));
    return [...one, ...slugs, { name: 'all', route, path: fill(route.path, { ...b.params, ...foreign }), as }];
  });
  expect(calls.length).toBeGreaterThan(80);
  expect(await walk(calls, notThere)).toEqual([]);
});

it('ids of A in bodies to B are refused or unknown', async () => {
  const ids = [...Object.values(a.params).filter((v) => v.includes('-') && v.length === 36), a.owner.id];
  const texts: Record<string, string> = { slug: a.params.slug, model: a.model, key: a.model, agent: `agent:${a.slugs.agent_id}` };
  const isId = (s: Schema) => s.format === 'uuid';
  const calls = routes.flatMap((route) => {
    const op = operation(route);
    const schema = op && bodySchema(document, op);
    return Object.entries(schema?.properties ?? {}).flatMap(([name, raw]) => {
      const field = resolve(document, raw);
      const list = field.type === 'array';
      const item = list ? resolve(document, field.items) : field;
      let values: string[] = [];
      if (isId(item)) values = ids;
      else if (/model(s|_allowlist)?$/.test(name)) values = [texts.model];
      else if (/skill/.test(name)) values = [texts.slug];
      else if (/_tools$/.test(name)) values = [texts.agent];
      const body = (value: string) => ({ ...(bodyOf(route) as object), [name]: list ? [value] : value });
      return values.map((value) => ({
        name: `${name}=${value}`,
        route,
        path: fill(route.path, b.params),
        as: b.owner,
        body: body(value),
      }));
    });
  });
  expect(calls.length).toBeGreaterThan(15);
  const [orders, others] = [true, false].map((isOrder) => calls.filter(({ route }) => route.path.endsWith('/reorder') === isOrder));
  expect(await walk(others, (answer) => answer.status === 404 || answer.status === 422 || foundNothing(answer))).toEqual([]);
  // What puts rows in order passes over what is none of them.
  expect(await walk(orders, ({ status }) => status === 204)).toEqual([]);
});

it('a route of A is no route for B, and its name is not repeated in words', async () => {
  const patch = (slug: string) =>
    house.call('PATCH', `/api/orgs/${b.id}/settings/ai/routes`, {
      as: b.owner,
      body: { routes: { [slug]: { api_key: 'sk-test' } } },
    });
  const [foreign, unknown] = [await patch(a.route), await patch('no-such-route')];
  expect([foreign.status, foreign.body.code]).toEqual([422, 'unknown_reference']);
  expect(foreign.body.detail.map((d: { msg: string }) => d.msg)).toEqual(unknown.body.detail.map((d: { msg: string }) => d.msg));
  expect(JSON.stringify(foreign.body.detail.map((d: { msg: string }) => d.msg))).not.toContain(a.mark);
});

it('lists of B never show a row of A', async () => {
  for (const path of ['/api/orgs', '/api/tokens', '/api/auth/me', '/api/models']) {
    const answer = await house.call('GET', path, { as: b.owner });
    expect([path, answer.status, answer.text.includes(a.mark), answer.text.includes(a.id)]).toEqual([path, 200, false, false]);
  }
  expect((await house.call('GET', '/api/orgs', { as: pinnedToB })).body.items.map((o: { id: string }) => o.id)).toEqual([b.id]);
});

it('and nothing of A has changed', async () => {
  expect(await contentsOf(house.db, a.id)).toEqual(before);
});

it('the router has no route that the module graph does not know', () => {
  type Layer = { route?: { path: string } };
  const router = (house.app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } }).router;
  return allRoutes().then((known) => {
    const paths = new Set(known.map((r) => r.path));
    const served = router.stack.flatMap((l) => (l.route ? [l.route.path] : []));
    expect(served.length).toBeGreaterThan(50);
    expect(served.filter((path) => !paths.has(path) && path !== '*path')).toEqual([]);
  });
});
