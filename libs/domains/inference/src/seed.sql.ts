import { statement } from '@aps/platform/database';

export const INSERT_ROUTE = statement(`
  INSERT INTO inference_routes (id, slug, label, dialect, base_url, sort_order, gateway_provider_slug) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (slug) DO NOTHING`);
export const MOVE_MOCK = statement(
  'UPDATE inference_routes SET base_url = $2, updated_at = now() WHERE slug = $1 AND owner_org_id IS NULL AND base_url IS DISTINCT FROM $2',
);
export const INSERT_SETTINGS = statement('INSERT INTO platform_ai_settings (id) VALUES (1) ON CONFLICT DO NOTHING');
export const SEEDED_ROUTES = statement<{ seeded_routes: string[] }>(
  'SELECT seeded_routes FROM platform_ai_settings WHERE id = 1 FOR NO KEY UPDATE',
);
export const NOTE_SEEDED = statement('UPDATE platform_ai_settings SET seeded_routes = seeded_routes || $1::text WHERE id = 1');
// An enabled row of the same key may stand on another route; then the operator has chosen, and the seed's row stays out.
export const INSERT_MODEL = statement(`
  INSERT INTO model_catalog (id, key, route_id, label, provider, kind, sort_order, context_window, max_output_tokens, allowed_efforts, cost_tier,
    supports_reasoning, supports_vision, input_price_per_1m, output_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
  ON CONFLICT DO NOTHING`);
