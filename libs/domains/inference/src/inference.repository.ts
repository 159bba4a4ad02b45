import { Injectable } from '@nestjs/common';
import { OrgAiSettings, OrgRouteSetting, PlatformAiSettings } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, Table, type Db, type Tx } from '@aps/platform/database';
import { byOrder, NO_ORG_SETTINGS, NO_PLATFORM_SETTINGS, type OrgData, type PlatformData } from './choice/catalog-view';
import type { CatalogEntry, OrgSettings, PlatformSettings, Route, RouteSetting } from './inference.types';

const ROUTE = 'id, slug, label, dialect, base_url, enabled, sort_order, credential_route_id, gateway_provider_slug, owner_org_id';
const PRICES = [
  'input_price_per_1m',
  'output_price_per_1m',
  'cached_input_price_per_1m',
  'cache_write_price_per_1m',
  'fallback_credits_per_1k_tokens',
];
const ENTRY = `id, owner_org_id, key, route_id, label, provider, kind, remote_model_id, enabled, deprecated, sort_order, context_window, max_output_tokens,
  allowed_efforts, cost_tier, supports_reasoning, supports_vision, price_tiers, replacement_model_id, ${PRICES.join(', ')}`;

const PLATFORM_SETTINGS = statement<PlatformSettings>(
  `SELECT ${Object.keys(NO_PLATFORM_SETTINGS).join(', ')} FROM platform_ai_settings WHERE id = 1`,
);
const PLATFORM_ROUTES = statement<Route>(`SELECT ${ROUTE} FROM inference_routes WHERE owner_org_id IS NULL`);
const PLATFORM_ENTRIES = statement<CatalogEntry>(`SELECT ${ENTRY} FROM model_catalog WHERE owner_org_id IS NULL`);
const PLATFORM_KEYS = statement<{ route_id: string; api_key: string }>('SELECT route_id, api_key FROM route_keys');

// One round trip for all that an organization holds. Numerics go through text: as JSON numbers they would become floats.
const numericText = (columns: string[], row: string) => columns.map((c) => `'${c}', ${row}.${c}::text`).join(', ');
const ORG_DATA = statement<{
  settings: OrgSettings | null;
  route_settings: RouteSetting[];
  routes: Route[];
  entries: CatalogEntry[];
}>(`
  SELECT
    (SELECT to_jsonb(s) || jsonb_build_object(${numericText(['budget_limit_usd', 'compaction_threshold'], 's')}) FROM org_ai_settings s WHERE s.org_id = $1) AS settings,
    (SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM (SELECT route_id, api_key, credential_source, base_url, enabled FROM org_route_settings WHERE org_id = $1) r) AS route_settings,
    (SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM (SELECT ${ROUTE} FROM inference_routes WHERE owner_org_id = $1) r) AS routes,
    (SELECT coalesce(jsonb_agg(to_jsonb(e) || jsonb_build_object(${numericText(PRICES, 'e')})), '[]') FROM (SELECT ${ENTRY} FROM model_catalog WHERE owner_org_id = $1) e) AS entries`);

// By a statement: a message that names a model asks.
const SETTINGS = statement<OrgAiSettings>('SELECT * FROM org_ai_settings WHERE org_id = $1');

const VISIBLE_ROUTES = statement<Route>(
  `SELECT ${ROUTE} FROM inference_routes WHERE owner_org_id IS NULL OR owner_org_id = $1 ORDER BY sort_order, slug`,
);
const SAVE_ROUTE_SETTING = statement(`
  INSERT INTO org_route_settings (org_id, route_id, api_key, credential_source, base_url, enabled, updated_by, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, now())
  ON CONFLICT (org_id, route_id) DO UPDATE SET api_key = excluded.api_key, credential_source = excluded.credential_source,
    base_url = excluded.base_url, enabled = excluded.enabled, updated_by = excluded.updated_by, updated_at = now()`);

// A disabled model with a successor still answers, so it may still be named.
const CHAT_KEYS = `
  SELECT key FROM model_catalog
  WHERE key = ANY($2) AND kind = 'chat' AND (owner_org_id IS NULL OR owner_org_id = $1) AND (enabled OR replacement_model_id IS NOT NULL)`;
const KNOWN_CHAT_KEYS = statement<{ key: string }>(CHAT_KEYS);
// As a foreign key holds what it refers to.
const HELD_CHAT_KEYS = statement<{ key: string }>(`${CHAT_KEYS} ORDER BY id FOR KEY SHARE`);

