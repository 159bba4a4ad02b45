import type { CatalogEntry, ModelKind, OrgSettings, PlatformSettings, Route, RouteSetting } from '../inference.types';

/** What the platform holds, as it was when it was read. Never changed; keys are still sealed. */
export interface PlatformData {
  settings: PlatformSettings;
  routes: ReadonlyMap<string, Route>;
  entries: readonly CatalogEntry[];
  /** Sealed key by route id. */
  keys: ReadonlyMap<string, string>;
}

/** What one organization holds. */
export interface OrgData {
  orgId: string;
  settings: OrgSettings;
  routeSettings: ReadonlyMap<string, RouteSetting>;
  routes: ReadonlyMap<string, Route>;
  entries: readonly CatalogEntry[];
}

export const NO_ORG_SETTINGS: OrgSettings = {
  agent_default_model: null,
  chat_default_model: null,
  intake_classifier_default_model: null,
  process_default_model: null,
  tool_router_default_model: null,
  agent_model_allowlist: [],
  chat_model_allowlist: [],
  prompt_model_allowlist: [],
  budget_limit_usd: null,
  compaction_enabled: null,
  compaction_threshold: null,
  decision_log_enabled: null,
  thinking_enabled: null,
  provider_1_enabled: null,
  provider_1_credential_source: null,
  provider_1_api_key: null,
  provider_1_base_url: null,
  provider_2_enabled: null,
  provider_2_credential_source: null,
  provider_2_api_key: null,
  provider_2_base_url: null,
  ai_gateway_mode: null,
  ai_gateway_account_id: null,
  ai_gateway_gateway_id: null,
  ai_gateway_token: null,
  ai_gateway_log_payloads: null,
};

export const NO_PLATFORM_SETTINGS: PlatformSettings = {
  default_model: null,
  default_reasoning_effort: null,
  max_reasoning_effort: null,
  feature_models: {},
  thinking_enabled: null,
  compaction_enabled: null,
  compaction_threshold: null,
  mode_trivial: null,
  mode_normal: null,
  mode_high_effort: null,
  mode_x_high: null,
};

/** Display order, which is also the order of the automatic choice. */
export const byOrder = (a: CatalogEntry, b: CatalogEntry): number =>
  a.sort_order - b.sort_order || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** Platform and organization seen as one. An organization's own models and routes come before the platform's. */
export class CatalogView {
  constructor(
    readonly platform: PlatformData,
    readonly org: OrgData,
  ) {}

  route(id: string): Route | undefined {
    return this.org.routes.get(id) ?? this.platform.routes.get(id);
  }

  /** Every route that the organization can see, in display order. */
  routes(): Route[] {
    return [...this.platform.routes.values(), ...this.org.routes.values()].sort(
      (a, b) => a.sort_order - b.sort_order || (a.slug < b.slug ? -1 : 1),
    );
  }

  entry(id: string): CatalogEntry | undefined {
    return this.org.entries.find((e) => e.id === id) ?? this.platform.entries.find((e) => e.id === id);
  }

  /** The rows of a key, the one that counts first: enabled before disabled, and among disabled ones those with a successor. */
  named(key: string, kind: ModelKind): CatalogEntry | undefined {
    const best = (entries: readonly CatalogEntry[] = []) =>
      entries.filter((e) => e.kind === kind).sort((a, b) => rank(a) - rank(b) || byOrder(a, b))[0];
    const own = best(this.org.entries.filter((e) => e.key === key));
    const platforms = best(indexOf(this.platform).byKey.get(key));
    return !platforms || (own && rank(own) <= rank(platforms)) ? own : platforms;
  }

  /** Enabled models in display order. An own model hides the platform's of the same key. */
  enabled(kind?: ModelKind): readonly CatalogEntry[] {
    const platforms = indexOf(this.platform).enabled.get(kind) ?? [];
    const own = this.org.entries.filter((e) => e.enabled && (kind === undefined || e.kind === kind));
    if (!own.length) return platforms;
    const taken = new Set(own.map((e) => e.key));
    return [...own, ...platforms.filter((e) => !taken.has(e.key))].sort(byOrder);
  }
}

const rank = (e: CatalogEntry) => (e.enabled ? 0 : e.replacement_model_id ? 1 : 2);

interface CatalogIndex {
  byKey: ReadonlyMap<string, readonly CatalogEntry[]>;
  /** By kind, and of all kinds; in display order. */
  enabled: ReadonlyMap<ModelKind | undefined, readonly CatalogEntry[]>;
}

const indexes = new WeakMap<PlatformData, CatalogIndex>();

/** Made once for what is held in memory: a catalog may be large, and each turn asks it. */
function indexOf(platform: PlatformData): CatalogIndex {
  const known = indexes.get(platform);
  if (known) return known;
  const byKey = new Map<string, CatalogEntry[]>();
  const enabled = new Map<ModelKind | undefined, CatalogEntry[]>();
  const add = <K>(to: Map<K, CatalogEntry[]>, key: K, entry: CatalogEntry) => void (to.get(key)?.push(entry) ?? to.set(key, [entry]));
  for (const entry of [...platform.entries].sort(byOrder)) {
    add(byKey, entry.key, entry);
    if (entry.enabled) for (const kind of [undefined, entry.kind]) add(enabled, kind, entry);
  }
  const index = { byKey, enabled };
  indexes.set(platform, index);
  return index;
}
