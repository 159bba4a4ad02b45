import { Injectable } from '@nestjs/common';
import type { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
import { isOfLive } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';

export type RouteRow = InferenceRoute;
export type ModelRow = ModelCatalogEntry;

const ENABLED_BY_ROUTE = statement<{ route_id: string; n: number }>(
  'SELECT route_id, count(*)::int AS n FROM model_catalog WHERE enabled GROUP BY route_id',
);
const ROUTES_OF = statement<{ key: string; route_id: string }>(
  'SELECT key, route_id FROM model_catalog WHERE key = ANY($1) AND enabled AND owner_org_id IS NULL',
);
// In one order, so that two who take several rows do not wait for each other.
const LOCK_MODELS_ON = statement<ModelRow>('SELECT * FROM model_catalog WHERE route_id = ANY($1) ORDER BY id FOR UPDATE');

const KEYS_OF_ORG = `unnest(ARRAY[s.agent_default_model, s.chat_default_model, s.intake_classifier_default_model, s.process_default_model,
  s.tool_router_default_model] || s.agent_model_allowlist || s.chat_model_allowlist || s.prompt_model_allowlist) AS named(key)`;
const ORGS_NAMING = statement<{ org_id: string }>(`
  SELECT s.org_id FROM org_ai_settings s
  WHERE EXISTS (SELECT FROM ${KEYS_OF_ORG} WHERE named.key = $1) AND ${isOfLive('s')} ORDER BY s.org_id LIMIT $2`);
const NAMED_BY_ORGS = statement<{ key: string }>(
  `SELECT DISTINCT named.key FROM org_ai_settings s, ${KEYS_OF_ORG}
  WHERE named.key IS NOT NULL AND ($1::text[] IS NULL OR named.key = ANY($1)) AND ${isOfLive('s')}`,
);

const REPLACE = statement(`
  UPDATE model_catalog m SET replacement_model_id = x.replacement, updated_at = now()
  FROM unnest($1::uuid[], $2::uuid[]) x(id, replacement) WHERE m.id = x.id`);

/** What operators read and change of routes and models beyond single rows. */
@Injectable()
export class GovernanceRepository {
  /** The routes of enabled models of the platform, by key. */
  async routesOf(db: Db, keys: readonly string[]): Promise<Map<string, string>> {
    return new Map((await db.query(ROUTES_OF, [keys])).map(({ key, route_id }) => [key, route_id]));
  }

  /** Enabled models by route. */
  async enabledByRoute(db: Db): Promise<Map<string, number>> {
    return new Map((await db.query(ENABLED_BY_ROUTE)).map(({ route_id, n }) => [route_id, n]));
  }

  /** Every model on the routes, which nobody else names, changes or removes until the transaction ends. */
  lockModelsOn(tx: Tx, routeIds: string[]): Promise<ModelRow[]> {
    return tx.query(LOCK_MODELS_ON, [routeIds]);
  }

  /** Organizations whose defaults or allowlists name the key, at most so many. */
  async orgsNaming(db: Db, key: string, limit: number): Promise<string[]> {
    return (await db.query(ORGS_NAMING, [key, limit])).map(({ org_id }) => org_id);
  }

  /** Keys that defaults or allowlists of organizations name. @param keys of these alone */
  async namedByOrgs(db: Db, keys?: readonly string[]): Promise<string[]> {
    return (await db.query(NAMED_BY_ORGS, [keys ?? null])).map(({ key }) => key);
  }

  /** @param replacements by model, what follows it from now on */
  async replace(tx: Tx, replacements: Map<string, string | null>): Promise<void> {
    await tx.execute(REPLACE, [[...replacements.keys()], [...replacements.values()]]);
  }
}
