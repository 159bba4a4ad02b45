import { Injectable } from '@nestjs/common';
import { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
import { Database, Table, type Db } from '@aps/platform/database';
import { GovernanceRepository, type ModelRow } from './governance.repository';
import { InferenceRepository } from '../inference.repository';
import type { PlatformSettings } from '../inference.types';
import { featuresOf, presetsOf, type FeatureUse, type PresetUse } from './model-names.service';
import { ModelUsers, type ModelUser } from './model-users';

/** Templates that are listed at most; all of them are counted. */
const LISTED_TEMPLATES = 1_000;

/** What is pinned to a route: its enabled models, and what names the platform's among them. */
export interface RoutePins {
  route_id: string;
  catalog: ModelRow[];
  prompt_templates: ModelUser[];
  mode_presets: PresetUse[];
  feature_models: FeatureUse[];
  /** Enabled models of organizations, which a repoint leaves where they are. */
  org_offerings: ModelRow[];
  total: number;
  repoint_clears: boolean;
}

@Injectable()
export class RoutePinsQueries {
  private readonly routes = new Table(InferenceRoute, 'Route');
  private readonly models = new Table(ModelCatalogEntry, 'Model');

  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly governance: GovernanceRepository,
    private readonly users: ModelUsers,
  ) {}

  /** @throws DomainError `not_found` */
  async of(routeId: string, db: Db = this.db): Promise<RoutePins> {
    const { id } = await this.routes.get(db, routeId);
    const enabled = await this.models.list(db, { route_id: id, enabled: true }, { sort_order: 'ASC', key: 'ASC' });
    const [catalog, org_offerings] = [enabled.filter((m) => m.owner_org_id === null), enabled.filter((m) => m.owner_org_id !== null)];
    const keys = catalog.map(({ key }) => key);
    const prompt_templates = await this.users.templatesNaming(db, keys, LISTED_TEMPLATES);
    const templates = prompt_templates.length < LISTED_TEMPLATES ? prompt_templates.length : await this.templatesOf(db, keys);
    const { mode_presets, feature_models } = pinnedBy(await this.repository.readPlatformSettings(db), keys);
    return {
      route_id: id,
      catalog,
      prompt_templates,
      mode_presets,
      feature_models,
      org_offerings,
      total: enabled.length + templates + mode_presets.length + feature_models.length,
      repoint_clears: org_offerings.length === 0,
    };
  }

  /** How much is pinned to each route; one to which nothing is, is left out. */
  async counts(): Promise<Map<string, number>> {
    const counts = await this.governance.enabledByRoute(this.db);
    const named = await this.users.templatesCounted(this.db);
    const settings = await this.repository.readPlatformSettings(this.db);
    for (const { model_key } of [...presetsOf(settings), ...featuresOf(settings)]) named.set(model_key, (named.get(model_key) ?? 0) + 1);
    const routes = await this.governance.routesOf(this.db, [...named.keys()]);
    for (const [key, routeId] of routes) counts.set(routeId, (counts.get(routeId) ?? 0) + named.get(key)!);
    return counts;
  }

  private async templatesOf(db: Db, keys: string[]): Promise<number> {
    return [...(await this.users.templatesCounted(db, keys)).values()].reduce((sum, n) => sum + n, 0);
  }
}

/** What of the platform's settings names one of the keys. */
export function pinnedBy(settings: PlatformSettings, keys: readonly string[]) {
  const pinned = ({ model_key }: { model_key: string }) => keys.includes(model_key);
  return { mode_presets: presetsOf(settings).filter(pinned), feature_models: featuresOf(settings).filter(pinned) };
}
