import { InferenceRoute, ModelCatalogEntry, PlatformAiSettings } from '@aps/entities';
import { NO_CALLER, Table, type Db } from '@aps/platform/database';
import { inferenceConfig, MOCK_ROUTE, mockRouteEnabled } from './inference.config';
import { MOCK_SEED, VENDOR_SEED } from './seed.catalog';

const settings = new Table(PlatformAiSettings);
const routes = new Table(InferenceRoute);
const models = new Table(ModelCatalogEntry);

export interface InferenceSeed {
  /** Where the mock model server listens, version path included. Default: MOCK_ROUTE_BASE_URL; without it, an earlier address stays. */
  mockBaseUrl?: string;
}

/**
 * Makes the vendors' routes with a starter catalog, and the mock's; each once. What is there is left as it is, and what an operator
 * deleted does not come back. Only the mock's address follows the environment, because its server takes another port at each start.
 */
export async function seedInference(db: Db, { mockBaseUrl = inferenceConfig.value.mockRouteBaseUrl }: InferenceSeed = {}): Promise<void> {
  await db.transaction(NO_CALLER, async (tx) => {
    await settings.insertOrNothing(tx, { id: 1 });
    const { seeded_routes } = await settings.get(tx, { id: 1 }, 'for no key update');
    const mock = { ...MOCK_SEED, route: { ...MOCK_SEED.route, base_url: mockBaseUrl ?? null } };
    const missing = [...VENDOR_SEED, ...(mockRouteEnabled() ? [mock] : [])].filter(({ route }) => !seeded_routes.includes(route.slug));
    for (const { route, models: onIt } of missing) {
      const made = await routes.insertOrNothing(tx, route);
      // An enabled row of the same key may stand on another route; then the operator has chosen, and the seed's row stays out.
      if (made) for (const model of onIt) await models.insertOrNothing(tx, { ...model, route_id: made.id });
    }
    if (missing.length)
      await settings.update(tx, { id: 1 }, { seeded_routes: [...seeded_routes, ...missing.map(({ route }) => route.slug)] });
    if (!mockRouteEnabled() || !mockBaseUrl) return;
    const there = await routes.find(tx, { slug: MOCK_ROUTE, owner_org_id: null });
    if (there && there.base_url !== mockBaseUrl) await routes.update(tx, there.id, { base_url: mockBaseUrl });
  });
}
