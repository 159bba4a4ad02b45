import { Injectable } from '@nestjs/common';
import { DomainError, refuseField } from '@aps/contracts';
import { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database, refusingTakenSlug, Table, type Tx } from '@aps/platform/database';
import { assertServes, refuseUnknown } from './catalog.policy';
import type { RouteRow } from './governance.repository';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings } from '../inference.settings';
import { RoutePinsQueries } from './route-pins.queries';

/** What operators say of a route; a field that is absent stays. */
export type RouteInput = Partial<
  Pick<RouteRow, 'label' | 'dialect' | 'base_url' | 'credential_route_id' | 'enabled' | 'gateway_provider_slug' | 'sort_order'>
>;
export type NewRoute = RouteInput & Pick<RouteRow, 'slug' | 'label' | 'dialect'>;

export interface RouteView extends RouteRow {
  /** What {@link RoutePinsQueries} would find pinned. */
  pin_count: number;
}

/** What operators may say of a route that an organization has made. */
const OF_ANY_ROUTE = ['enabled'];

/**
 * Routes as operators govern them. Whatever changes routes, keys or models of the platform holds the row of its settings, so that what
 * one of them has looked at stays as it is until it is done.
 */
@Injectable()
export class PlatformRoutesService {
  private readonly routes = new Table(InferenceRoute, 'Route');
  private readonly models = new Table(ModelCatalogEntry, 'Model');

  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly pins: RoutePinsQueries,
    private readonly settings: InferenceSettings,
    private readonly audit: Audit,
  ) {}

  /** Every route, those of organizations too, in display order. */
  async list(): Promise<RouteView[]> {
    const routes = await this.routes.list(this.db, {}, { sort_order: 'ASC', slug: 'ASC', id: 'ASC' });
    const counts = await this.pins.counts();
    return routes.map((route) => ({ ...route, pin_count: counts.get(route.id) ?? 0 }));
  }

  /** @throws DomainError `not_found` */
  async get(id: string): Promise<RouteView> {
    return { ...(await this.routes.get(this.db, id)), pin_count: (await this.pins.of(id)).total };
  }

  /** @throws DomainError 409 `slug_taken`; 422 `unknown_reference`, `borrowing_chain` */
  async create(operator: ActingUser, input: NewRoute): Promise<RouteView> {
    return this.db.transaction(operator, async (tx) => {
      await this.repository.lockPlatformSettings(tx);
      await this.assertLender(tx, input);
      const route = await refusingTakenSlug('inference_routes_slug', this.routes.insert(tx, input));
      await this.audit.record(tx, operator, 'inference_route.created', route.id, { ...input });
      this.settings.announce(tx, 'route.changed', null);
      return { ...route, pin_count: 0 };
    });
  }

  /**
   * @throws DomainError `not_found`; 409 `route_pinned` for disabling what something is pinned to; 422 `kind_not_served`,
   *   `unknown_reference`, `borrowing_chain`, `organization_owned`
   */
  async update(operator: ActingUser, id: string, input: RouteInput): Promise<RouteView> {
    await this.db.transaction(operator, async (tx) => {
      await this.repository.lockPlatformSettings(tx);
      const route = await this.routes.get(tx, id, 'for no key update');
      const changes = changesOf(route, input);
      if (!Object.keys(changes).length) return;
      if (route.owner_org_id !== null) assertOfAnyRoute(changes);
      if (changes.dialect)
        assertServes({ dialect: changes.dialect }, await this.models.list(tx, { route_id: id }, { key: 'ASC' }), ['dialect']);
      await this.assertLender(tx, changes, route);
      // Its models are its organization's own, and nobody can repoint them.
      if (changes.enabled === false && route.owner_org_id === null) await this.assertUnpinned(tx, route);
      await this.routes.update(tx, id, changes);
      const by = route.owner_org_id === null ? operator : { orgId: route.owner_org_id, actor: operator };
      await this.audit.record(tx, by, 'inference_route.updated', id, { changes });
      this.settings.announce(tx, 'route.changed', route.owner_org_id);
    });
    return this.get(id);
  }

  /**
   * Ends a route with its keys, the platform's and those that organizations stored for it.
   *
   * @throws DomainError `not_found`; 409 `route_lends_key`, `route_in_use`; 422 `organization_owned`
   */
  async delete(operator: ActingUser, id: string): Promise<void> {
    await this.db.transaction(operator, async (tx) => {
      await this.repository.lockPlatformSettings(tx);
      const route = await this.routes.get(tx, id, 'for update');
      if (route.owner_org_id !== null) throw organizationOwned();
      const borrowers = await this.routes.list(tx, { credential_route_id: id }, { slug: 'ASC' });
      if (borrowers.length)
        throw new DomainError('route_lends_key', 'Other routes spend the key of this one.', {
          context: { routes: borrowers.map(({ id, slug }) => ({ id, slug })) },
        });
      const models = await this.models.count(tx, { route_id: id });
      if (models) throw new DomainError('route_in_use', 'Models are reached by this route.', { context: { models } });
      await this.routes.delete(tx, id);
      await this.audit.record(tx, operator, 'inference_route.deleted', id, { slug: route.slug });
      this.settings.announce(tx, 'route.changed', null);
    });
  }

  /** What lends its key has one of its own to spend. */
  private async assertLender(tx: Tx, { credential_route_id: lenderId }: RouteInput, route?: RouteRow): Promise<void> {
    if (!lenderId) return;
    const refuse = (msg: string) => refuseField('borrowing_chain', ['credential_route_id'], msg);
    if (lenderId === route?.id) throw refuse('A route does not borrow from itself.');
    const lender = await this.routes.find(tx, lenderId);
    if (!lender || lender.owner_org_id !== null) {
      const lenders = await this.routes.list(tx, { owner_org_id: null, credential_route_id: null }, { sort_order: 'ASC', slug: 'ASC' });
      throw refuseUnknown('credential_route_id', 'There is no such route of the platform.', lenders, ({ slug }) => slug);
    }
    if (lender.credential_route_id !== null) throw refuse(`The route ${lender.slug} borrows its key itself.`);
    if (route && (await this.routes.count(tx, { credential_route_id: route.id }))) throw refuse('Other routes spend the key of this one.');
  }

  private async assertUnpinned(tx: Tx, { id }: RouteRow): Promise<void> {
    const { total, catalog, prompt_templates, mode_presets, feature_models, org_offerings } = await this.pins.of(id, tx);
    if (!total) return;
    const counts = { catalog, prompt_templates, mode_presets, feature_models, org_offerings };
    throw new DomainError('route_pinned', 'Something is pinned to this route. Repoint it first.', {
      context: { total, ...Object.fromEntries(Object.entries(counts).map(([kind, pinned]) => [kind, pinned.length])) },
    });
  }
}

export const organizationOwned = () => new DomainError('organization_owned', 'It belongs to an organization, which alone changes it.');

function assertOfAnyRoute(changes: RouteInput): void {
  if (Object.keys(changes).some((field) => !OF_ANY_ROUTE.includes(field))) throw organizationOwned();
}