/** Routes, catalog and settings. What organizations own of them is written by `OwnRoutesService` and `OwnModelsService`. */
@Injectable()
export class InferenceRepository {
  private readonly orgSettings = new OrgTable(OrgAiSettings);
  private readonly orgRoutes = new OrgTable(OrgRouteSetting);
  private readonly platformSettings = new Table(PlatformAiSettings);

  async platform(db: Db): Promise<PlatformData> {
    const [[settings], routes, entries, keys] = await Promise.all([
      db.query(PLATFORM_SETTINGS),
      db.query(PLATFORM_ROUTES),
      db.query(PLATFORM_ENTRIES),
      db.query(PLATFORM_KEYS),
    ]);
    return {
      settings: settings ?? NO_PLATFORM_SETTINGS,
      routes: byId(routes),
      entries: entries.sort(byOrder),
      keys: new Map(keys.map((k) => [k.route_id, k.api_key])),
    };
  }

  async readPlatformSettings(db: Db): Promise<PlatformSettings> {
    return (await db.query(PLATFORM_SETTINGS))[0] ?? NO_PLATFORM_SETTINGS;
  }

  /** The platform's models, in no order. */
  platformEntries(db: Db): Promise<CatalogEntry[]> {
    return db.query(PLATFORM_ENTRIES);
  }

  /** Takes the bare id and no scope: workers load it for whatever organization a turn belongs to. */
  async organization(db: Db, orgId: string): Promise<OrgData> {
    const [row] = await db.query(ORG_DATA, [orgId]);
    return {
      orgId,
      settings: row.settings ?? NO_ORG_SETTINGS,
      routeSettings: new Map(row.route_settings.map((s) => [s.route_id, s])),
      routes: byId(row.routes),
      entries: row.entries.sort(byOrder),
    };
  }

  /** Reads the platform's settings and keeps others from changing them until the transaction ends. */
  async lockPlatformSettings(tx: Tx): Promise<PlatformSettings> {
    const known = await this.platformSettings.find(tx, { id: 1 }, 'for update');
    if (known) return known;
    await this.platformSettings.insertOrNothing(tx, { id: 1 });
    return (await this.platformSettings.find(tx, { id: 1 }, 'for update'))!;
  }

  /** Writes the given settings of a locked row and leaves the others. */
  async savePlatformSettings(tx: Tx, patch: Partial<PlatformSettings>): Promise<void> {
    await this.platformSettings.update(tx, { id: 1 }, patch);
  }

  async settings(db: Db, scope: OrgScope): Promise<OrgSettings> {
    return (await db.query(SETTINGS, [scope.orgId]))[0] ?? NO_ORG_SETTINGS;
  }

  /** Reads the settings and keeps others from changing them until the transaction ends. */
  async lockSettings(tx: Tx, scope: OrgScope): Promise<OrgSettings> {
    await this.orgSettings.insertOrNothing(tx, scope, {});
    return this.orgSettings.get(tx, scope, {}, 'for update');
  }

  /** Writes the given settings of a locked row and leaves the others. */
  async saveSettings(tx: Tx, scope: OrgScope, patch: Partial<OrgSettings>): Promise<void> {
    await this.orgSettings.update(tx, scope, {}, patch);
  }

  /** The platform's routes and the organization's own, in display order. */
  async routes(db: Db, scope: OrgScope): Promise<Route[]> {
    return db.query(VISIBLE_ROUTES, [scope.orgId]);
  }

  async routeSettings(db: Db, scope: OrgScope): Promise<Map<string, RouteSetting>> {
    return new Map((await this.orgRoutes.list(db, scope, {}, {})).map((s) => [s.route_id, s]));
  }

  async saveRouteSetting(tx: Tx, scope: OrgScope, s: RouteSetting): Promise<void> {
    const setting = [s.route_id, s.api_key, s.credential_source, s.base_url, s.enabled];
    await tx.execute(SAVE_ROUTE_SETTING, [scope.orgId, ...setting, scope.actor.userId]);
  }

  /** Those of the keys that name a chat model which the organization could use. */
  async knownChatKeys(db: Db, scope: OrgScope, keys: readonly string[]): Promise<Set<string>> {
    if (!keys.length) return new Set();
    return new Set((await db.query(KNOWN_CHAT_KEYS, [scope.orgId, keys])).map((r) => r.key));
  }

  /** The same for those who store keys: until the transaction ends the models are neither deleted nor renamed. */
  async holdChatKeys(tx: Tx, scope: OrgScope, keys: readonly string[]): Promise<Set<string>> {
    if (!keys.length) return new Set();
    return new Set((await tx.query(HELD_CHAT_KEYS, [scope.orgId, keys])).map((r) => r.key));
  }
}

const byId = (routes: Route[]): Map<string, Route> => new Map(routes.map((r) => [r.id, r]));
