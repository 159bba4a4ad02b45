import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { ConnectionMethod } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { ConnectionsQueries } from '../connections.queries';
import { appOf, apps, CUSTOM_APP, type App } from './apps';
import { methodOf, type MethodField } from './methods';

/** An app as the catalog shows it. */
export interface Card extends Pick<App, 'app_key' | 'name' | 'description' | 'icon_url' | 'knowledge_capable'> {
  kind: 'static' | 'custom_mcp';
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

/** What can be connected. */
@Injectable()
export class Catalog {
  constructor(private readonly connections: ConnectionsQueries) {}

  /** One card for each app, with how many of its connections the caller sees. */
  async cards(scope: OrgScope): Promise<Card[]> {
    const counts = await this.connections.counts(scope);
    return apps().map((app) => ({
      ...app,
      kind: app.app_key === CUSTOM_APP.app_key ? 'custom_mcp' : 'static',
      provider_key: app.app_key,
      connection_count: counts.get(app.app_key) ?? 0,
    }));
  }

  /** The best first. @throws DomainError `not_found` */
  methods(key: string): RankedMethod[] {
    const app = appOf(key);
    if (!app) throw notFound('App');
    return app.methods.map((method, i) => ({ method, rank: i + 1, ...methodOf(app, method) }));
  }
}
