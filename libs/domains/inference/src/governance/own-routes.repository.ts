import { Injectable } from '@nestjs/common';
import { InferenceRoute } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, Table, type Columns, type Db, type Tx } from '@aps/platform/database';

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

/** Routes that organizations own. */
@Injectable()
export class OwnRoutesRepository {
  private readonly routeRows = new Table(InferenceRoute, 'Inference route');

  /** In display order. */
  routes(db: Db, scope: OrgScope): Promise<OwnRoute[]> {
    return db.query(OWN_ROUTES, [scope.orgId]);
  }

  countRoutes(db: Db, scope: OrgScope): Promise<number> {
    return this.routeRows.count(db, { owner_org_id: scope.orgId });
  }

  /** @throws DomainError `not_found` */
  route(db: Db, scope: OrgScope, id: string): Promise<InferenceRoute> {
    return this.routeRows.get(db, { id, owner_org_id: scope.orgId });
  }

  /** The route, which nobody changes until the transaction ends. @throws DomainError `not_found` */
  lockRoute(tx: Tx, scope: OrgScope, id: string): Promise<InferenceRoute> {
    return this.routeRows.get(tx, { id, owner_org_id: scope.orgId }, 'for update');
  }

  addRoute(tx: Tx, scope: OrgScope, columns: Columns<InferenceRoute>): Promise<InferenceRoute> {
    return this.routeRows.insert(tx, { ...columns, owner_org_id: scope.orgId });
  }

  async saveRoute(tx: Tx, scope: OrgScope, id: string, columns: Columns<InferenceRoute>): Promise<void> {
    await this.routeRows.update(tx, { id, owner_org_id: scope.orgId }, columns);
  }

  async removeRoute(tx: Tx, scope: OrgScope, id: string): Promise<void> {
    await this.routeRows.delete(tx, { id, owner_org_id: scope.orgId });
  }

  /** Keys of the first models on a route, enabled or not. */
  async modelsOn(db: Db, routeId: string): Promise<string[]> {
    return (await db.query(MODELS_ON, [routeId])).map(({ key }) => key);
  }
}
