import { Injectable } from '@nestjs/common';
import type { InferenceRoute } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Db } from '@aps/platform/database';

/** A route of an organization's own. */
export interface OwnRoute extends Pick<
  InferenceRoute,
  'id' | 'slug' | 'label' | 'dialect' | 'base_url' | 'enabled' | 'created_at' | 'updated_at'
> {
  /** Enabled models on it. */
  pin_count: number;
  /** The own key for it, sealed. */
  api_key: string | null;
}

const OWN_ROUTES = statement<OwnRoute>(`
  SELECT r.id, r.slug, r.label, r.dialect, r.base_url, r.enabled, r.created_at, r.updated_at, s.api_key,
    (SELECT count(*)::int FROM model_catalog m WHERE m.route_id = r.id AND m.enabled) AS pin_count
  FROM inference_routes r LEFT JOIN org_route_settings s ON s.org_id = r.owner_org_id AND s.route_id = r.id
  WHERE r.owner_org_id = $1 ORDER BY r.sort_order, r.slug`);
const MODELS_ON = statement<{ key: string }>('SELECT key FROM model_catalog WHERE route_id = $1 ORDER BY key LIMIT 100');

/** What is read of the routes that organizations own, beyond single rows. */
@Injectable()
export class OwnRoutesRepository {
  /** In display order. */
  routes(db: Db, scope: OrgScope): Promise<OwnRoute[]> {
    return db.query(OWN_ROUTES, [scope.orgId]);
  }

  /** Keys of the first models on a route, enabled or not. */
  async modelsOn(db: Db, routeId: string): Promise<string[]> {
    return (await db.query(MODELS_ON, [routeId])).map(({ key }) => key);
  }
}
