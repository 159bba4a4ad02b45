import { Injectable } from '@nestjs/common';
import { notFound, refuseField } from '@aps/contracts';
import { InferenceRoute, RouteKey } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { EnvelopeCrypto, mask } from '@aps/platform/crypto';
import { Database, Table } from '@aps/platform/database';
import { environmentKeySources } from '../inference.config';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings, platformKeyPlace } from '../inference.settings';
import type { Route } from '../inference.types';
import { assertKey } from './route-settings.policy';

/** Which key a route of the platform spends. */
export interface RouteKeyView {
  route_id: string;
  slug: string;
  /** Of the key that is spent; null when there is none. */
  masked: string | null;
  /** A key is stored for the route itself, whether or not it can still be read. */
  is_set: boolean;
  source: 'stored' | 'legacy' | 'env' | 'borrowed' | 'none';
  /** Slug of the route whose key is spent. */
  borrowed_from: string | null;
}

/** The platform's keys of its routes. */
@Injectable()
export class RouteKeysService {
  private readonly routes = new Table(InferenceRoute, 'Route');
  private readonly keys = new Table(RouteKey, 'Key');

  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly settings: InferenceSettings,
    private readonly crypto: EnvelopeCrypto,
    private readonly audit: Audit,
  ) {}

  /** In display order. */
  async list(): Promise<RouteKeyView[]> {
    const { routes, keys } = await this.repository.platform(this.db);
    const ordered = [...routes.values()].sort((a, b) => a.sort_order - b.sort_order || (a.slug < b.slug ? -1 : 1));
    return Promise.all(
      ordered.map(async (route) => {
        const lender = route.credential_route_id ? routes.get(route.credential_route_id) : undefined;
        const { source, key } = await this.spent(lender ?? route, keys.get((lender ?? route).id));
        return {
          route_id: route.id,
          slug: route.slug,
          masked: key && mask(key),
          is_set: keys.has(route.id),
          source: lender ? 'borrowed' : source,
          borrowed_from: lender?.slug ?? null,
        };
      }),
    );
  }

  /**
   * Stores a key, or clears it with null.
   *
   * @throws DomainError `not_found`; 422 `masked_secret`, `validation_error`, and `route_borrows_key` with the route to set it at
   */
  async put(operator: ActingUser, routeId: string, key: string | null): Promise<RouteKeyView[]> {
    if (key !== null) assertKey(key, ['api_key']);
    await this.db.transaction(operator, async (tx) => {
      await this.repository.lockPlatformSettings(tx);
      const route = await this.routes.get(tx, routeId, 'for no key update');
      // Its key is its organization's own affair.
      if (route.owner_org_id !== null) throw notFound('Route');
      if (route.credential_route_id !== null) {
        const lender = await this.routes.get(tx, route.credential_route_id);
        const context = { route_id: lender.id, slug: lender.slug };
        throw refuseField('route_borrows_key', ['api_key'], `This route spends the key of ${lender.slug}; set it there.`, context);
      }
      const before = await this.keys.find(tx, { route_id: routeId }, 'for update');
      if (key === null ? !before : before && (await this.settings.open(platformKeyPlace(routeId), before.api_key, tx)) === key) return;
      if (before) await this.keys.delete(tx, { route_id: routeId });
      if (key !== null) {
        const api_key = await this.crypto.encrypt(tx, platformKeyPlace(routeId), key);
        await this.keys.insert(tx, { route_id: routeId, api_key, updated_by: operator.userId });
      }
      const facts = { slug: route.slug, api_key: key === null ? 'cleared' : 'set' };
      await this.audit.record(tx, operator, 'route_key.updated', { kind: 'inference_route', id: routeId }, facts);
      this.settings.announce(tx, 'route.changed', null);
    });
    return this.list();
  }

  /** The first key that can be read: the stored one, then those of the environment. */
  private async spent(
    { id, slug }: Route,
    sealed: string | undefined,
  ): Promise<{ source: 'stored' | 'legacy' | 'env' | 'none'; key: string | null }> {
    const stored = sealed === undefined ? null : await this.settings.open(platformKeyPlace(id), sealed);
    if (stored !== null) return { source: 'stored', key: stored };
    const [fallback] = environmentKeySources(slug);
    return fallback ?? { source: 'none', key: null };
  }
}
