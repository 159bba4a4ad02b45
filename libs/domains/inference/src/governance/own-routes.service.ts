import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DomainError, notFound } from '@aps/contracts';
import { InferenceRoute } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { mask } from '@aps/platform/crypto';
import { advisoryLock, changesOf, Database, refusingTakenSlug, Table } from '@aps/platform/database';
import { Egress } from '@aps/platform/egress';
import { MOCK_ROUTE, VENDOR_ROUTES } from '../inference.config';
import { InferenceSettings, orgKeyPlace } from '../inference.settings';
import { lockOwnModels } from './own-models.service';
import { OwnRoutesRepository, type OwnRoute } from './own-routes.repository';
import { tenantBaseUrl } from './tenant-base-url';

/** How many routes an organization may own; all of them are held in memory. */
export const MAX_OWN_ROUTES = 100;

/** A route with its key masked. */
export interface OwnRouteView extends OwnRoute {
  is_set: boolean;
}

export type NewRoute = Pick<InferenceRoute, 'slug' | 'label' | 'dialect'> & { base_url: string };
export type RouteChange = Partial<Pick<InferenceRoute, 'label' | 'enabled'> & { base_url: string }>;

/** Routes of an organization's own: where its own models are called. Their keys are set where those of all routes are. */
@Injectable()
export class OwnRoutesService {
  private readonly routes = new Table(InferenceRoute, 'Inference route');

  constructor(
    private readonly db: Database,
    private readonly repository: OwnRoutesRepository,
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
    private readonly egress: Egress,
    private readonly audit: Audit,
  ) {}

  async list(scope: OrgScope): Promise<OwnRouteView[]> {
    const routes = await this.repository.routes(this.db, scope);
    return Promise.all(
      routes.map(async (route) => {
        const { id, api_key: sealed } = route;
        // What cannot be opened any more is still set, and shows nothing of itself.
        const key = sealed === null ? null : await this.settings.open(orgKeyPlace(scope.orgId, id), sealed);
        return { ...route, api_key: sealed === null ? null : mask(key ?? ''), is_set: sealed !== null };
      }),
    );
  }

  /**
   * @throws DomainError 403 `entitlement_required`; 409 `slug_taken`, `limit_reached`; 422 `validation_error` for an address that is
   *   none of the public internet
   */
  async create(scope: OrgScope, input: NewRoute): Promise<OwnRouteView> {
    await this.entitlements.require(scope.orgId, 'byo_keys');
    // The names of the seeded routes say which keys they spend, also where an operator has deleted one.
    if ([...VENDOR_ROUTES, MOCK_ROUTE].includes(input.slug)) throw new DomainError('slug_taken', 'This slug is taken.');
    const base_url = await tenantBaseUrl(this.egress, input.base_url, ['base_url']);
    const { slug, label, dialect } = input;
    const id = await this.db.transaction(scope, async (tx) => {
      await advisoryLock(tx, `own-routes:${scope.orgId}`);
      if ((await this.routes.count(tx, { owner_org_id: scope.orgId })) >= MAX_OWN_ROUTES)
        throw new DomainError('limit_reached', `An organization owns at most ${MAX_OWN_ROUTES} routes.`, {
          context: { limit: MAX_OWN_ROUTES },
        });
      const made = await refusingTakenSlug(
        'inference_routes_slug',
        this.routes.insert(tx, { slug, label, dialect, base_url, owner_org_id: scope.orgId }),
      );
      await this.audit.record(tx, scope, 'inference_route.created', made.id, { slug, label, dialect, base_url });
      this.settings.announce(tx, 'route.changed', scope.orgId);
      return made.id;
    });
    return this.view(scope, id);
  }

  /** @throws DomainError `not_found`; 422 `validation_error` for an address that is none of the public internet */
  async update(scope: OrgScope, id: string, { label, enabled, base_url: written }: RouteChange): Promise<OwnRouteView> {
    const key = { id, owner_org_id: scope.orgId };
    await this.routes.get(this.db, key);
    const base_url = written === undefined ? undefined : await tenantBaseUrl(this.egress, written, ['base_url']);
    await this.db.transaction(scope, async (tx) => {
      const changes = changesOf(await this.routes.get(tx, key, 'for update'), { label, enabled, base_url });
      if (!Object.keys(changes).length) return;
      await this.routes.update(tx, key, changes);
      await this.audit.record(tx, scope, 'inference_route.updated', id, { changes });
      this.settings.announce(tx, 'route.changed', scope.orgId);
    });
    return this.view(scope, id);
  }

  /** Its key goes with it. @throws DomainError `not_found`; 409 `route_in_use` while a model is on it, enabled or not */
  async delete(scope: OrgScope, id: string): Promise<void> {
    const key = { id, owner_org_id: scope.orgId };
    await this.db.transaction(scope, async (tx) => {
      await lockOwnModels(tx, scope);
      const { slug } = await this.routes.get(tx, key, 'for update');
      const models = await this.repository.modelsOn(tx, id);
      if (models.length)
        throw new DomainError('route_in_use', 'Models are reached by this route. Delete them or move them first.', { context: { models } });
      await this.routes.delete(tx, key);
      await this.audit.record(tx, scope, 'inference_route.deleted', id, { slug });
      this.settings.announce(tx, 'route.changed', scope.orgId);
    });
  }

  private async view(scope: OrgScope, id: string): Promise<OwnRouteView> {
    const found = (await this.list(scope)).find((route) => route.id === id);
    if (!found) throw notFound('Inference route');
    return found;
  }
}
