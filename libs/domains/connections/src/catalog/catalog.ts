import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import type { ConnectionMethod } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { ConnectionsQueries } from '../connections.queries';
import { ManagedApps } from '../managed/managed-apps';
import { apps, CUSTOM_APP, type App } from './apps';
import { methodOf, type MethodField } from './methods';

/** An app as the catalog shows it. */
export interface Card extends Pick<App, 'app_key' | 'name' | 'description' | 'icon_url' | 'knowledge_capable'> {
  kind: 'static' | 'managed' | 'custom_mcp';
  provider_key: string;
  connection_count: number;
}

/** A way to connect an app, as clients show it. */
export interface RankedMethod {
  method: ConnectionMethod;
  label: string;
  /** From 1, the best. */
  rank: number;
  fields: MethodField[];
}

/** All that can be connected now. */
export interface Offer {
  apps: (App & Pick<Card, 'kind'>)[];
  /** The provider of managed apps does not say which it has. */
  isIncomplete: boolean;
}

/** What can be connected. */
@Injectable()
export class Catalog {
  constructor(
    private readonly connections: ConnectionsQueries,
    private readonly managed: ManagedApps,
  ) {}

  /** One card for each app, with how many of its connections the caller sees. */
  async cards(scope: OrgScope): Promise<{ cards: Card[]; isIncomplete: boolean }> {
    const [counts, { apps: offered, isIncomplete }] = await Promise.all([this.connections.counts(scope), this.offer()]);
    const cards = offered.map((app) => ({ ...app, provider_key: app.app_key, connection_count: counts.get(app.app_key) ?? 0 }));
    return { cards, isIncomplete };
  }

  /** The best first. @throws DomainError `not_found`, `upstream_unavailable` */
  async methods(key: string): Promise<RankedMethod[]> {
    const app = await this.find(key);
    if (!app) throw notFound('App');
    return app.methods.map((method, i) => ({ method, rank: i + 1, ...methodOf(app, method) }));
  }

  /** @throws DomainError `upstream_unavailable` where it may be a managed one, and nobody says so */
  async find(key: string): Promise<App | undefined> {
    const { apps: offered, isIncomplete } = await this.offer();
    const app = offered.find(({ app_key }) => app_key === key);
    if (!app && isIncomplete)
      throw new DomainError('upstream_unavailable', 'The provider of managed apps does not say which it has. Try again in a minute.');
    return app;
  }

  /** Any server last. Of an app of ours that is a managed one, too, that is a further way to connect it. */
  private async offer(): Promise<Offer> {
    const { apps: listed, isAway } = await this.managed.listing();
    const managed = new Map(listed.map((app) => [app.app_key, app]));
    const ours = apps().map((app): Offer['apps'][number] => ({
      ...app,
      ...(managed.delete(app.app_key) && app !== CUSTOM_APP && { methods: [...app.methods, 'oauth2'] }),
      kind: app === CUSTOM_APP ? 'custom_mcp' : 'static',
    }));
    const theirs = [...managed.values()].map((app): Offer['apps'][number] => ({
      ...app,
      server_url: null,
      methods: ['oauth2'],
      kind: 'managed',
    }));
    return { apps: [...ours.slice(0, -1), ...theirs, ...ours.slice(-1)], isIncomplete: isAway };
  }
}
