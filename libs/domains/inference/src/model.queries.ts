import { type ModelMode, MODEL_MODES } from '@aps/contracts';
import { Injectable } from '@nestjs/common';
import { Entitlements, RateCards } from '@aps/billing';
import type { OrgScope } from '@aps/guards';
import { byOrder, type CatalogView } from './choice/catalog-view';
import { InferenceSettings } from './inference.settings';
import { MODEL_SCOPES, type CatalogEntry, type ModelScope, type Route } from './inference.types';
import { ModelResolver } from './choice/model-resolver.service';
import { burnRatio } from './charge';
import { allowlistOf, chooseModel, permits, presetOf, type ResolutionRules } from './choice/resolution.policy';
import { accessTo, isRouteOn, isSwitchedOff } from './choice/route-access.policy';

export interface ListedModel {
  entry: CatalogEntry;
  route: Route;
  /** False: dollar prices are not shown. */
  showPrices: boolean;
}

export interface OrgModel extends ListedModel {
  /** A call could be made now. */
  available: boolean;
  /** Of the scopes with allowlists, those that allow it. */
  scopes: ModelScope[];
}

export interface ModelModeView {
  mode: ModelMode;
  /** How much a call costs compared with the mode `normal`. */
  credit_ratio: string | null;
  available: boolean;
}

export interface ModelConfig {
  scopes: Record<ModelScope, { allowlist: string[]; default: string | null; models: string[] }>;
  disabled_providers: string[];
  model_routes: Record<string, string> | null;
}

const LISTED: ModelScope[] = ['agent', 'chat', 'prompt'];

/** What users see of models. Reads the view in memory only. */
@Injectable()
export class ModelQueries {
  constructor(
    private readonly settings: InferenceSettings,
    private readonly resolver: ModelResolver,
    private readonly entitlements: Entitlements,
    private readonly cards: RateCards,
  ) {}

  /**
   * The platform's models that are on.
   *
   * @param showPrices dollar prices say nothing to a caller who pays in credits everywhere
   */
  async catalog(showPrices: boolean): Promise<ListedModel[]> {
    const platform = await this.settings.platformData();
    return platform.entries.flatMap((entry) => {
      const route = platform.routes.get(entry.route_id);
      return entry.enabled && route?.enabled ? [{ entry, route, showPrices }] : [];
    });
  }

  /** Whether one of the organizations pays in dollars. */
  async oneSeesDollars(orgIds: readonly string[]): Promise<boolean> {
    return (await Promise.all(orgIds.map((id) => this.entitlements.has(id, 'enforces_credits')))).includes(false);
  }

  /**
   * The models that an organization may choose: those on one of its allowlists (all, where it has none), and models that no
   * allowlist speaks of, such as embeddings. Its own are all there, as this is where they are managed.
   *
   * @param only the scope whose rule alone counts
   */
  async ofOrg(scope: OrgScope, only?: ModelScope): Promise<OrgModel[]> {
    const [view, rules, inCredits] = await this.load(scope);
    const lists = LISTED.map((s) => allowlistOf(view.org.settings, s)).filter((l) => l.length);
    const reachable = this.reachable(view, rules).flatMap(({ entry, route }) => {
      const scopes = entry.kind === 'chat' ? LISTED.filter((s) => permits(view, s, entry.kind, entry.key)) : [];
      const listed =
        entry.kind !== 'chat'
          ? only === undefined
          : only
            ? permits(view, only, entry.kind, entry.key)
            : entry.owner_org_id !== null || lists.length === 0 || lists.some((l) => l.includes(entry.key));
      return listed
        ? [{ entry, route, showPrices: !inCredits, available: accessTo(view, route, rules.byoKeys, rules.environmentKeys).usable, scopes }]
        : [];
    });
    if (only) return reachable;
    const known = new Set(reachable.map((m) => m.entry.id));
    const resting = view.org.entries.flatMap((entry): OrgModel[] => {
      const route = view.route(entry.route_id);
      return route && !known.has(entry.id) ? [{ entry, route, showPrices: !inCredits, available: false, scopes: [] }] : [];
    });
    return [...reachable, ...resting].sort((a, b) => byOrder(a.entry, b.entry));
  }

  async modes(scope: OrgScope): Promise<ModelModeView[]> {
    const [view, rules] = await this.load(scope);
    const models = new Map(MODEL_MODES.map((mode) => [mode, this.ofMode(view, mode, rules)]));
    const normal = models.get('normal');
    const card = await this.cards.current();
    return MODEL_MODES.map((mode) => {
      const entry = models.get(mode);
      const credit_ratio = entry && normal ? burnRatio(card, { entry, mode }, { entry: normal, mode: 'normal' }) : null;
      return { mode, available: entry !== undefined, credit_ratio };
    });
  }

  /** What model pickers offer, by scope. */
  async config(scope: OrgScope): Promise<ModelConfig> {
    const [view, rules] = await this.load(scope);
    const chats = this.reachable(view, rules).filter((m) => m.entry.kind === 'chat');
    const of = (s: ModelScope) => ({
      allowlist: [...allowlistOf(view.org.settings, s)],
      default: this.choice(view, s, rules)?.key ?? null,
      models: chats.filter((m) => permits(view, s, 'chat', m.entry.key)).map((m) => m.entry.key),
    });
    return {
      scopes: Object.fromEntries(MODEL_SCOPES.map((s) => [s, of(s)])) as ModelConfig['scopes'],
      disabled_providers: rules.byoKeys
        ? view
            .routes()
            .filter((r) => isSwitchedOff(view, r, true))
            .map((r) => r.slug)
        : [],
      model_routes: rules.byoKeys ? Object.fromEntries(chats.map((m) => [m.entry.key, m.route.slug])) : null,
    };
  }

  private async load(scope: OrgScope): Promise<[CatalogView, ResolutionRules, boolean]> {
    return Promise.all([
      this.settings.view(scope.orgId),
      this.resolver.rules(scope.orgId),
      this.entitlements.has(scope.orgId, 'enforces_credits'),
    ]);
  }

  /** Enabled models on routes that are on. */
  private reachable(view: CatalogView, rules: ResolutionRules): { entry: CatalogEntry; route: Route }[] {
    return view.enabled().flatMap((entry) => {
      const route = view.route(entry.route_id);
      return route && isRouteOn(view, route, rules.byoKeys) ? [{ entry, route }] : [];
    });
  }

  /** The model that a mode gets; undefined when its own model cannot be used. */
  private ofMode(view: CatalogView, mode: ModelMode, rules: ResolutionRules): CatalogEntry | undefined {
    try {
      const choice = chooseModel(view, { scope: 'chat', requested: { chatMode: mode } }, rules);
      return choice.source === 'chat_mode' || !presetOf(view, mode) ? choice.entry : undefined;
    } catch {
      return undefined;
    }
  }

  private choice(view: CatalogView, scope: ModelScope, rules: ResolutionRules): CatalogEntry | undefined {
    try {
      return chooseModel(view, { scope }, rules).entry;
    } catch {
      return undefined;
    }
  }
}
