import { NO_CALLER } from '@aps/platform/database';
import type { Db, Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { inferenceConfig, MOCK_ROUTE, mockRouteEnabled } from './inference.config';
import { MOCK_SEED, VENDOR_SEED, type SeedModel, type SeedRoute } from './seed.catalog';
import { INSERT_MODEL, INSERT_ROUTE, INSERT_SETTINGS, MOVE_MOCK, NOTE_SEEDED, SEEDED_ROUTES } from './seed.sql';

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
    await tx.execute(INSERT_SETTINGS);
    const [{ seeded_routes }] = await tx.query(SEEDED_ROUTES);
    const mock = { ...MOCK_SEED, route: { ...MOCK_SEED.route, base_url: mockBaseUrl ?? null } };
    for (const { route, models } of [...VENDOR_SEED, ...(mockRouteEnabled() ? [mock] : [])])
      if (!seeded_routes.includes(route.slug)) await seedRoute(tx, route, models);
    if (mockRouteEnabled() && mockBaseUrl) await tx.execute(MOVE_MOCK, [MOCK_ROUTE, mockBaseUrl]);
  });
}

async function seedRoute(tx: Tx, route: SeedRoute, models: SeedModel[]): Promise<void> {
  const id = uuidv7();
  const { slug, label, dialect, base_url, sort_order, gateway_provider_slug = null } = route;
  const made = await tx.execute(INSERT_ROUTE, [id, slug, label, dialect, base_url, sort_order, gateway_provider_slug]);
  if (made) for (const model of models) await seedModel(tx, id, model);
  await tx.execute(NOTE_SEEDED, [route.slug]);
}

async function seedModel(tx: Tx, routeId: string, m: SeedModel): Promise<void> {
  await tx.execute(INSERT_MODEL, [
    uuidv7(),
    m.key,
    routeId,
    m.label,
    m.provider,
    m.kind ?? 'chat',
    m.sort_order,
    m.context_window ?? null,
    m.max_output_tokens ?? null,
    m.allowed_efforts ?? [],
    m.cost_tier ?? null,
    m.supports_reasoning ?? false,
    m.supports_vision ?? false,
    m.input_price_per_1m ?? null,
    m.output_price_per_1m ?? null,
    m.cached_input_price_per_1m ?? null,
    m.cache_write_price_per_1m ?? null,
  ]);
}
