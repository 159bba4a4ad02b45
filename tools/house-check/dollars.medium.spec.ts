import { withCredits, withRateCard } from '@aps/billing/testing';
import { InferenceSettings } from '@aps/inference';
import { addModel, addRoute } from '@aps/inference/testing';
import { sql, type Answer } from '@aps/platform/testing';
import { bodySchema, buildDocument, type Document } from './testing/document';
import { House } from './testing/house';
import { sample } from './testing/sample';
import { allRoutes, templateOf, type Route } from './testing/surface';
import { fill, tenant, type Tenant } from './testing/tenant';

/** What everything has cost that is stored, so that it is seen wherever it is shown. */
const DOLLARS = '7.654321';
/** A setting and no spend: it is shown as it is stored. */
const SETTINGS = new Set(['budget_limit_usd']);

/** Every column in dollars, and what events and messages say of them. */
const COLUMNS: [table: string, column: string][] = [
  ['chats', 'cost_usd'],
  ['inference_receipts', 'usd_cost'],
  ['prompt_runs', 'cost_usd'],
  ['usage_tallies', 'usd_cost'],
  ['usage_tallies', 'chats_usd_cost'],
  ['model_catalog', 'input_price_per_1m'],
  ['model_catalog', 'output_price_per_1m'],
  ['model_catalog', 'cached_input_price_per_1m'],
  ['model_catalog', 'cache_write_price_per_1m'],
];

let house: House;
let org: Tenant;
let document: Document;
let routes: Route[];
beforeAll(async () => {
  house = await new House().start();
  [document, org] = [await buildDocument(), await tenant(house, 'a')];
  routes = (await allRoutes()).filter((r) => r.app === 'api-gateway' && (r.path.includes(':org_id') || r.path.endsWith('/api/models')));
  await addModel(house, 'priced', { provider: 'mock', route_id: await addRoute(house, 'priced') });
  for (const [table, column] of COLUMNS) {
    const own = table === 'model_catalog' ? '' : `WHERE org_id = '${org.id}'`;
    await house.db.execute(sql(`UPDATE ${table} SET ${column} = ${DOLLARS} ${own}`));
  }
  await house.db.execute(sql(`UPDATE messages SET usage = jsonb_build_object('input', 1, 'cost_usd', $2::text) WHERE org_id = $1`), [
    org.id,
    DOLLARS,
  ]);
  await house.db.execute(
    sql(
      `UPDATE events SET data = data || jsonb_build_object('cost_usd', $2::text, 'usage', jsonb_build_object('cost_usd', $2::text)) WHERE org_id = $1`,
    ),
    [org.id, DOLLARS],
  );
  for (const owner of [null, org.id]) house.get(InferenceSettings).drop(owner);
  await withRateCard(house);
});
afterAll(() => house?.close());

/** Fields of an answer that tell dollars: what is named so, and whatever has the amount. */
function dollarsIn(value: unknown, path = ''): string[] {
  if (value === DOLLARS || value === Number(DOLLARS)) return [path];
  if (typeof value === 'string') return value.includes(DOLLARS) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, of]) => {
    const here = `${path}.${name}`;
    const named =
      /(^|_)usd(_|$)|_price_per_/.test(name) && !SETTINGS.has(name) && of !== null && (typeof of === 'string' || typeof of === 'number');
    return named ? [here] : dollarsIn(of, here);
  });
}

const bodyOf = (route: Route): unknown => {
  const operation = document.paths[templateOf(route.path)]?.[route.method.toLowerCase()];
  const schema = operation && bodySchema(document, operation);
  return schema && sample(document, schema);
};

/** What answers show, by route; the methods one after another, since what is written may end what is read. */
async function shown(methods: string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const route of methods.flatMap((method) => routes.filter((of) => of.method === method))) {
    const answer: Answer = await house.call(route.method, fill(route.path, org.params), { as: org.owner, body: bodyOf(route) });
    const told = dollarsIn(answer.body);
    if (told.length) found.set(`${route.method} ${route.path}`, told);
  }
  return found;
}

it('shows dollars to an organization that does not pay in credits, so that something is hidden below', async () => {
  const routesOfDollars = [...(await shown(['GET'])).keys()];
  expect(routesOfDollars).toEqual(
    expect.arrayContaining([
      'GET /api/models',
      'GET /api/orgs/:org_id/models',
      'GET /api/orgs/:org_id/usage',
      'GET /api/orgs/:org_id/settings/limits/usage',
      'GET /api/orgs/:org_id/agents/:agent_id/chats',
      'GET /api/orgs/:org_id/agents/:agent_id/chats/:chat_id',
      'GET /api/orgs/:org_id/agents/:agent_id/chats/:chat_id/cost-breakdown',
      'GET /api/orgs/:org_id/prompt-templates/:template_id/runs',
    ]),
  );
});

it('shows no dollars to an organization that pays in credits, in any answer', async () => {
  await withCredits(house, org.id, { granted: '1000' });
  expect(Object.fromEntries(await shown(['GET', 'POST', 'PATCH', 'PUT']))).toEqual({});
});
