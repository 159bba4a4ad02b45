import { statement, type Db, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { inferenceConfig, MOCK_ROUTE, mockRouteEnabled } from './inference.config';
import { MOCK_SEED, VENDOR_SEED, type SeedModel, type SeedRoute } from './seed.catalog';

const VENDORS_KNOWN = statement('SELECT 1 FROM inference_routes WHERE owner_org_id IS NULL AND slug <> $1 LIMIT 1');
const INSERT_ROUTE = statement(`
  INSERT INTO inference_routes (id, slug, label, dialect, base_url, sort_order) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (slug) DO NOTHING`);
const MOVE_MOCK = statement(
  'UPDATE inference_routes SET base_url = $2, updated_at = now() WHERE slug = $1 AND owner_org_id IS NULL AND base_url IS DISTINCT FROM $2',
);
const INSERT_SETTINGS = statement('INSERT INTO platform_ai_settings (id) VALUES (1) ON CONFLICT DO NOTHING');
// An enabled row of the same key may stand on another route; then the operator has chosen, and the seed's row stays out.
const INSERT_MODEL = statement(`
  INSERT INTO model_catalog (id, key, route_id, label, provider, kind, sort_order, context_window, max_output_tokens, allowed_efforts, cost_tier,
    supports_reasoning, supports_vision, input_price_per_1m, output_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
  ON CONFLICT DO NOTHING`);

export interface InferenceSeed {
  /** Where the mock model server listens, version path included. Default: MOCK_ROUTE_BASE_URL; without it, an earlier address stays. */
  mockBaseUrl?: string;
}

/**
 * Makes the vendors' routes with a starter catalog, and the mock's. May run any number of times: what is there is left as it is, and
 * a model or route that an operator deleted does not come back, as models are only written with their route, and the vendors' routes
 * only where there is none yet. Only the mock's address follows the environment, because its server takes another port at each start.
 */
export async function seedInference(db: Db, { mockBaseUrl = inferenceConfig.value.mockRouteBaseUrl }: InferenceSeed = {}): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(INSERT_SETTINGS);
    const known = await tx.query(VENDORS_KNOWN, [MOCK_ROUTE]);
    if (!known.length) for (const { route, models } of VENDOR_SEED) await seedRoute(tx, route, models);
    if (!mockRouteEnabled()) return;
    await seedRoute(tx, { ...MOCK_SEED.route, base_url: mockBaseUrl ?? null }, MOCK_SEED.models);
    if (mockBaseUrl) await tx.execute(MOVE_MOCK, [MOCK_ROUTE, mockBaseUrl]);
  });
}

async function seedRoute(tx: Tx, route: SeedRoute, models: SeedModel[]): Promise<void> {
  const id = uuidv7();
  const made = await tx.execute(INSERT_ROUTE, [id, route.slug, route.label, route.dialect, route.base_url, route.sort_order]);
  if (made) for (const model of models) await seedModel(tx, id, model);
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
